// First and last transactions of addresses, cold and hot. Merging is by (block, transaction index), so that repeats and any
// order of commits give the same rows. Callers hold the transaction.
import type { SQLInputValue } from 'node:sqlite'
import type { ActivityRow, Address, ChainId, Hash, TransactionRef } from '../../model.ts'
import type { ActivityReader } from '../activity-store.ts'
import { bytesOfHex, hexOf } from '../bytes.ts'
import { mergeActivity, mergedByAddress } from '../merge-activity.ts'
import type { Connection, Row } from './connection.ts'
import type { StoreFile } from './store-file.ts'

export function activityReader(file: StoreFile): ActivityReader {
  return { activityOf: async address => file.reading(read => activityOf(read, address)) }
}

const isEarlier = `(excluded.first_block < first_block
  OR (excluded.first_block = first_block AND excluded.first_tx < first_tx))`
const isLater = `(excluded.last_block > last_block
  OR (excluded.last_block = last_block AND excluded.last_tx > last_tx))`
const refColumns = ['block', 'tx', 'hash', 'timestamp']

// The WHERE keeps a repeat from counting as a change. One statement for both ends is a third faster than one for each.
const keepFirstAndLast = `ON CONFLICT DO UPDATE SET
  ${refColumns.map(name => `first_${name} = iif(${isEarlier}, excluded.first_${name}, first_${name})`)},
  ${refColumns.map(name => `last_${name} = iif(${isLater}, excluded.last_${name}, last_${name})`)}
  WHERE ${isEarlier} OR ${isLater}`

export function mergeCold(connection: Connection, ordinal: number, rows: readonly ActivityRow[]): void {
  const upsert = connection.prepare(`INSERT INTO activity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${keepFirstAndLast}`)
  for (const { address, first, last } of mergedByAddress(rows)) {
    const firstValues = valuesOf(first)
    upsert.run(bytesOfHex(address), ordinal, ...firstValues, ...(first === last ? firstValues : valuesOf(last)))
  }
}

export function mergeHot(connection: Connection, ordinal: number, block: number, rows: readonly ActivityRow[]): void {
  const upsert = connection.prepare(
    `INSERT INTO hot_activity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${keepFirstAndLast}`,
  )
  for (const { address, first, last } of mergedByAddress(rows))
    upsert.run(bytesOfHex(address), ordinal, block, ...valuesOf(first), ...valuesOf(last))
}

function valuesOf({ block, transactionIndex, hash, timestamp }: TransactionRef): SQLInputValue[] {
  return [block, transactionIndex, bytesOfHex(hash), timestamp]
}

export function dropHotAbove(connection: Connection, ordinal: number, block: number): void {
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block > ?', ordinal, block)
}

const columns = `first_block, first_tx, first_hash, first_timestamp, last_block, last_tx, last_hash, last_timestamp`

export function moveActivityToCold(connection: Connection, ordinal: number, upTo: number): void {
  const rows = connection.all(
    `SELECT address, ${columns} FROM hot_activity WHERE chain = ? AND block <= ?`,
    ordinal,
    upTo,
  )
  mergeCold(
    connection,
    ordinal,
    rows.map(row => activityOfRow(hexOf<Address>(row[0] as Uint8Array), row)),
  )
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block <= ?', ordinal, upTo)
}

function activityOf(connection: Connection, address: Address): Map<ChainId, ActivityRow> {
  const bytes = bytesOfHex(address)
  const rows = connection.all(
    `SELECT id, ${columns} FROM activity JOIN chains ON chain = ordinal WHERE address = ?
     UNION ALL SELECT id, ${columns} FROM hot_activity JOIN chains ON chain = ordinal WHERE address = ?`,
    bytes,
    bytes,
  )
  const byChain = new Map<ChainId, ActivityRow>()
  for (const row of rows) {
    const chain = row[0] as ChainId
    const found = activityOfRow(address, row)
    const known = byChain.get(chain)
    byChain.set(chain, known === undefined ? found : mergeActivity(known, found))
  }
  return byChain
}

/** The eight columns stand behind one other. */
function activityOfRow(address: Address, row: Row): ActivityRow {
  const refAt = (at: number): TransactionRef => ({
    block: row[at] as number,
    transactionIndex: row[at + 1] as number,
    hash: hexOf<Hash>(row[at + 2] as Uint8Array),
    timestamp: row[at + 3] as number,
  })
  return { address, first: refAt(1), last: refAt(5) }
}
