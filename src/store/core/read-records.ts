// Reading the records of a view in the order of their keys: those of runs and of recent blocks become one sequence.
import type { Interval } from '../../model.ts'
import { activityView } from '../runs/activity-view.ts'
import { compareBytes, compareKeys, copyBytes, valueBytesMax, wordsOf } from '../runs/pack.ts'
import { blockOfPlace, blockOfWord, contractBytes } from '../runs/place-key.ts'
import { transferView } from '../runs/transfer-view.ts'
import type { View } from '../runs/view.ts'
import { chainRow } from './chain-row.ts'
import type { Mirror, Mirrors } from './mirror.ts'
import { noRows, type RecordRows, type RecordSource, RowSource, runSource } from './record-sources.ts'
import { everyBlock } from './runs.ts'
import { type RecordsAsk, records, type Work } from './work.ts'

export type RecordQuery = {
  view: View
  /** Numbers in the store. */
  chain: number
  contract: number | undefined
  order: 'keys' | 'back'
  /** In the order of keys, both included. */
  from: Uint8Array
  to: Uint8Array
  limit: number
}

/** What is read beside runs: a mirror. Runs must be of its moment, unless it has no count. */
export type Recent = { changes: number | undefined; fold: number | undefined; records(ask: RecordsAsk): RecordRows }

export type StoredRecord = [key: Uint8Array, value: Uint8Array]

/**
 * Of all contracts, in the order of keys: those of the runs of a chain, and of `recent` records. On a cluster a fold
 * that was cut off left runs above the fold, which tell nothing new of wallets.
 */
export function* recordsFrom(
  { view, chain }: Pick<RecordQuery, 'view' | 'chain'>,
  from: Uint8Array,
  limit: number,
  recent: Recent['records'] = () => noRows,
): Work<StoredRecord[]> {
  const { keyBytes } = view
  const to = new Uint8Array(keyBytes).fill(0xff)
  const fold = view === activityView ? undefined : (yield* chainRow(chain)).fold
  const query = { view, chain, contract: undefined, order: 'keys', from, to, limit } as const
  const found = yield* readRecords(query, { changes: undefined, fold, records: recent })
  if (found === stale) throw new Error('Runs alone are of one moment.')
  const { length, keys, values, valueEnds } = found
  return Array.from({ length }, (_, at) => [
    keys.subarray(at * keyBytes, (at + 1) * keyBytes),
    values.subarray(valueEnds[at - 1] ?? 0, valueEnds[at]),
  ])
}

export const stale = Symbol('the mirror is not of the moment of what was read')

/**
 * `stale` where the chain has changed since the mirror was made: recent blocks became rows of runs, or were replaced.
 */
export function* readRecords(query: RecordQuery, recent: Recent): Work<RecordColumns | typeof stale> {
  const { view, order, from, to } = query
  const found = new RecordBuffer(view, Math.max(0, query.limit))
  if (query.limit <= 0 || compareKeys(from, to) > 0) return found.columns()
  const [first, last] = order === 'keys' ? [from, to] : [to, from]
  const { placeAt } = view
  const isOneSubject = placeAt !== undefined && compareKeys(first.subarray(0, placeAt), last.subarray(0, placeAt)) === 0
  const blocks = isOneSubject ? blocksOf(placeAt, first, last) : everyBlock
  const kind = [view.id, order, isOneSubject].join()
  // An answer is of one moment: where a batch was not enough, all is read again with more.
  for (let packsFactor = factorsNeeded.get(kind) ?? 1; ; packsFactor *= 4) {
    found.begin()
    const ask: RecordsAsk = {
      ...{ kind: 'records', ...query, first, last, blocks, isOneSubject, packsFactor, runsGiven: 0 },
      fold: recent.fold,
    }
    const outcome = yield* merge(ask, found, recent)
    if (outcome === 'more') continue
    factorsNeeded.set(kind, Math.max(1, packsFactor * 0.9))
    return outcome ?? found.columns()
  }
}

