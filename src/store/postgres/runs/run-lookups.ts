// What requests read from runs beside pages: a wallet's records, and counts. Each is the packs of one slot that may
// have the records, in one statement, opened here.
import { activityView, refsOf } from '../../runs/activity-view.ts'
import { countKey, countOf, countView } from '../../runs/count-view.ts'
import { compareKeys, PackReader } from '../../runs/pack.ts'
import { spanOfBlocks, transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import { idCountOf } from '../../transfer-payload.ts'
import { bytesOf } from '../arrays.ts'
import type { Row, Value } from '../database.ts'
import { hasContract, packsFrom } from './runs.ts'
import { payloadAt } from './transfer-runs.ts'

/** Chain and pack; $1 is the address, $2 the slot. */
export const findWallet = `SELECT chain, bytes FROM runs CROSS JOIN LATERAL (SELECT bytes FROM packs
  WHERE packs.slot = $2::int4 AND run = id AND key <= $1::bytea ORDER BY key DESC LIMIT 1) AS its_pack
  WHERE runs.slot = $2::int4 AND view = ${activityView.id}`

export function refsIn(
  pack: Uint8Array,
  address: Uint8Array,
): { first: Uint8Array; last: Uint8Array | null } | undefined {
  for (const { key, value } of recordsIn(activityView, pack)) if (compareKeys(key, address) === 0) return refsOf(value)
  return undefined
}

function* recordsIn(view: View, pack: Uint8Array): Generator<{ key: Uint8Array; value: Uint8Array }> {
  const reader = new PackReader(view.keyBytes)
  reader.open(pack)
  while (reader.next()) yield { key: reader.key, value: reader.value.subarray(0, reader.valueLength) }
}

// Counts: whole buckets from the runs of counts, edges from the transfers themselves.

const parts = [
  { view: countView, kind: 3 },
  { view: transferView, kind: 4 },
  { view: transferView, kind: 5 },
] as const

/** Kind and pack, as `countValues` gives them, from the parameter `first` on. */
export function countSql(first: number): string {
  const value = (at: number, type: string): string => `$${first + at}::${type}`
  const [slot, chain, contract] = [value(0, 'int4'), value(1, 'int4'), value(2, 'int4')]
  return parts
    .map(({ view, kind }, at) => {
      const [low, high] = [value(3 + 2 * at, 'bytea'), value(4 + 2 * at, 'bytea')]
      return `SELECT ${kind}, bytes FROM runs CROSS JOIN LATERAL (SELECT bytes FROM packs WHERE packs.slot = ${slot}
        AND run = id AND key <= ${high} AND key >= ${packsFrom('id', slot, low)}) AS its_packs
        WHERE runs.slot = ${slot} AND chain = ${chain} AND view = ${view.id} AND ${low} <= ${high}
        AND ${hasContract(contract)}`
    })
    .join(' UNION ALL ')
}

/** Blocks to scan, and whether to add their rows to those of the buckets or to subtract them. */
export type Edge = readonly [sign: 1 | -1, from: number, to: number]

export type CountQuery = {
  slot: number
  chain: number
  contract: number
  buckets: readonly [first: number, last: number]
  edges: readonly [lower: Edge, upper: Edge]
}

export function countValues({ slot, chain, contract, buckets, edges }: CountQuery): Value[] {
  const spans = edges.map(([, from, to]) => (from > to ? noSpan : spanOfBlocks(contract, { from, to })))
  const [first, last] = buckets
  const kept = first > last ? noSpan : { from: countKey(contract, first), to: countKey(contract, last) }
  return [slot, chain, contract, ...[kept, ...spans].flatMap(({ from, to }) => [from, to])]
}

const noSpan = { from: Buffer.from([1]), to: Buffer.from([0]) }

export function countIn(rows: readonly Row[], { contract, buckets, edges }: CountQuery): number {
  let count = 0
  for (const [kind, bytes] of rows) {
    const at = parts.findIndex(part => part.kind === Number(kind))
    if (at === 0) count += keptIn(bytesOf(bytes), contract, buckets)
    else if (at > 0) count += edges[at - 1]![0] * countWithin(bytesOf(bytes), contract, edges[at - 1]!)
  }
  return count
}

function keptIn(pack: Uint8Array, contract: number, [first, last]: readonly [number, number]): number {
  const [from, to] = [countKey(contract, first), countKey(contract, last)]
  let count = 0
  for (const { key, value } of recordsIn(countView, pack))
    if (compareKeys(key, from) >= 0 && compareKeys(key, to) <= 0) count += countOf(value)
  return count
}

/** An ERC-2309 range counts as many as its ids. */
function countWithin(pack: Uint8Array, contract: number, [, from, to]: Edge): number {
  const span = spanOfBlocks(contract, { from, to })
  let count = 0
  for (const { key, value } of recordsIn(transferView, pack))
    if (compareKeys(key, span.from) >= 0 && compareKeys(key, span.to) <= 0)
      count += idCountOf(value.subarray(payloadAt))
  return count
}
