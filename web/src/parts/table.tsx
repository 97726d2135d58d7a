// A table with the names of its columns. On a phone a row is two lines, and what is wider than the page scrolls by itself.
// Without rows these are on their way.
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
  /** How many are drawn in the place of those that are on their way. */
  coming?: number
}

export function Table({ columns, name, isPlain = false, children, coming = 8 }: Props) {
  const isComing = children === undefined
  return (
    <div class="table-scroll">
      <table
        class={[...(isPlain ? [] : ['two-lines']), ...(name === undefined ? [] : [name])].join(' ')}
        aria-hidden={isComing}
      >
        <TableHead columns={columns} />
        {isComing ? <ComingRows columns={columns} rows={coming} /> : <tbody>{children}</tbody>}
      </table>
      {isComing && (
        <span class="offstage" role="status">
          Loading…
        </span>
      )}
    </div>
  )
}

function ComingRows({ columns, rows }: { columns: readonly Column[]; rows: number }) {
  return (
    <tbody class="skeleton">
      {Array.from({ length: rows }, (_, row) => (
        <tr key={row}>
          {columns.map((column, at) => (
            <td key={at} class={typeof column !== 'string' && 'figures' in column ? 'number' : undefined}>
              <i />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
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
