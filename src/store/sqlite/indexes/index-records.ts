// Reading the records of an index: those of runs and of the table become one sequence. Callers hold the snapshot.
import type { Interval } from '../../../model.ts'
import type { IndexQuery, IndexRecords } from '../../index-reader.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { compareKeys, valueBytesMax } from '../../runs/pack.ts'
import { blockOfPlace, wordAt } from '../../runs/place-key.ts'
import type { Connection } from '../connection.ts'
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
  runs: readonly (Interval & { id: number })[],
  { view, chain, order, limit, from, to, after }: RecordQuery,
): FoundRecords {
  const isUp = order === 'keys'
  const next = after === undefined ? undefined : neighbour(after, isUp ? 1 : -1)
  const [first, last] = isUp ? [later(from, next), to] : [next === undefined ? to : earlier(to, next), from]
  const found = new Records(view, limit)
  const isEmpty = isUp ? compareKeys(first, last) > 0 : compareKeys(first, last) < 0
  if (isEmpty || limit <= 0 || (after !== undefined && next === undefined)) return found.done()
  const walk = { read, view, order, first, last }
  merge(waitingRuns(walk, runs), tableSource(walk, chain, limit), walk, found)
  return found.done()
}

/** A run that need not be opened before the walk gets to its blocks. */
type WaitingRun = Interval & { id: number }

/**
 * Where keys differ in the place alone, runs of other blocks have none of them, and the others come by their blocks.
 */
function waitingRuns({ view, order, first, last }: Walk & { view: IndexView }, runs: readonly WaitingRun[]): Waiting {
  const isOneSubject = compareKeys(first.subarray(0, view.placeAt), last.subarray(0, view.placeAt)) === 0
  if (!isOneSubject) return { runs: [...runs], isOneSubject }
  const [a, b] = [blockOfPlace(first, view.placeAt), blockOfPlace(last, view.placeAt)]
  const [lowest, highest] = [Math.min(a, b), Math.max(a, b)]
  const wanted = runs.filter(run => run.from <= highest && run.to >= lowest)
  return { runs: wanted.sort(order === 'keys' ? (x, y) => x.to - y.to : (x, y) => y.from - x.from), isOneSubject }
}

/** The next one last. */
type Waiting = { runs: WaitingRun[]; isOneSubject: boolean }

/**
 * A source with where it stands. Most token ids begin with many zero bytes, which are counted once for each record and
 * not looked at in every comparison; a key with more of them is the lower one.
 */
type Head = { source: RecordSource; keys: Uint8Array; keyAt: number; zeros: number }

function merge(
  waiting: Waiting,
  inTable: RecordSource | undefined,
  walk: Walk & { view: IndexView },
  found: Records,
): void {
  const { keyBytes, placeAt, byContract } = walk.view
  const isUp = walk.order === 'keys'
  // All keys are of one contract.
  const keyStart = byContract ? 4 : 0
  const zerosAt = byContract ? 5 : keyBytes
  const heads: Head[] = []
  let opened = 0
  if (inTable !== undefined) push(inTable)
  while (!found.isFull) {
    const first = heads[0]
    const run = waiting.runs.at(-1)
    if (run !== undefined && (first === undefined || !waiting.isOneSubject || mayPrecede(run, first))) {
      waiting.runs.pop()
      const source = runSource(walk, run.id, opened++)
      if (source !== undefined) push(source)
      continue
    }
    if (first === undefined) return
    found.add(first.source)
    if (first.source.step()) settle()
    else heads.shift()
  }

  function mayPrecede(run: WaitingRun, { keys, keyAt }: Head): boolean {
    const block = blockOfPlace(keys, keyAt + placeAt)
    return isUp ? run.to >= block : run.from <= block
  }

  function push(source: RecordSource): void {
    heads.unshift({ source, keys: source.keys, keyAt: 0, zeros: 0 })
    settle()
  }

  /** Puts the first where it belongs. One run has most records as a rule: the first stays the first mostly. */
  function settle(): void {
    const first = heads[0]!
    first.keyAt = first.source.keyAt
    let zero = first.keyAt + zerosAt
    while (zero < first.keyAt + keyBytes && first.keys[zero] === 0) zero++
    first.zeros = zero - first.keyAt - zerosAt
    let at = 0
    while (at + 1 < heads.length && isBefore(heads[at + 1]!, first)) {
      heads[at] = heads[at + 1]!
      at++
    }
    heads[at] = first
  }

  function isBefore(a: Head, b: Head): boolean {
    const order = compare(a, b)
    return isUp ? order < 0 : order > 0
  }

  function compare(a: Head, b: Head): number {
    for (let at = keyStart; at < keyBytes; at++) {
      if (at === zerosAt) {
        if (a.zeros !== b.zeros) return b.zeros - a.zeros
        at += a.zeros
      }
      const difference = a.keys[a.keyAt + at]! - b.keys[b.keyAt + at]!
      if (difference !== 0) return difference
    }
    return 0
  }
}

class Records {
  length = 0
  readonly #view: IndexView
  readonly #limit: number
  /** Keys of `by_token` are answered without the number of the contract. */
  readonly #skipped: number
  readonly #outBytes: number
  readonly #keys: Uint8Array
  #values: Uint8Array
  #valuesEnd = 0
  readonly #ends: number[] = []
  readonly #contracts = new Set<number>()
  #lastContract = -1

  constructor(view: IndexView, limit: number) {
    this.#view = view
    this.#limit = limit
    this.#skipped = view.byContract ? 4 : 0
    this.#outBytes = view.keyBytes - this.#skipped
    this.#keys = new Uint8Array(limit * this.#outBytes)
    this.#values = new Uint8Array(limit * 32 + valueBytesMax)
  }

  get isFull(): boolean {
    return this.length >= this.#limit
  }

  /** A record that comes twice, while an index is filled, counts once. */
  add(source: RecordSource): void {
    const { keys: from, keyAt } = source
    const outBytes = this.#outBytes
    const keys = this.#keys
    const at = this.length * outBytes
    const fromAt = keyAt + this.#skipped
    if (at > 0 && isSame(keys, at - outBytes, from, fromAt, outBytes)) return
    for (let byte = 0; byte < outBytes; byte++) keys[at + byte] = from[fromAt + byte]!
    if (this.#valuesEnd + valueBytesMax > this.#values.length) {
      const larger = new Uint8Array(2 * this.#values.length)
      larger.set(this.#values)
      this.#values = larger
    }
    source.copyValue(this.#values, this.#valuesEnd)
    const { contractAt } = this.#view
    if (contractAt !== undefined) {
      const contract = wordAt(this.#values, this.#valuesEnd + contractAt)
      if (contract !== this.#lastContract) this.#contracts.add(contract)
      this.#lastContract = contract
    }
    this.#valuesEnd += source.valueLength
    this.#ends.push(this.#valuesEnd)
    this.length++
  }

  done(): FoundRecords {
    return {
      length: this.length,
      keys: this.#keys.subarray(0, this.length * this.#outBytes),
      values: this.#values.subarray(0, this.#valuesEnd),
      valueEnds: this.#ends,
      contracts: this.#contracts,
    }
  }
}

/** Neighbours differ near the end. */
function isSame(a: Uint8Array, atA: number, b: Uint8Array, atB: number, length: number): boolean {
  for (let at = length - 1; at >= 0; at--) if (a[atA + at] !== b[atB + at]) return false
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
