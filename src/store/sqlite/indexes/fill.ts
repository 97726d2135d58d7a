// Fills indexes that a chain keeps from its stored rows, hot ones first, and removes the records of those that it
// left, in steps. Rows that come meanwhile bring their records along; a hot row that becomes final before it was met
// is met among the cold ones. Callers hold the transaction.
import { blockOfKey, contractOfKey, positionOfKey, transferKey } from '../../runs/transfer-view.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import type { Connection } from '../connection.ts'
import { rowColumns, storedTransfer } from '../placed-rows.ts'
import { coldTransfersAfter } from '../runs/cold-transfers.ts'
import { sweepPacks } from '../runs/runs.ts'
import type { RowContext } from '../store-file.ts'
import { addIndexRecords } from './index-rows.ts'
import { countChange, type FillPhase, type KeptIndex, keptIndexes } from './kept-indexes.ts'

/** Sweeping a pack costs as much as deleting so many rows. */
export const rowsPerPack = 8

/** Takes about `transfersMax` rows. False where nothing is left to do. */
export function fillStep(context: RowContext, chain: number, transfersMax: number): boolean {
  const { connection } = context
  const behind = keptIndexes(connection, chain).filter(({ phase }) => phase !== null)
  const [first] = behind
  if (first === undefined) return false
  if (behind.some(({ phase }) => phase === 'remove')) removeStep(connection, chain, transfersMax)
  else {
    // Those that were switched on together are filled together.
    const alike = behind.filter(
      ({ phase, reached }) => phase === first.phase && Buffer.compare(reached, first.reached) === 0,
    )
    fillAlike(context, chain, alike, transfersMax)
  }
  return true
}

function removeStep(connection: Connection, chain: number, rowsMax: number): void {
  if (removeSomeRecords(connection, chain, rowsMax)) return
  if (sweepPacks(connection, Math.ceil(rowsMax / rowsPerPack)) > 0) return
  connection.run(`DELETE FROM chain_indexes WHERE chain = ? AND phase = 'remove' AND kept = 0`, chain)
  connection.run(`UPDATE chain_indexes SET phase = 'hot' WHERE chain = ? AND phase = 'remove'`, chain)
}

/** Of indexes that are emptied. False where none is left. */
export function removeSomeRecords(connection: Connection, chain: number, rowsMax: number): boolean {
  for (const { view, phase } of keptIndexes(connection, chain)) {
    if (phase !== 'remove') continue
    const of = 'FROM view_records WHERE view = ?1 AND chain = ?2'
    const [last] = connection.get(`SELECT key ${of} ORDER BY key LIMIT 1 OFFSET ?3`, view.id, chain, rowsMax) ?? []
    const removed =
      last === undefined
        ? connection.run(`DELETE ${of}`, view.id, chain)
        : connection.run(`DELETE ${of} AND key < ?3`, view.id, chain, last)
    if (removed > 0) return true
  }
  return false
}

function fillAlike(context: RowContext, chain: number, alike: readonly KeptIndex[], transfersMax: number): void {
  const { connection } = context
  const { phase, reached, contracts } = alike[0]!
  const taken =
    phase === 'hot'
      ? hotTransfersBelow(connection, chain, blockOfKey(reached), transfersMax)
      : [...coldTransfersAfter(connection, placeOf(reached), chain).take(transfersMax)]
  const views = alike.map(({ view }) => view)
  addIndexRecords(context, chain, views, taken)
  const last = taken.length < transfersMax ? undefined : taken.at(-1)
  const put = `UPDATE chain_indexes SET phase = ?, reached = ?, contracts = ? WHERE chain = ? AND view = ?`
  const next: FillPhase = last !== undefined ? phase : phase === 'hot' ? 'cold' : null
  const done = phase === 'hot' ? 0 : contracts + contractsPassed(taken, contractOfKey(reached))
  const at = last === undefined ? null : transferKey(phase === 'hot' ? 0 : last.contract, last)
  for (const { id } of views) connection.run(put, next, at, done, chain, id)
  // Who began to read it before it was left has read a part of it.
  if (next === null) countChange(connection, chain, 'takenBack')
}

/** Whole blocks, the highest first: as many rows as asked for, or more, where there are more. */
function hotTransfersBelow(connection: Connection, chain: number, block: number, limit: number): StoredTransfer[] {
  const below = 'FROM hot_transfers WHERE chain = ? AND block < ?'
  const find = `SELECT block ${below} ORDER BY block DESC LIMIT 1 OFFSET ?`
  const [lowest = -1] = connection.get(find, chain, block, limit - 1) ?? []
  const rows = `SELECT ${rowColumns} ${below} AND block >= ? ORDER BY block DESC`
  return connection.all(rows, chain, block, lowest).map(storedTransfer)
}

function placeOf(reached: Uint8Array): Omit<StoredTransfer, 'payload'> {
  return { contract: contractOfKey(reached), ...positionOfKey(reached) }
}

function contractsPassed(taken: readonly StoredTransfer[], before: number): number {
  let passed = 0
  let last = before
  for (const { contract } of taken) {
    if (contract !== last && last !== 0) passed++
    last = contract
  }
  return passed
}
