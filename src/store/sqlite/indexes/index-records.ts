// Reading the records of an index: those of runs and of the table become one sequence. Callers hold the snapshot.
import type { IndexQuery, IndexRecords } from '../../index-reader.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { compareBytes, copyBytes, wordsOf } from '../../runs/copy-bytes.ts'
import { compareKeys, valueBytesMax } from '../../runs/pack.ts'
import { blockOfPlace, blockOfWord } from '../../runs/place-key.ts'
import type { Connection } from '../connection.ts'
import type { Run } from '../runs/runs.ts'
import { type RecordSource, runSource, tableSource, type Walk } from './record-sources.ts'

export type RecordQuery = Pick<IndexQuery, 'order' | 'limit'> & {
  view: IndexView
  chain: number
  /** Whole keys, also of `by_token`. */
  from: Uint8Array
  to: Uint8Array
  after: Uint8Array | undefined
}

/** `contracts`: the numbers that values name. */
export type FoundRecords = Omit<IndexRecords, 'contracts'> & { contracts: ReadonlySet<number> }

export function readRecords(
  read: Connection,
  runs: readonly WaitingRun[],
  { view, chain, order, limit, from, to, after }: RecordQuery,
): FoundRecords {
  const isUp = order === 'keys'
  const next = after === undefined ? undefined : neighbour(after, isUp ? 1 : -1)
  const [first, last] = isUp ? [later(from, next), to] : [next === undefined ? to : earlier(to, next), from]
  const found = new Records(view, limit)
  const isEmpty = isUp ? compareKeys(first, last) > 0 : compareKeys(first, last) < 0
  if (isEmpty || limit <= 0 || (after !== undefined && next === undefined)) return found.done()
  const walk = { read, view, order, first, last }
  merge(waitingRuns(walk, runs, limit), tableSource(walk, chain, limit), walk, found)
  return found.done()
}

/** A run that need not be opened before the walk gets to its blocks. */
type WaitingRun = Pick<Run, 'id' | 'from' | 'to' | 'records'>

/**
 * Where keys differ in the place alone, runs of other blocks have none of them, and the others come by their blocks.
 */
function waitingRuns(
  { view, order, first, last }: Walk & { view: IndexView },
  runs: readonly WaitingRun[],
  limit: number,
): Waiting {
  const isOneSubject = compareKeys(first.subarray(0, view.placeAt), last.subarray(0, view.placeAt)) === 0
  if (!isOneSubject) {
    const records = runs.reduce((sum, run) => sum + run.records, 0)
    // As if records lay evenly.
    const packsOf = (run: WaitingRun): number => 1 + Math.floor((limit * run.records) / records / recordsPerPack)
    return { runs: [...runs], isOneSubject, packsOf }
  }
  const [a, b] = [blockOfPlace(first, view.placeAt), blockOfPlace(last, view.placeAt)]
  const [lowest, highest] = [Math.min(a, b), Math.max(a, b)]
  const wanted = runs.filter(run => run.from <= highest && run.to >= lowest)
  wanted.sort(order === 'keys' ? (x, y) => x.to - y.to : (x, y) => y.from - x.from)
  return { runs: wanted, isOneSubject, packsOf: () => 1 }
}

/** The next one last. */
type Waiting = { runs: WaitingRun[]; isOneSubject: boolean; packsOf: (run: WaitingRun) => number }

/** Of most indexes. */
const recordsPerPack = 64

function merge(
  waiting: Waiting,
  inTable: RecordSource | undefined,
  walk: Walk & { view: IndexView },
  found: Records,
): void {
  const { keyBytes, placeAt, byContract } = walk.view
  const isUp = walk.order === 'keys'
  // Then all keys are of one contract.
  const skipped = byContract ? contractBytes : 0
  const comparedBytes = keyBytes - skipped
  /** In the order of where they stand. */
  const sources: RecordSource[] = []
  let opened = 0
  if (inTable !== undefined) push(inTable)
  while (!found.isFull) {
    const first = sources[0]
    const run = waiting.runs.at(-1)
    if (run !== undefined && (first === undefined || !waiting.isOneSubject || mayPrecede(run, first))) {
      waiting.runs.pop()
      const source = runSource(walk, { run: run.id, place: opened++, packs: waiting.packsOf(run) })
      if (source !== undefined) push(source)
      continue
    }
    if (first === undefined) return
    found.add(first)
    if (first.step()) settle()
    else sources.shift()
  }

  function mayPrecede(run: WaitingRun, { keys, keyAt }: RecordSource): boolean {
    const block = blockOfWord(keys.getUint32(keyAt + placeAt))
    return isUp ? run.to >= block : run.from <= block
  }

  function push(source: RecordSource): void {
    sources.unshift(source)
    settle()
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

const contractBytes = 4

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
  const next = key.slice()
  for (let at = next.length - 1; at >= 0; at--) {
    next[at] = next[at]! + by
    if (next[at] !== (by === 1 ? 0 : 255)) return next
  }
  return undefined
}

function later(a: Uint8Array, b: Uint8Array | undefined): Uint8Array {
  return b !== undefined && compareKeys(b, a) > 0 ? b : a
}

function earlier(a: Uint8Array, b: Uint8Array): Uint8Array {
  return compareKeys(b, a) < 0 ? b : a
}
