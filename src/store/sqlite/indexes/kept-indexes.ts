// Which indexes of transfers a chain keeps, how far they are filled, and counts of changes to final rows. Callers hold
// the transaction.
import type { IndexState, RowChanges } from '../../index-reader.ts'
import { indexOf, indexViews } from '../../indexes/all-indexes.ts'
import type { IndexName, IndexView } from '../../indexes/index-view.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { Connection, Row } from '../connection.ts'

/** Null: all stored transfers are in it. */
export type FillPhase = 'remove' | 'hot' | 'cold' | null

export type KeptIndex = {
  view: IndexView
  isKept: boolean
  phase: FillPhase
  reached: Uint8Array
  contracts: number
  contractsOf: number
}

/** Numbers of contracts begin at 1. */
export const beforeAll = new Uint8Array(transferView.keyBytes)

const find = 'SELECT view, kept, phase, reached, contracts, contracts_of FROM chain_indexes WHERE chain = ?'

export function keptIndexes(connection: Connection, chain: number): KeptIndex[] {
  return connection.all(find, chain).flatMap(([id, kept, phase, reached, contracts, contractsOf]) => {
    const view = indexViews.find(each => each.id === id)
    if (view === undefined) return []
    const state = { phase, reached: reached ?? beforeAll, contracts, contractsOf } as Omit<KeptIndex, 'view' | 'isKept'>
    return [{ view, isKept: kept === 1, ...state }]
  })
}

/** Those whose records come and go with transfers. One that is still emptied is filled from all of them later. */
export function liveIndexes(connection: Connection, chain: number): IndexView[] {
  const live = `SELECT view FROM chain_indexes WHERE chain = ? AND phase IS NOT 'remove'`
  const ids = connection.all(live, chain).map(([id]) => id)
  return indexViews.filter(({ id }) => ids.includes(id))
}

/** A chain that is new to the store. */
export function keepAllIndexes(connection: Connection, chain: number): void {
  for (const { id } of indexViews) connection.run('INSERT INTO chain_indexes (chain, view) VALUES (?, ?)', chain, id)
}

export function keepIndexes(connection: Connection, chain: number, names: readonly IndexName[]): void {
  const known = new Map(keptIndexes(connection, chain).map(index => [index.view.name, index]))
  for (const { name } of indexViews)
    if (names.includes(name)) keepIndex(connection, chain, name, known.get(name))
    else if (known.get(name)?.isKept) leaveIndex(connection, chain, name)
}

/** Records that are left of before go first: rows have gone meanwhile whose records have not. */
function keepIndex(connection: Connection, chain: number, name: IndexName, known: KeptIndex | undefined): void {
  if (known?.isKept) return
  const [contracts] = connection.get('SELECT count(*) FROM contracts WHERE chain = ?', chain) as Row
  connection.run(
    `INSERT INTO chain_indexes (chain, view, phase, contracts_of) VALUES (?, ?, 'hot', ?)
     ON CONFLICT DO UPDATE SET kept = 1, contracts_of = excluded.contracts_of`,
    ...[chain, indexOf(name).id, contracts as number],
  )
}

/** Its runs are gone at once, the rest in steps. */
export function leaveIndex(connection: Connection, chain: number, name: IndexName): void {
  emptyIndexes(connection, chain, [indexOf(name)])
  connection.run('UPDATE chain_indexes SET kept = 0 WHERE chain = ? AND view = ?', chain, indexOf(name).id)
}

/** Their packs and the records in the table are removed later. */
export function emptyIndexes(connection: Connection, chain: number, views: readonly IndexView[] = indexViews): void {
  for (const { id } of views) {
    connection.run('DELETE FROM runs WHERE chain = ? AND view = ?', chain, id)
    const empty = `UPDATE chain_indexes SET phase = 'remove', reached = NULL, contracts = 0 WHERE chain = ? AND view = ?`
    connection.run(empty, chain, id)
  }
}

/** An index that was left has no record any more. Without a name: the chain has no row any more. */
export function endEmptying(connection: Connection, chain: number, name?: IndexName): void {
  const views = name === undefined ? indexViews : [indexOf(name)]
  for (const { id } of views)
    connection.run('DELETE FROM chain_indexes WHERE chain = ? AND view = ? AND kept = 0', chain, id)
  if (name === undefined) connection.run('UPDATE chain_indexes SET phase = NULL WHERE chain = ?', chain)
}

export function indexStates(read: Connection, chain: number): IndexState[] {
  return keptIndexes(read, chain)
    .filter(({ isKept }) => isKept)
    .map(({ view, phase, contracts, contractsOf }) => {
      if (phase === null) return { index: view.name, filled: true }
      return {
        index: view.name,
        filled: false,
        progress: { contracts: Math.min(contracts, contractsOf), of: contractsOf },
      }
    })
}

export function countChange(connection: Connection, chain: number, kind: keyof RowChanges): void {
  const column = kind === 'filled' ? 'filled' : 'taken_back'
  connection.run(`UPDATE chains SET ${column} = ${column} + 1 WHERE ordinal = ?`, chain)
}
