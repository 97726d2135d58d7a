// Ranges of whole blocks whose rows are stored and not claimed yet, as rows. Callers hold the transaction.
import { bytesOfHex } from '../../hex.ts'
import type { Hash, Interval } from '../../model.ts'
import type { StoredRange } from '../store.ts'
import { byteaArray, hexTextOf, int8Array } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'

export async function pendingRangesOf(database: Database, ordinal: number): Promise<StoredRange[]> {
  const find = 'SELECT from_block, to_block, hash FROM pending_ranges WHERE chain = $1 ORDER BY from_block'
  return (await database.read(find, ordinal)).map(rangeOf)
}

export async function addPending(
  transaction: Transaction,
  ordinal: number,
  ranges: readonly StoredRange[],
): Promise<void> {
  if (ranges.length === 0) return
  await transaction.run(
    `INSERT INTO pending_ranges (chain, from_block, to_block, hash)
     SELECT $1::int4, * FROM unnest($2::int8[], $3::int8[], $4::bytea[])`,
    ordinal,
    int8Array(ranges.map(({ from }) => from)),
    int8Array(ranges.map(({ to }) => to)),
    byteaArray(ranges.map(({ hash }) => bytesOfHex(hash))),
  )
}

/** Of a chain, those that reach into one of the intervals. */
const reaching = `FROM pending_ranges WHERE chain = $1 AND EXISTS (SELECT 1 FROM unnest($2::int8[], $3::int8[])
  AS given (low, high) WHERE from_block <= high AND to_block >= low)`

function columnsOf(intervals: readonly Interval[]): [from: Buffer, to: Buffer] {
  return [int8Array(intervals.map(({ from }) => from)), int8Array(intervals.map(({ to }) => to))]
}

export async function hasPending(
  transaction: Transaction,
  ordinal: number,
  intervals: readonly Interval[],
): Promise<boolean> {
  if (intervals.length === 0) return false
  const find = `SELECT 1 ${reaching} LIMIT 1`
  return (await transaction.query(find, ordinal, ...columnsOf(intervals))).length > 0
}

/** Removes the ranges that reach into one of the intervals, and returns them. */
export async function takePending(
  transaction: Transaction,
  ordinal: number,
  intervals: readonly Interval[],
): Promise<StoredRange[]> {
  if (intervals.length === 0) return []
  const take = `DELETE ${reaching} RETURNING from_block, to_block, hash`
  const taken = await transaction.write(take, ordinal, ...columnsOf(intervals))
  return taken.map(rangeOf)
}

function rangeOf([from, to, hash]: Row): StoredRange {
  return { from: Number(from), to: Number(to), hash: hexTextOf<Hash>(hash) }
}
