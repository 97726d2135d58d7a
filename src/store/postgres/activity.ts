// First and last transactions of addresses, cold and hot. Merging takes the smaller and the larger of packed
// transactions, so repeats and any order of commits give the same rows. Callers hold the transaction.

import { bytesOfHex, hexOf } from '../../hex.ts'
import type { ActivityRow, Address } from '../../model.ts'
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
import { activityView, refsOf } from '../runs/activity-view.ts'
import type { ActivityReader } from '../store.ts'
import { byteaArray, byteaColumn, bytesOf } from './arrays.ts'
import type { Row, Transaction } from './database.ts'
import { removeAbove, removeWallets } from './runs/activity-runs.ts'
import { type ColdPlace, type ColdRecord, coldPage } from './runs/cold-pages.ts'
import { findWallet, refsIn } from './runs/run-lookups.ts'
import { textOfKey } from './runs/runs.ts'
import { type Slots, slotOfAddress } from './runs/slots.ts'
import type { StoreDatabase } from './store-database.ts'

const findHot = 'SELECT chain, first, last, NULL::bytea FROM hot_activity WHERE address = $1'
const findCold = 'SELECT chain, first, last, NULL::bytea FROM activity WHERE address = $1'
const inRuns = `SELECT chain, NULL::bytea, NULL::bytea, bytes FROM (${findWallet}) AS in_runs`
const findAll = `${findCold} UNION ALL ${findHot} UNION ALL ${inRuns}`

async function readWallet(store: StoreDatabase, address: Uint8Array, slot: number): Promise<Row[]> {
  const ofTable = { table: 'activity', value: address } as const
  if (!store.distributed) return await store.readOf(ofTable, findAll, address, slot)
  // Hot rows first: what becomes final in between is read twice, which changes nothing.
  const hot = await store.readHere(findHot, address)
  const cold = [
    store.readOf(ofTable, findCold, address),
    store.readOf({ table: 'packs', value: slot }, inRuns, address, slot),
  ]
  return [...hot, ...(await Promise.all(cold)).flat()]
}

export function activityReader(store: StoreDatabase): ActivityReader {
  const { dictionary } = store
  return {
    async activityOf(address) {
      const value = bytesOfHex(address)
      const slot = slotOfAddress(await store.slots(), value)
      const rows = await readWallet(store, value, slot)
      const stored = rows.flatMap(([ordinal, first, last, pack]) => {
        if (pack === null) return { ordinal, first: bytesOf(first), last: last === null ? null : bytesOf(last) }
        const refs = refsIn(bytesOf(pack), value)
        return refs === undefined ? [] : { ordinal, ...refs }
      })
      const named = stored.map(async ({ ordinal, ...refs }) => ({
        chain: await dictionary.chainOf(Number(ordinal)),
        ...refs,
      }))
      return activityByChain(address, await Promise.all(named))
    },
    async activityWithin(chain, interval, { after, limit }) {
      const ordinal = await dictionary.ordinalOf(chain)
      if (ordinal === undefined) return []
      const { from, end } = blockRefs(interval)
      const isWithin = (ref: Uint8Array | null): boolean =>
        ref !== null && Buffer.compare(ref, from) >= 0 && Buffer.compare(ref, end) < 0
      const found: ActivityRow[] = []
      let place: ColdPlace | undefined = after === undefined ? undefined : { key: bytesOfHex(after), chain: ordinal }
      while (true) {
        const { records, isLast } = await coldWallets(store, ordinal, place)
        for (const { key, value } of records) {
          const { first, last } = refsOf(value)
          if (!isWithin(first) && !isWithin(last)) continue
          found.push(activityRow(hexOf<Address>(key), first, last))
          if (found.length === limit) return found
        }
        if (isLast) return found
        place = records.at(-1)
      }
    },
  }
}

const walletsPerRead = 2_000
const findWallets = `SELECT address, first, last FROM activity WHERE address > $1::bytea AND chain = $2
  ORDER BY address LIMIT $3`

async function coldWallets(
  store: StoreDatabase,
  chain: number,
  after: ColdPlace | undefined,
): Promise<{ records: ColdRecord[]; isLast: boolean }> {
  const { database } = store
  const inTable = async (limit: number): Promise<ColdRecord[]> => {
    const rows = await database.read(findWallets, after?.key ?? noBytes, chain, limit)
    return rows.map(([address, first, last]) => ({
      key: bytesOf(address),
      chain,
      value: last === null ? bytesOf(first) : Buffer.concat([bytesOf(first), bytesOf(last)]),
    }))
  }
  const source = { database, slots: await store.slots(), view: activityView, chain, inTable }
  return await coldPage(source, after, walletsPerRead)
}

const noBytes = Buffer.alloc(0)

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

/** Whose rows, and where those in runs lie. */
type Placed = { ordinal: number; slots: Slots }

export async function dropActivity(
  transaction: Transaction,
  { ordinal, slots }: Placed,
  wallets: readonly Address[],
): Promise<void> {
  const addresses = wallets.map(bytesOfHex)
  await dropRows(transaction, ordinal, addresses)
  await removeWallets(transaction, slots, ordinal, addresses)
}

async function dropRows(
  transaction: Transaction,
  ordinal: number,
  addresses: readonly Uint8Array[],
): Promise<{ address: Buffer; first: Buffer }[]> {
  const drop = 'DELETE FROM activity WHERE chain = $1 AND address = ANY($2::bytea[]) RETURNING address, first'
  const rows = await transaction.write(drop, ordinal, byteaArray(addresses))
  return rows.map(([address, first]) => ({ address: bytesOf(address), first: bytesOf(first) }))
}

/**
 * A wallet with a transaction above keeps its first one alone: what lies between was not kept, and what runs still have
 * of it depends on how far they are merged.
 */
export async function dropColdAbove(
  transaction: Transaction,
  { ordinal, slots }: Placed,
  block: number,
): Promise<void> {
  const above = firstRefOf(block + 1)
  const firsts = new Map<string, { address: Uint8Array; first: Uint8Array }>()
  const note = (address: Uint8Array, first: Uint8Array): void => {
    const wallet = textOfKey(address)
    const known = firsts.get(wallet)
    if (known === undefined || Buffer.compare(first, known.first) < 0) firsts.set(wallet, { address, first })
  }
  await removeAbove(transaction, ordinal, block, note)
  const drop = `DELETE FROM activity WHERE chain = $1 AND coalesce(last, first) >= $2::bytea RETURNING address, first`
  for (const [address, first] of await transaction.write(drop, ordinal, above)) note(bytesOf(address), bytesOf(first))
  const wallets = Array.from(firsts.values(), ({ address }) => address)
  for (const { address, first } of await dropRows(transaction, ordinal, wallets)) note(address, first)
  await removeWallets(transaction, slots, ordinal, wallets, note)
  const kept = [...firsts.values()].filter(({ first }) => Buffer.compare(first, above) < 0)
  await mergeCold(
    transaction,
    ordinal,
    joinActivity(kept.map(({ address, first }) => packedRow(address, first, first))),
  )
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
