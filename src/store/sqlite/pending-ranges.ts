// Ranges of whole blocks whose rows are stored and not claimed yet, as rows. Callers hold the transaction.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Hash, Interval } from '../../model.ts'
import type { StoredRange } from '../store.ts'
import type { Connection, Row } from './connection.ts'

export function pendingRangesOf(connection: Connection, ordinal: number): StoredRange[] {
  const find = 'SELECT from_block, to_block, hash FROM pending_ranges WHERE chain = ? ORDER BY from_block'
  return connection.all(find, ordinal).map(rangeOf)
}

export function addPending(connection: Connection, ordinal: number, ranges: readonly StoredRange[]): void {
  for (const { from, to, hash } of ranges)
    connection.run('INSERT OR REPLACE INTO pending_ranges VALUES (?, ?, ?, ?)', ordinal, from, to, bytesOfHex(hash))
}

/** Those that reach into an interval. */
export function pendingWithin(connection: Connection, ordinal: number, { from, to }: Interval): Interval[] {
  const find = 'SELECT from_block, to_block FROM pending_ranges WHERE chain = ? AND from_block <= ? AND to_block >= ?'
  return connection.all(find, ordinal, to, from).map(row => ({ from: row[0] as number, to: row[1] as number }))
}

/** Removes the ranges that reach into an interval, and returns them. */
export function takePending(connection: Connection, ordinal: number, { from, to }: Interval): StoredRange[] {
  const taken =
    'DELETE FROM pending_ranges WHERE chain = ? AND from_block <= ? AND to_block >= ? RETURNING from_block, to_block, hash'
  return connection.all(taken, ordinal, to, from).map(rangeOf)
}

function rangeOf([from, to, hash]: Row): StoredRange {
  return { from: from as number, to: to as number, hash: hexOf<Hash>(hash as Uint8Array) }
}
