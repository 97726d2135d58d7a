// Rows for the workers, written so that Citus knows of them. It commits a worker's part of a transaction in two phases
// only if it knows of a change there, and it makes a COPY of `INSERT … SELECT`, of which it does not notice that it
// changes a shard that the transaction has read before: such a part it would commit after its own, unprepared, and lose
// with the worker. Packs, which are copied too, always come with a row of `runs` on the same connection.
import type { Insert } from '../../core/work.ts'
import type { Transaction, Value } from '../database.ts'
import { columnTypes } from '../tables.ts'
import { isSpread } from './place-tables.ts'

const rowsPerStatement = 500

/** With ON CONFLICT it is no COPY. */
export function isCopied({ table, conflict }: Insert): boolean {
  return conflict === undefined && isSpread(table)
}

export async function insertValues(transaction: Transaction, { table, columns }: Insert): Promise<void> {
  const names = columns.map(([name]) => name).join()
  const count = columns[0]![2].length
  for (let from = 0; from < count; from += rowsPerStatement) {
    const cells = columns.map(([, type, values]) => {
      const some = values.slice(from, from + rowsPerStatement)
      return type === 'utf8' ? some.map(value => value && Buffer.from(value as string)) : some
    })
    const tuples = cells[0]!.map((_, row) => {
      const places = columns.map(([, type], column) => `$${row * columns.length + column + 1}::${columnTypes[type]}`)
      return `(${places.join()})`
    })
    const values = cells[0]!.flatMap((_, row) => cells.map(ofColumn => ofColumn[row]!))
    await transaction.run(`INSERT INTO ${table} (${names}) VALUES ${tuples.join()}`, ...(values as Value[]))
  }
}
