// Reading the records of an index: those of runs and of tables become one sequence, whatever the engine.
import type { IndexQuery, IndexRecords } from '../index-reader.ts'
import { withContract } from '../indexes/by-token.ts'
import type { IndexView } from '../indexes/index-view.ts'
import { compareBytes, copyBytes, wordsOf } from '../runs/copy-bytes.ts'
import { compareKeys, valueBytesMax } from '../runs/pack.ts'
import { blockOfPlace, blockOfWord } from '../runs/place-key.ts'
import type { RecordsAsk, RecordsRead } from './disk.ts'
import { type RecordSource, RowSource, runSource } from './record-sources.ts'

export type RecordQuery = Pick<IndexQuery, 'order' | 'limit' | 'from' | 'to' | 'after'> & {
  view: IndexView
  /** Numbers in the store. */
  chain: number
  contract: number | undefined
}

/** `contracts`: the numbers that values name. */
export type FoundRecords = Omit<IndexRecords, 'contracts'> & { contracts: ReadonlySet<number> }

export function* readRecords(query: RecordQuery): RecordsRead<FoundRecords> {
  const { view, chain, contract, order, limit } = query
  const span = limit <= 0 ? undefined : spanOf(query)
  if (span === undefined) return new Records(view, 0).done()
  const isOneSubject = compareKeys(span.first.subarray(0, view.placeAt), span.last.subarray(0, view.placeAt)) === 0
  const blocks = isOneSubject ? blocksOf(view, span) : everyBlock
  // An answer is of one moment: where a batch was not enough, all is read again with more.
  for (let packsFactor = 1; ; packsFactor *= 4) {
    const found = new Records(view, limit)
    const ask = { ...span, view, chain, contract, order, limit, blocks, isOneSubject, packsFactor, runsGiven: 0 }
    if (yield* merge(ask, found)) return found.done()
  }
}

const everyBlock = { from: 0, to: 2 ** 32 }

type Span = Pick<RecordsAsk, 'first' | 'last'>

/** Keys as they are stored, in the order of the walk; undefined where nothing is left of them. */
function spanOf({ order, from, to, after, contract }: RecordQuery): Span | undefined {
  const isUp = order === 'keys'
  const next = after === undefined ? undefined : neighbour(after, isUp ? 1 : -1)
  if (after !== undefined && next === undefined) return undefined
  const [begin, last] = isUp ? [from, to] : [to, from]
  const isLater = next !== undefined && (isUp ? compareKeys(next, begin) > 0 : compareKeys(next, begin) < 0)
  const first = isLater ? next : begin
  if (isUp ? compareKeys(first, last) > 0 : compareKeys(first, last) < 0) return undefined
  if (contract === undefined) return { first, last }
  return { first: withContract(contract, first), last: withContract(contract, last) }
}

function blocksOf({ placeAt }: IndexView, { first, last }: Span): { from: number; to: number } {
  const [a, b] = [blockOfPlace(first, placeAt), blockOfPlace(last, placeAt)]
  return a < b ? { from: a, to: b } : { from: b, to: a }
}

const contractBytes = 4

