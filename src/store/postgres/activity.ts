// First and last transactions of addresses, cold and hot. Merging takes the smaller and the larger of packed
// transactions, so repeats and any order of commits give the same rows. Callers hold the transaction.

import { bytesOfHex } from '../../hex.ts'
import type { Address } from '../../model.ts'
import {
  activityByChain,
  activityRow,
  blockRefs,
  firstRefOf,
  joinActivity,
  mergePacked,
  type PackedActivity,
  packedRow,
  refBytes,
  rowAt,
  rowBytes,
} from '../packed-activity.ts'
import type { ActivityReader } from '../store.ts'
import { byteaArray, byteaColumn, bytesOf, hexTextOf } from './arrays.ts'
import type { Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

const findHot = 'SELECT chain, first, last FROM hot_activity WHERE address = $1'
const findCold = 'SELECT chain, first, last FROM activity WHERE address = $1'
const findBoth = `${findCold} UNION ALL ${findHot}`

const findWithin = `SELECT address, first, last FROM activity WHERE address > $1 AND chain = $2
  AND (first >= $3 AND first < $4 OR last >= $3 AND last < $4) ORDER BY address LIMIT $5`

export function activityReader(store: StoreDatabase): ActivityReader {
  const { database, dictionary } = store
  return {
    async activityOf(address) {
      const value = bytesOfHex(address)
      const key = { table: 'activity', value } as const
      // Hot rows first: what becomes final in between is read twice, which changes nothing.
      const hot = store.distributed ? await store.readHere(findHot, value) : []
      const rows = [...hot, ...(await store.readOf(key, store.distributed ? findCold : findBoth, value))]
      const stored = rows.map(async ([ordinal, first, last]) => ({
        chain: await dictionary.chainOf(Number(ordinal)),
        first: bytesOf(first),
        last: last === null ? null : bytesOf(last),
      }))
      return activityByChain(address, await Promise.all(stored))
    },
    async activityWithin(chain, interval, { after, limit }) {
      const ordinal = await dictionary.ordinalOf(chain)
      if (ordinal === undefined) return []
      const { from, end } = blockRefs(interval)
      const rows = await database.read(findWithin, bytesOfHex(after ?? '0x'), ordinal, from, end, limit)
      return rows.map(([address, first, last]) =>
        activityRow(hexTextOf<Address>(address), bytesOf(first), last === null ? null : bytesOf(last)),
      )
    },
  }
}

// The WHERE keeps a repeat from counting as a change and from leaving dead rows. `last` is NULL where it equals
// `first`, as for most wallets; `least` and `greatest` skip NULL.
const first = 'least(known.first, excluded.first)'
const last = 'greatest(known.first, known.last, excluded.first, excluded.last)'
const keepFirstAndLast = `DO UPDATE SET first = ${first}, last = nullif(${last}, ${first})
  WHERE excluded.first < known.first OR coalesce(excluded.last, excluded.first) > coalesce(known.last, known.first)`

const given = 'unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS given (address, first, last)'

const mergeColdSql = `INSERT INTO activity AS known (address, chain, first, last)
  SELECT address, $1::int4, first, nullif(last, first) FROM ${given} ON CONFLICT (address, chain) ${keepFirstAndLast}`
const mergeHotSql = `INSERT INTO hot_activity AS known (address, chain, block, first, last)
  SELECT address, $1::int4, $5::int4, first, nullif(last, first) FROM ${given}
  ON CONFLICT (address, chain, block) ${keepFirstAndLast}`

export async function mergeCold(transaction: Transaction, ordinal: number, rows: PackedActivity): Promise<void> {
  if (rows.length > 0) await transaction.runCounted(mergeColdSql, ordinal, ...columnsOf(mergePacked(rows)))
}

export async function mergeHot(
  transaction: Transaction,
  ordinal: number,
  block: number,
  rows: PackedActivity,
): Promise<void> {
  if (rows.length > 0) await transaction.runCounted(mergeHotSql, ordinal, ...columnsOf(mergePacked(rows)), block)
}

function columnsOf(rows: PackedActivity): Buffer[] {
  const column = (at: number, length: number): Buffer => byteaColumn(rows, { every: rowBytes, at, length })
  return [column(rowAt.address, rowAt.first), column(rowAt.first, refBytes), column(rowAt.last, refBytes)]
}

export async function dropActivity(
  transaction: Transaction,
  ordinal: number,
  wallets: readonly Address[],
): Promise<void> {
  await transaction.run(
    'DELETE FROM activity WHERE chain = $1 AND address = ANY($2::bytea[])',
    ordinal,
    byteaArray(wallets.map(bytesOfHex)),
  )
}

/** What lies between a first transaction below and a last one above was not kept. */
export async function dropColdAbove(transaction: Transaction, ordinal: number, block: number): Promise<void> {
  const above = firstRefOf(block + 1)
  await transaction.run('DELETE FROM activity WHERE chain = $1 AND first >= $2::bytea', ordinal, above)
  await transaction.run('UPDATE activity SET last = NULL WHERE chain = $1 AND last >= $2::bytea', ordinal, above)
}

export async function copyActivityToCold(transaction: Transaction, ordinal: number, upTo: number): Promise<void> {
  const found = await transaction.query(
    'SELECT address, first, coalesce(last, first) FROM hot_activity WHERE chain = $1 AND block <= $2',
    ordinal,
    upTo,
  )
  const rows = found.map(([address, first, last]) => packedRow(bytesOf(address), bytesOf(first), bytesOf(last)))
  await mergeCold(transaction, ordinal, joinActivity(rows))
}
