// First and last transactions of addresses, cold and hot. Merging takes the smaller and the larger of packed
// transactions, so repeats and any order of commits give the same rows. Callers hold the transaction.

import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import {
  activityByChain,
  activityRow,
  blockRefs,
  firstRefOf,
  mergePacked,
  type PackedActivity,
  refBytes,
  rowAt,
  rowBytes,
} from '../packed-activity.ts'
import type { ActivityReader } from '../store.ts'
import type { Connection } from './connection.ts'
import type { StoreFile } from './store-file.ts'

const find = `SELECT id, first, last FROM activity JOIN chains ON chain = ordinal WHERE address = ?
  UNION ALL SELECT id, first, last FROM hot_activity JOIN chains ON chain = ordinal WHERE address = ?`

export function activityReader(file: StoreFile): ActivityReader {
  return {
    async activityOf(address) {
      const bytes = bytesOfHex(address)
      const rows = file.reading(read => read.all(find, bytes, bytes)) as [ChainId, Uint8Array, Uint8Array | null][]
      return activityByChain(
        address,
        rows.map(([chain, first, last]) => ({ chain, first, last })),
      )
    },
    async activityWithin(chain, interval, { after, limit }) {
      const rows = file.ofChain(chain, [], (read, ordinal) => {
        const { from, end } = blockRefs(interval)
        return read.all(findWithin, bytesOfHex(after ?? '0x'), ordinal, from, end, limit)
      }) as [Uint8Array, Uint8Array, Uint8Array | null][]
      return rows.map(([address, first, last]) => activityRow(hexOf<Address>(address), first, last))
    },
  }
}

const findWithin = `SELECT address, first, last FROM activity WHERE address > ? AND chain = ?
  AND (first >= ?3 AND first < ?4 OR last >= ?3 AND last < ?4) ORDER BY address LIMIT ?5`

/** Rows merged by one statement, cut from one value: binding values costs as much as finding the rows. */
const rowsPerStatement = 32

// The WHERE keeps a repeat from counting as a change. `last` is NULL where it equals `first`, as for most wallets.
const keepFirstAndLast = `ON CONFLICT DO UPDATE SET
  first = min(first, excluded.first),
  last = nullif(max(coalesce(last, first), coalesce(excluded.last, excluded.first)), min(first, excluded.first))
  WHERE excluded.first < first OR coalesce(excluded.last, excluded.first) > coalesce(last, first)`

/** ?1 holds the rows, ?2 is the chain; `place` is what follows it, before the transactions. */
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

export function dropActivity(connection: Connection, ordinal: number, wallets: readonly Address[]): void {
  for (const wallet of wallets)
    connection.run('DELETE FROM activity WHERE address = ? AND chain = ?', bytesOfHex(wallet), ordinal)
}

export function dropHotAbove(connection: Connection, ordinal: number, block: number): void {
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block > ?', ordinal, block)
}

/** What lies between a first transaction below and a last one above was not kept. */
export function dropColdAbove(connection: Connection, ordinal: number, block: number): void {
  const above = firstRefOf(block + 1)
  connection.run('DELETE FROM activity WHERE chain = ? AND first >= ?', ordinal, above)
  connection.run('UPDATE activity SET last = NULL WHERE chain = ? AND last >= ?', ordinal, above)
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
