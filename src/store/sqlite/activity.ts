// First and last transactions of addresses, cold and hot. Merging is taking the smaller and the larger of packed transactions, so
// that repeats and any order of commits give the same rows. Callers hold the transaction.

import { bytesOfHex } from '../../hex.ts'
import type { ActivityRow, Address, ChainId } from '../../model.ts'
import {
  mergeActivity,
  mergePacked,
  type PackedActivity,
  refBytes,
  rowAt,
  rowBytes,
  unpackRef,
} from '../packed-activity.ts'
import type { ActivityReader } from '../store.ts'
import type { Connection } from './connection.ts'
import type { StoreFile } from './store-file.ts'

export function activityReader(file: StoreFile): ActivityReader {
  return { activityOf: async address => file.reading(read => activityOf(read, address)) }
}

/** Rows merged by one statement, cut from one value: binding values costs as much as finding the rows. */
const rowsPerStatement = 32

// The WHERE keeps a repeat from counting as a change. `last` is NULL where it is the first transaction, as for most wallets.
const keepFirstAndLast = `ON CONFLICT DO UPDATE SET
  first = min(first, excluded.first),
  last = nullif(max(coalesce(last, first), coalesce(excluded.last, excluded.first)), min(first, excluded.first))
  WHERE excluded.first < first OR coalesce(excluded.last, excluded.first) > coalesce(last, first)`

/** ?1 holds the rows, ?2 is the chain; `place` says what stands between that and the transactions. */
function mergeSql(table: string, place: string, rows: number): string {
  const values = Array.from({ length: rows }, (_, row) => {
    const part = (at: number, length: number): string => `substr(?1, ${1 + row * rowBytes + at}, ${length})`
    const [first, last] = [part(rowAt.first, refBytes), part(rowAt.last, refBytes)]
    return `(${part(rowAt.address, rowAt.first)}, ?2${place}, ${first}, nullif(${last}, ${first}))`
  })
  return `INSERT INTO ${table} VALUES ${values.join()} ${keepFirstAndLast}`
}

const coldSql = { one: mergeSql('activity', '', 1), many: mergeSql('activity', '', rowsPerStatement) }
const hotSql = { one: mergeSql('hot_activity', ', ?3', 1), many: mergeSql('hot_activity', ', ?3', rowsPerStatement) }

export function mergeCold(connection: Connection, ordinal: number, rows: PackedActivity): void {
  merge(connection, coldSql, rows, ordinal)
}

export function mergeHot(connection: Connection, ordinal: number, block: number, rows: PackedActivity): void {
  merge(connection, hotSql, rows, ordinal, block)
}

function merge(
  connection: Connection,
  sql: { one: string; many: string },
  given: PackedActivity,
  ...place: number[]
): void {
  const rows = mergePacked(given)
  const [one, many] = [connection.prepare(sql.one), connection.prepare(sql.many)]
  const step = rowsPerStatement * rowBytes
  let at = 0
  for (; at + step <= rows.length; at += step) many.run(rows.subarray(at, at + step), ...place)
  for (; at < rows.length; at += rowBytes) one.run(rows.subarray(at, at + rowBytes), ...place)
}

export function dropHotAbove(connection: Connection, ordinal: number, block: number): void {
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block > ?', ordinal, block)
}

export function moveActivityToCold(connection: Connection, ordinal: number, upTo: number): void {
  connection.run(
    `INSERT INTO activity SELECT address, chain, first, last FROM hot_activity WHERE chain = ? AND block <= ?
     ORDER BY address ${keepFirstAndLast}`,
    ordinal,
    upTo,
  )
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block <= ?', ordinal, upTo)
}

function activityOf(connection: Connection, address: Address): Map<ChainId, ActivityRow> {
  const bytes = bytesOfHex(address)
  const rows = connection.all(
    `SELECT id, first, last FROM activity JOIN chains ON chain = ordinal WHERE address = ?
     UNION ALL SELECT id, first, last FROM hot_activity JOIN chains ON chain = ordinal WHERE address = ?`,
    bytes,
    bytes,
  )
  const byChain = new Map<ChainId, ActivityRow>()
  for (const [id, first, last] of rows) {
    const chain = id as ChainId
    const found = {
      address,
      first: unpackRef(first as Uint8Array),
      last: unpackRef((last ?? first) as Uint8Array),
    }
    const known = byChain.get(chain)
    byChain.set(chain, known === undefined ? found : mergeActivity(known, found))
  }
  return byChain
}
