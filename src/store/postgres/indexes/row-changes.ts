// Counts the changes of final rows, for those who keep what they made of them. Callers hold the transaction, and count
// after all rows are written: the counts of a chain are one row.
import type { RowChanges } from '../../index-reader.ts'
import type { Database, Transaction } from '../database.ts'

const columnOf = { takenBack: 'taken_back', filled: 'filled' } as const

export async function countChange(transaction: Transaction, chain: number, change: keyof RowChanges): Promise<void> {
  const column = columnOf[change]
  await transaction.run(
    `INSERT INTO row_changes (chain, ${column}) VALUES ($1, 1)
     ON CONFLICT (chain) DO UPDATE SET ${column} = row_changes.${column} + 1`,
    chain,
  )
}

export async function rowChangesOf(database: Database, chain: number): Promise<RowChanges> {
  const [row] = await database.read('SELECT taken_back, filled FROM row_changes WHERE chain = $1', chain)
  return { takenBack: Number(row?.[0] ?? 0), filled: Number(row?.[1] ?? 0) }
}