/** What the last walks of a kind needed: the next is much like them. It decides how much is read at once alone. */
const factorsNeeded = new Map<string, number>()

function blocksOf(placeAt: number, first: Uint8Array, last: Uint8Array): Interval {
  const [a, b] = [blockOfPlace(first, placeAt), blockOfPlace(last, placeAt)]
  return a < b ? { from: a, to: b } : { from: b, to: a }
}

/** `more` where the engine gave too few packs. */
function* merge(ask: RecordsAsk, found: RecordBuffer, recent: Recent): Work<undefined | typeof stale | 'more'> {
  const { keyBytes, placeAt = 0 } = ask.view
  const isUp = ask.order === 'keys'
  // Then all keys are of one contract.
  const skipped = ask.contract === undefined ? 0 : contractBytes
  const comparedBytes = keyBytes - skipped
  /** In the order of where they stand. */
  const sources: RecordSource[] = []
  /** The first batch is asked for in any case. */
  let nextBlock: number | undefined = isUp ? Number.POSITIVE_INFINITY : -1
  let horizon: DataView | undefined
  let isCut = false
  push(new RowSource(keyBytes, recent.records(ask)))
  while (!found.isFull) {
    const first = sources[0]
    if (nextBlock !== undefined && (first === undefined || mayPrecede(nextBlock, first))) {
      const batch = yield* records(ask)
      if (!batch.isKept) {
        found.begin()
        return undefined
      }
      if (recent.changes !== undefined && batch.changes !== recent.changes) return stale
      nextBlock = batch.nextBlock
      horizon = batch.horizon === undefined ? undefined : wordsOf(batch.horizon)
      isCut ||= horizon !== undefined
      for (const run of batch.runs) push(runSource(ask, run, ask.runsGiven++))
      if (batch.runs.length === 0) nextBlock = undefined
      continue
    }
    if (isCut && (first === undefined || isBeyondHorizon(first))) return 'more'
    if (first === undefined) return undefined
    found.add(first)
    if (first.step()) settle()
    else end(sources.shift()!)
  }
  return undefined

  function mayPrecede(block: number, { keys, keyAt }: RecordSource): boolean {
    const own = blockOfWord(keys.getUint32(keyAt + placeAt))
    return isUp ? block >= own : block <= own
  }

  /** Without a horizon records may be missing right after the end of a run that is cut. */
  function isBeyondHorizon({ keys, keyAt }: RecordSource): boolean {
    if (horizon === undefined) return true
    const order = compareBytes(keys, keyAt, horizon, 0, keyBytes)
    return isUp ? order >= 0 : order <= 0
  }

  function push(source: RecordSource): void {
    if (!source.begin()) {
      end(source)
      return
    }
    sources.unshift(source)
    settle()
  }

  function end(source: RecordSource): void {
    if (source.isCut) isCut = true
  }

  /** Puts the first where it belongs. One run has most records as a rule: the first stays the first mostly. */
  function settle(): void {
    const first = sources[0]!
    let at = 0
    while (at + 1 < sources.length && isBefore(sources[at + 1]!, first)) {
      sources[at] = sources[at + 1]!
      at++
    }
    sources[at] = first
  }

  function isBefore(a: RecordSource, b: RecordSource): boolean {
    const order = compareBytes(a.keys, a.keyAt + skipped, b.keys, b.keyAt + skipped, comparedBytes)
    return isUp ? order < 0 : order > 0
  }
}

/** Room is made for this many first, then for twice what is needed: a large limit is rarely met. */
const recordsUsual = 128
const transferBytesUsual = 160
const valueBytesUsual = 32

/** What was read so far: keys and values, each in one piece of memory. The view joins records of one key. */
class RecordBuffer {
  length = 0
  readonly #view: View
  readonly #limit: number
  readonly #keyBytes: number
  #keys: DataView
  #values: DataView
  #valuesEnd = 0
  #ends: number[] = []
  #isWhole = false

