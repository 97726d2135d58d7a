// The way through the pages of a list. Each page stands in the address, so it can be linked to and gone back from.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { cursorBefore, noteCursor } from '../state/page-trail.ts'

type Props = {
  /** Ends "Pages of …". */
  what: string
  /** From 1; undefined where pages are not counted. */
  page?: number | undefined
  /** Of the page that is shown; undefined on the first one. */
  here?: string | undefined
  /** Of the next page; empty on the last one. */
  cursor: string | null
  /** Of a page by its cursor; undefined is the first page. */
  hrefTo: (cursor: string | undefined) => string
  /** What the pages before and after this one are called. */
  words?: { first: string; before: string; after: string }
  children?: ComponentChildren
}

const usualWords = { first: 'First page', before: 'Previous page', after: 'Next page' }

export function Paging({ what, page, here, cursor, hrefTo, words = usualWords, children }: Props) {
  const isFirst = here === undefined && (page ?? 1) === 1
  useEffect(() => {
    if (cursor && (isFirst || here !== undefined)) noteCursor(cursor, here ?? '')
  }, [cursor, here, isFirst])
  // A page of the list is read from its top, also where the one before was read to its end.
  const nav = useRef<HTMLElement>(null)
  const shown = useRef(here)
  useEffect(() => {
    if (shown.current === here) return
    shown.current = here
    const panel = nav.current?.closest('.panel')
    if (panel != null && panel.getBoundingClientRect().top < 0) panel.scrollIntoView()
  }, [here])
  const before = here === undefined ? undefined : cursorBefore(here)
  return (
    <nav ref={nav} class="paging" aria-label={`Pages of ${what}`}>
      {!isFirst && <a href={hrefTo(undefined)}>{words.first}</a>}
      {!isFirst && before !== undefined && <a href={hrefTo(before === '' ? undefined : before)}>{words.before}</a>}
      {page !== undefined && <span class="soft">page {page}</span>}
      {cursor ? (
        <a class="next" href={hrefTo(cursor)}>
          {words.after}
        </a>
      ) : (
        <span class="soft">the last one</span>
      )}
      {children}
    </nav>
  )
}