/** False where the engine gave too few packs. */
function* merge(ask: RecordsAsk, found: Records): RecordsRead<boolean> {
  const { keyBytes, placeAt, byContract } = ask.view
  const isUp = ask.order === 'keys'
  // Then all keys are of one contract.
  const skipped = byContract ? contractBytes : 0
  const comparedBytes = keyBytes - skipped
  /** In the order of where they stand. */
  const sources: RecordSource[] = []
  /** The first batch is asked for in any case. */
  let nextBlock: number | undefined = isUp ? Number.POSITIVE_INFINITY : -1
  let horizon: DataView | undefined
  let isCut = false
  while (!found.isFull) {
    const first = sources[0]
    if (nextBlock !== undefined && (first === undefined || mayPrecede(nextBlock, first))) {
      const batch = yield ask
      if (batch === undefined) return true
      nextBlock = batch.nextBlock
      horizon = batch.horizon === undefined ? undefined : wordsOf(batch.horizon)
      for (const rows of batch.rows) push(new RowSource(keyBytes, rows))
      for (const run of batch.runs) push(runSource(ask, run, ask.runsGiven++, batch.highest))
      continue
    }
    if (isCut && (first === undefined || isBeyondHorizon(first))) return false
    if (first === undefined) return true
    found.add(first)
    if (first.step()) settle()
    else end(sources.shift()!)
  }
  return true

  function mayPrecede(block: number, { keys, keyAt }: RecordSource): boolean {
    const own = blockOfWord(keys.getUint32(keyAt + placeAt))
    return isUp ? block >= own : block <= own
  }

  /** Without a horizon records may be missing right after the end of a run that is cut. */
  function isBeyondHorizon({ keys, keyAt }: RecordSource): boolean {
    return horizon === undefined || compareBytes(keys, keyAt, horizon, 0, keyBytes) >= 0
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

class Records {
  length = 0
  readonly #view: IndexView
  readonly #limit: number
  /** Keys of `by_token` are answered without the number of the contract. */
  readonly #skipped: number
  readonly #outBytes: number
  readonly #keys: DataView
  #values: DataView
  #valuesEnd = 0
  readonly #ends: number[] = []
  readonly #contracts = new Set<number>()
  #lastContract = -1

  constructor(view: IndexView, limit: number) {
    this.#view = view
    this.#limit = limit
    this.#skipped = view.byContract ? contractBytes : 0
    this.#outBytes = view.keyBytes - this.#skipped
    this.#keys = wordsOf(new Uint8Array(limit * this.#outBytes))
    this.#values = wordsOf(new Uint8Array(limit * 32 + valueBytesMax))
  }

  get isFull(): boolean {
    return this.length >= this.#limit
  }

  /** A record that comes twice, while an index is filled, counts once. */
  add(source: RecordSource): void {
    const outBytes = this.#outBytes
    const at = this.length * outBytes
    const fromAt = source.keyAt + this.#skipped
    if (at > 0 && isSame(this.#keys, at - outBytes, source.keys, fromAt, outBytes)) return
    copyBytes(source.keys, fromAt, this.#keys, at, outBytes)
    if (this.#valuesEnd + valueBytesMax > this.#values.byteLength) this.#growValues()
    source.copyValue(this.#values, this.#valuesEnd)
    const { contractAt } = this.#view
    if (contractAt !== undefined) {
      const contract = this.#values.getUint32(this.#valuesEnd + contractAt)
      if (contract !== this.#lastContract) this.#contracts.add(contract)
      this.#lastContract = contract
    }
    this.#valuesEnd += source.valueLength
    this.#ends.push(this.#valuesEnd)
    this.length++
  }

  #growValues(): void {
    const larger = new Uint8Array(2 * this.#values.byteLength)
    larger.set(bytesIn(this.#values, this.#valuesEnd))
    this.#values = wordsOf(larger)
  }

  done(): FoundRecords {
    return {
      length: this.length,
      keys: bytesIn(this.#keys, this.length * this.#outBytes),
      values: bytesIn(this.#values, this.#valuesEnd),
      valueEnds: this.#ends,
      contracts: this.#contracts,
    }
  }
}

function bytesIn({ buffer, byteOffset }: DataView, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length)
}

/** Neighbours differ near the end. */
function isSame(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  for (let at = length - 1; at >= 0; at--) if (a.getUint8(atA + at) !== b.getUint8(atB + at)) return false
  return true
}

/** The next key, or the one before; undefined beyond the ends. */
function neighbour(key: Uint8Array, by: 1 | -1): Uint8Array | undefined {
  // Not `slice`, which copies nothing of a Buffer.
  const next = Uint8Array.from(key)
  for (let at = next.length - 1; at >= 0; at--) {
    next[at] = next[at]! + by
    if (next[at] !== (by === 1 ? 0 : 255)) return next
  }
  return undefined
}
