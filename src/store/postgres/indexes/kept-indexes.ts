// Which indexes of transfers a chain keeps, and how far each is filled. Callers hold the transaction.
//
// A row of `chain_indexes` is an index that is kept or was. phase: NULL while all stored transfers are in it; 'remove'
// while records of before are removed, and none are added; 'cold' while it is filled from stored rows, up to `reached`.
import type { IndexState } from '../../index-reader.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { transferView } from '../../runs/transfer-view.ts'
import { int4Array } from '../arrays.ts'
import type { Database, Transaction } from '../database.ts'

/** Numbers of contracts begin at 1. */
export const beforeAll = new Uint8Array(transferView.keyBytes)

/** Those whose records come and go with transfers. They stay so for who holds the chain's runs, or its row. */
export async function liveIndexes(transaction: Transaction, chain: number): Promise<IndexView[]> {
  const find = "SELECT view FROM chain_indexes WHERE chain = $1 AND phase IS DISTINCT FROM 'remove'"
  const ids = new Set((await transaction.query(find, chain)).map(([id]) => Number(id)))
  return indexViews.filter(({ id }) => ids.has(id))
}

/** Nothing is answered from an index while it is emptied. */
export const fromKept = (view: string, chain: string): string =>
  `FROM chain_indexes WHERE view = ${view} AND chain = ${chain} AND kept AND phase IS DISTINCT FROM 'remove'`

/** For a chain that is new to the store. */
export async function keepAllIndexes(transaction: Transaction, chain: number): Promise<void> {
  await transaction.run(
    'INSERT INTO chain_indexes (chain, view) SELECT $1::int4, view FROM unnest($2::int4[]) AS view ON CONFLICT DO NOTHING',
    ...[chain, int4Array(indexViews.map(({ id }) => id))],
  )
}

/** Before all rows of a chain go: nothing is answered from its indexes meanwhile. */
export async function emptyIndexes(transaction: Transaction, chain: number): Promise<void> {
  await transaction.run(
    "UPDATE chain_indexes SET phase = 'remove', reached = $2, contracts = 0 WHERE chain = $1",
    ...[chain, beforeAll],
  )
}

/** After all rows of a chain have gone. */
export async function endEmptying(transaction: Transaction, chain: number): Promise<void> {
  await transaction.run('DELETE FROM chain_indexes WHERE chain = $1 AND NOT kept', chain)
  await transaction.run('UPDATE chain_indexes SET phase = NULL, reached = NULL WHERE chain = $1', chain)
}

export async function indexStates(database: Database, chain: number): Promise<IndexState[]> {
  const find = 'SELECT view, phase, contracts, contracts_of FROM chain_indexes WHERE chain = $1 AND kept'
  const rows = new Map((await database.read(find, chain)).map(row => [Number(row[0]), row]))
  return indexViews.flatMap(({ id, name: index }) => {
    const row = rows.get(id)
    if (row === undefined) return []
    const [, phase, done, of] = row
    if (phase === null) return { index, filled: true }
    return { index, filled: false, progress: { contracts: Math.min(Number(done), Number(of)), of: Number(of) } }
  })
}