  constructor(view: View, limit: number) {
    this.#view = view
    this.#limit = limit
    this.#keyBytes = view.keyBytes
    const records = Math.min(limit, recordsUsual)
    this.#keys = wordsOf(new Uint8Array(records * view.keyBytes))
    const bytesUsual = view === transferView ? transferBytesUsual : valueBytesUsual
    this.#values = wordsOf(new Uint8Array(records * bytesUsual + 2 * valueBytesMax))
  }

  /** Before the first one, and again where all is read anew. */
  begin(): void {
    this.length = 0
    this.#valuesEnd = 0
    this.#ends = []
    this.#isWhole = false
  }

  /** Where keys come more than once the last one is whole when the next one comes. */
  get isFull(): boolean {
    return this.#isWhole || (this.#view.isUnique && this.length >= this.#limit)
  }

  add(source: RecordSource): void {
    const keyBytes = this.#keyBytes
    const at = this.length * keyBytes
    if (at > 0 && isSame(this.#keys, at - keyBytes, source.keys, source.keyAt, keyBytes)) {
      this.#combine(source)
      return
    }
    if (this.length === this.#limit) {
      this.#isWhole = true
      return
    }
    if (at + keyBytes > this.#keys.byteLength) this.#keys = twice(this.#keys, at)
    copyBytes(source.keys, source.keyAt, this.#keys, at, keyBytes)
    if (this.#valuesEnd + valueBytesMax > this.#values.byteLength) this.#values = twice(this.#values, this.#valuesEnd)
    source.copyValue(this.#values, this.#valuesEnd)
    this.#valuesEnd += source.valueLength
    this.#ends.push(this.#valuesEnd)
    this.length++
  }

  #combine(source: RecordSource): void {
    const { isUnique, combine } = this.#view
    if (isUnique) return
    const start = this.#ends.at(-2) ?? 0
    const [target, other] = [new Uint8Array(valueBytesMax), new Uint8Array(valueBytesMax)]
    source.copyValue(wordsOf(other), 0)
    const own = bytesIn(this.#values, this.#valuesEnd).subarray(start)
    const length = combine(target, own, own.length, other, source.valueLength)
    if (start + valueBytesMax > this.#values.byteLength) this.#values = twice(this.#values, this.#valuesEnd)
    bytesIn(this.#values, start + length).set(target.subarray(0, length), start)
    this.#valuesEnd = start + length
    this.#ends[this.#ends.length - 1] = this.#valuesEnd
  }

  columns(): RecordColumns {
    return {
      length: this.length,
      keys: bytesIn(this.#keys, this.length * this.#keyBytes),
      values: bytesIn(this.#values, this.#valuesEnd),
      valueEnds: this.#ends,
    }
  }
}

/** One after the other. */
export type RecordColumns = {
  length: number
  keys: Uint8Array
  values: Uint8Array
  /** Where each value ends. */
  valueEnds: readonly number[]
}

function bytesIn({ buffer, byteOffset }: DataView, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length)
}

function twice(words: DataView, used: number): DataView {
  const larger = new Uint8Array(2 * words.byteLength)
  larger.set(bytesIn(words, used))
  return wordsOf(larger)
}

/** Neighbours differ near the end. */
function isSame(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  for (let at = length - 1; at >= 0; at--) if (a.getUint8(atA + at) !== b.getUint8(atB + at)) return false
  return true
}

/** Reads again with a new mirror where the chain changed meanwhile. */
export function* inMoment<T>(
  mirrors: Mirrors,
  chain: number,
  work: (mirror: Mirror) => Work<T | typeof stale>,
): Work<T> {
  for (let mirror = mirrors.last(chain); ; mirror = yield* mirrors.renewed(chain)) {
    const result = yield* work(mirror)
    if (result !== stale) return result
  }
}
