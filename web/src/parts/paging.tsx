// The way through the pages of a list. Each page stands in the address, so it can be linked to and gone back from.
import type { ComponentChildren } from 'preact'

type Props = {
  /** Ends "Pages of …". */
  what: string
  /** From 1. */
  page: number
  /** Of the next page; empty on the last one. */
  cursor: string | null
  /** Of a page by its cursor; undefined is the first page. */
  hrefTo: (cursor: string | undefined) => string
  children?: ComponentChildren
}

export function Paging({ what, page, cursor, hrefTo, children }: Props) {
  return (
    <nav class="paging" aria-label={`Pages of ${what}`}>
      {page > 1 && <a href={hrefTo(undefined)}>First page</a>}
      <span class="soft">page {page}</span>
      {cursor ? (
        <a class="next" href={hrefTo(cursor)}>
          Next page
        </a>
      ) : (
        <span class="soft">the last one</span>
      )}
      {children}
    </nav>
  )
}
