// Reading transfers: pages as columns, counts, and the transfers at given places.
import { setImmediate } from 'node:timers/promises'
import type { Address, Interval, Position } from '../../model.ts'
import type { ContractPlace, MixedPage } from '../index-reader.ts'
import { emptyPage, type TransferPage } from '../index-reader.ts'
import { bucketBlocks, bucketOf, countKey, countOf, countView } from '../runs/count-view.ts'
import { PackSearch } from '../runs/open-pack.ts'
import { compareKeys, PackReader } from '../runs/pack.ts'
import {
  batchIndexOfPlace,
  blockOfPlace,
  fitsKey,
  logIndexOfPlace,
  type Span,
  transactionIndexOfPlace,
} from '../runs/place-key.ts'
import { hashOf, payloadAt, spanOfBlocks, timestampOf, transferKey, transferView } from '../runs/transfer-view.ts'
import type { View } from '../runs/view.ts'
import type { TransferPageQuery, TransferRange } from '../store.ts'
import { idCountOf } from '../transfer-payload.ts'
import type { Core } from './core.ts'
import type { Mirror } from './mirror.ts'
import { inMoment, type RecordColumns, readRecords, stale } from './read-records.ts'
import { looks, type SpansBatch, spans, type Work } from './work.ts'

export type OfContract = { chain: number; contract: number }

/** Above every block that a key can tell. */
const blockMax = 2 ** 32 - 2

export function* transferPage(core: Core, of: OfContract, query: TransferPageQuery): Work<TransferPage> {
  const { order, limit } = query
  const from = Math.max(0, query.fromBlock ?? 0)
  const to = Math.min(query.toBlock ?? blockMax, blockMax)
  if (from > to || limit <= 0) return emptyPage
  const span = spanOf(of.contract, query, { from, to })
  if (span === undefined) return emptyPage
  const walk = { view: transferView, ...of, ...span, order: order === 'desc' ? 'keys' : 'back', limit } as const
  return pageOf(yield* inMoment(core.mirrors, of.chain, mirror => readRecords(walk, mirror)))
}

/** The first and the last key of what a page may show; keys count down. Undefined where that is nothing. */
function spanOf(contract: number, { order, after }: TransferPageQuery, blocks: Interval): Span | undefined {
  const span = spanOfBlocks(contract, blocks)
  if (after === undefined) return span
  if (order === 'desc') {
    if (after.block > blocks.to) return span
    const next = neighbour(transferKey(contract, after), 1)
    return next === undefined ? undefined : { from: next, to: span.to }
  }
  if (after.block < blocks.from) return span
  const at = transferKey(contract, after)
  // -1 stands before the first, which a key cannot tell from it.
  const isIncluded = after.transactionIndex < 0 || after.logIndex < 0 || after.batchIndex < 0
  const last = isIncluded ? at : neighbour(at, -1)
  return last === undefined ? undefined : { from: span.from, to: last }
}

/** The next key, or the one before; undefined beyond the ends. */
export function neighbour(key: Uint8Array, by: 1 | -1): Uint8Array | undefined {
  // Not `slice`, which copies nothing of a Buffer.
  const next = Uint8Array.from(key)
  for (let at = next.length - 1; at >= 0; at--) {
    next[at] = next[at]! + by
    if (next[at] !== (by === 1 ? 0 : 255)) return next
  }
  return undefined
}

const { keyBytes, placeAt } = transferView

function pageOf({ length, keys, values, valueEnds }: RecordColumns): TransferPage {
  const column = (of: (keys: Uint8Array, at: number) => number): number[] => {
    const numbers = new Array<number>(length)
    for (let row = 0; row < length; row++) numbers[row] = of(keys, row * keyBytes + placeAt)
    return numbers
  }
  const timestamps = new Array<number>(length)
  const blockHashes = new Uint8Array(32 * length)
  const payloads = new Uint8Array((valueEnds.at(-1) ?? 0) - payloadAt * length)
  for (let row = 0, start = 0, at = 0; row < length; row++) {
    const end = valueEnds[row]!
    timestamps[row] = timestampOf(values, start)
    blockHashes.set(hashOf(values, start), 32 * row)
    payloads.set(values.subarray(start + payloadAt, end), at)
    at += end - start - payloadAt
    start = end
  }
  return {
    length,
    blocks: column(blockOfPlace),
    transactionIndexes: column(transactionIndexOfPlace),
    logIndexes: column(logIndexOfPlace),
    batchIndexes: column(batchIndexOfPlace),
    ...{ timestamps, blockHashes, payloads },
  }
}

