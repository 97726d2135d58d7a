// A part of a page in a box of its own, with a heading. A flush one lets a table reach from edge to edge.
import type { ComponentChildren } from 'preact'
import { countText } from '../quantities.ts'

type Props = {
  /** Of the heading, unique on the page. */
  id: string
  title: ComponentChildren
  /** How many there are of what is shown. */
  count?: number | undefined
  /** A few soft words behind the title. */
  note?: ComponentChildren
  /** Buttons and links to the right of the title. */
  actions?: ComponentChildren
  flush?: boolean
  /** An answer is on its way that replaces what is shown. */
  busy?: boolean
  children: ComponentChildren
}

export function Panel({ id, title, count, note, actions, flush = false, busy, children }: Props) {
  return (
    <section class={flush ? 'panel flush' : 'panel'} aria-labelledby={id} aria-busy={busy}>
      <div class="panel-heading">
        <h2 id={id}>
          {title}
          {count !== undefined && <span class="count">{countText(count)}</span>}
        </h2>
        {note !== undefined && <small>{note}</small>}
        {actions && <div class="actions">{actions}</div>}
      </div>
      <div class="panel-body">{children}</div>
    </section>
  )
}
