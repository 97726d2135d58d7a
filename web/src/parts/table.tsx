// A table with the names of its columns. On a phone a row is two lines, and what is wider than the page scrolls by itself.
import type { ComponentChild, ComponentChildren } from 'preact'

/** Columns of figures stand to the right. */
type Column = string | { figures: string } | { hidden: string }

type Props = {
  columns: readonly Column[]
  /** A class of its own. */
  name?: string
  /** A row stays one line, on a phone too. */
  isPlain?: boolean
  /** The rows. */
  children: ComponentChildren
}

export function Table({ columns, name, isPlain = false, children }: Props) {
  return (
    <div class="table-scroll">
      <table class={[...(isPlain ? [] : ['two-lines']), ...(name === undefined ? [] : [name])].join(' ')}>
        <TableHead columns={columns} />
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

export function TableHead({ columns }: { columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(column => {
          if (typeof column === 'string') return headOf(column)
          if ('figures' in column) return headOf(column.figures, 'number')
          return headOf(<span class="offstage">{column.hidden}</span>)
        })}
      </tr>
    </thead>
  )
}

function headOf(content: ComponentChild, className?: string) {
  return (
    <th scope="col" class={className}>
      {content}
    </th>
  )
}