// Counts: whole buckets come from the kept counts; only the two edges and recent blocks are looked through.

/** Some ten thousand rows: a few milliseconds, in which no other request is answered. */
const packsPerStep = 256
const attemptsMax = 4

/** Blocks whose rows are added to those of the buckets, or subtracted from them. */
type Edge = Interval & { sign: 1 | -1 }
type Split = { buckets: Interval | undefined; edges: readonly Edge[] }

/**
 * An edge with many rows is counted over several moments, and all of it anew where rows became final, came or went in
 * between.
 */
export async function transferCount(core: Core, of: OfContract, range: TransferRange): Promise<number> {
  const from = Math.max(range.fromBlock ?? 0, 0)
  const to = Math.min(range.toBlock ?? blockMax, blockMax)
  if (from > to) return 0
  for (let attempt = 1; ; attempt++) {
    const packsMax = attempt < attemptsMax ? packsPerStep : Number.MAX_SAFE_INTEGER
    const first = await core.engine.read(() => countFirst(core, of, { from, to }, packsMax))
    let { count } = first
    let isSame = true
    for (let left = first.left; left.length > 0 && isSame; ) {
      await setImmediate()
      const next = await core.engine.read(() => counted(of, first.fold, { buckets: undefined, edges: left }, packsMax))
      isSame = next.total === first.total && next.changes === first.changes
      count += next.inEdges
      left = next.left
    }
    if (isSame) return count
  }
}

type CountBatch = {
  changes: number
  /** Of the contract as a whole: it changes as rows come and go. */
  total: number
  inBuckets: number
  inEdges: number
  left: readonly EdgeSpan[]
}
type EdgeSpan = Span & { sign: 1 | -1 }

function* countFirst(
  core: Core,
  of: OfContract,
  { from, to }: Interval,
  packsMax: number,
): Work<CountBatch & { count: number; fold: number }> {
  const isWhole = from === 0 && to === blockMax
  return yield* inMoment(core.mirrors, of.chain, function* (mirror: Mirror) {
    const { fold } = mirror
    const { buckets, edges } = isWhole ? { buckets: undefined, edges: [] } : splitRange(from, Math.min(to, fold))
    const spansOf = edges.map(({ sign, ...blocks }) => ({ sign, ...spanOfBlocks(of.contract, blocks) }))
    const found = yield* counted(of, fold, { buckets, edges: spansOf }, packsMax)
    if (found.changes !== mirror.changes) return stale
    const recent = mirror.countOf(of.contract, { from, to })
    return { ...found, fold, count: recent + (isWhole ? found.total : found.inBuckets) + found.inEdges }
  })
}

function* counted(
  { chain, contract }: OfContract,
  fold: number,
  { buckets, edges }: { buckets: Interval | undefined; edges: readonly EdgeSpan[] },
  packsMax: number,
): Work<CountBatch> {
  const kept = [{ from: -1, to: -1 }, ...(buckets === undefined ? [] : [buckets])].map(({ from, to }) => {
    return { view: countView, from: countKey(contract, from), to: countKey(contract, to) }
  })
  const asked = [...kept, ...edges.map(({ from, to }) => ({ view: transferView, from, to }))]
  const batch = yield* spans({ kind: 'spans', chain, contract, spans: asked, packsMax, fold })
  const [total = 0, inBuckets = 0] = kept.map((span, at) => sumOf(batch.spans[at]!.packs, span))
  const { count: inEdges, left } = edgesOf(edges, batch.spans.slice(kept.length))
  return { changes: batch.changes, total, inBuckets, inEdges, left }
}

/** What comes at the horizon of an edge or later is left. */
function edgesOf(edges: readonly EdgeSpan[], found: SpansBatch['spans']): { count: number; left: EdgeSpan[] } {
  let count = 0
  const left: EdgeSpan[] = []
  for (const [at, edge] of edges.entries()) {
    const { packs, horizon } = found[at]!
    for (const [key, value] of recordsIn(transferView, packs, edge))
      if (horizon === undefined || compareKeys(key, horizon) < 0)
        count += edge.sign * idCountOf(value.subarray(payloadAt))
    if (horizon !== undefined) left.push({ ...edge, from: horizon })
  }
  return { count, left }
}

function sumOf(packs: readonly Uint8Array[], span: Span): number {
  let sum = 0
  for (const [, value] of recordsIn(countView, packs, span)) sum += countOf(value)
  return sum
}

