// The first row of a table: the names of its columns.
import type { ComponentChild } from 'preact'

/** Columns of figures stand to the right. */
type Column = string | { figures: string } | { hidden: string }

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