function* recordsIn(
  { keyBytes: length }: View,
  packs: readonly Uint8Array[],
  { from, to }: Span,
): Generator<[key: Uint8Array, value: Uint8Array]> {
  const reader = new PackReader(length)
  for (const pack of packs) {
    reader.open(pack)
    while (reader.next()) {
      if (compareKeys(reader.key, from) < 0) continue
      if (compareKeys(reader.key, to) > 0) break
      yield [reader.key, reader.value.subarray(0, reader.valueLength)]
    }
  }
}

/** Of a bucket that the range cuts, the side with fewer blocks is looked through: at most half of it. */
function splitRange(from: number, to: number): Split {
  if (from > to) return { buckets: undefined, edges: [] }
  const [first, last] = [bucketOf(from), bucketOf(to)]
  const [firstStart, lastEnd] = [first * bucketBlocks, (last + 1) * bucketBlocks - 1]
  const below: Edge = { sign: -1, from: firstStart, to: from - 1 }
  const above: Edge = { sign: -1, from: to + 1, to: lastEnd }
  const filled = (edges: readonly Edge[]): Edge[] => edges.filter(edge => edge.from <= edge.to)
  if (first === last) {
    if (to - from < bucketBlocks / 2) return { buckets: undefined, edges: [{ sign: 1, from, to }] }
    return { buckets: { from: first, to: last }, edges: filled([below, above]) }
  }
  const cutsFirst = from - firstStart > bucketBlocks / 2
  const cutsLast = lastEnd - to > bucketBlocks / 2
  const buckets = { from: cutsFirst ? first + 1 : first, to: cutsLast ? last - 1 : last }
  return {
    buckets: buckets.from > buckets.to ? undefined : buckets,
    edges: filled([
      cutsFirst ? { sign: 1, from, to: firstStart + bucketBlocks - 1 } : below,
      cutsLast ? { sign: 1, from: last * bucketBlocks, to } : above,
    ]),
  }
}

/** In their order; a place that has no transfer any more is left out. */
export function* transfersAt(core: Core, chain: number, places: readonly ContractPlace[]): Work<MixedPage> {
  const numbers = yield* core.dictionary.numbersOf(
    chain,
    places.map(({ contract }) => contract),
  )
  const known = places.flatMap(({ contract: address, ...position }) => {
    const contract = numbers.get(address)
    if (contract === undefined || !fitsKey(position)) return []
    return [{ address, contract, key: transferKey(contract, position), ...position }]
  })
  if (known.length === 0) return { ...emptyPage, contracts: [] }
  const values = yield* inMoment(core.mirrors, chain, mirror => valuesAt(mirror, chain, known))
  return mixedPageOf(known.flatMap((place, at) => (values[at] === undefined ? [] : [{ ...place, value: values[at] }])))
}

type TransferValue = { address: Address; key: Uint8Array; value: Uint8Array }

export function mixedPageOf(found: readonly TransferValue[]): MixedPage {
  const valueEnds: number[] = []
  for (const { value } of found) valueEnds.push((valueEnds.at(-1) ?? 0) + value.length)
  const page = pageOf({
    ...{ length: found.length, valueEnds },
    keys: Buffer.concat(found.map(({ key }) => key)),
    values: Buffer.concat(found.map(({ value }) => value)),
  })
  return { ...page, contracts: found.map(({ address }) => address) }
}

type KnownPlace = Position & { address: Address; contract: number; key: Uint8Array }

function* valuesAt(
  mirror: Mirror,
  chain: number,
  places: readonly KnownPlace[],
): Work<(Uint8Array | undefined)[] | typeof stale> {
  const values: (Uint8Array | undefined)[] = places.map(({ block, contract, key }) => {
    const [recent] = mirror.within({ from: block, to: block })
    return recent?.valueAt(contract, key)
  })
  const asked = places.flatMap(({ block, contract, key }, at) =>
    block > mirror.fold ? [] : [{ at, contract, key, blocks: { from: block, to: block } }],
  )
  const batch = yield* looks({ kind: 'looks', chain, view: transferView, looks: asked, fold: mirror.fold })
  if (batch.changes !== mirror.changes) return stale
  const search = new PackSearch(keyBytes)
  for (const { looks: wanted, bytes } of batch.packs)
    for (const look of wanted) {
      const { at, key } = asked[look]!
      if (search.lastUpTo(bytes, key) && search.isAlike()) values[at] = search.value()
    }
  return values
}
