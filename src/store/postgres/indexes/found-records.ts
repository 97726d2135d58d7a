// Records of an index that the rows of a statement hold, from tables and packs, put into one order. Pure.
import type { IndexQuery, IndexRecords } from '../../index-reader.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { SortedRecords } from '../../indexes/sorted-records.ts'
import { OpenPack } from '../../runs/open-pack.ts'
import { compareKeys } from '../../runs/pack.ts'
import { blockOfPlace, wordAt } from '../../runs/place-key.ts'
import { bytesOf } from '../arrays.ts'
import type { Row } from '../database.ts'

/** Keys as they are stored, first and last, both included. */
export type AskedRecords = {
  index: IndexView
  from: Uint8Array
  to: Uint8Array
  order: IndexQuery['order']
  limit: number
}

/**
 * What the columns of a row are: keys, values and their lengths; a pack of a run and how many it gives at most; or that
 * the index is kept, without which nothing is found.
 */
export const foundKinds = { rows: 0, pack: 1, kept: 2 } as const

// Records are put together without a pause: one serves all of a thread.
const openPacks = new Map(indexViews.map(index => [index, new OpenPack(index.keyBytes)]))

export function isKept(rows: readonly Row[]): boolean {
  return rows.some(([kind]) => Number(kind) === foundKinds.kept)
}

export class FoundRecords {
  readonly #asked: AskedRecords
  /** Records of higher blocks in packs are left out. */
  readonly #highest: number
  readonly #records: SortedRecords
  #isSorted = false
  /** Beyond the first of these keys records may be missing. */
  #horizon: Uint8Array | undefined

  constructor(asked: AskedRecords, highest = Infinity) {
    this.#asked = asked
    this.#highest = highest
    this.#records = new SortedRecords(asked.index)
  }

  /** False where the statement gave too few packs. */
  take(rows: readonly Row[]): boolean {
    const byRun = new Map<string, { packs: Buffer[]; packsMax: number }>()
    for (const [kind, run, first, second, third, packsMax] of rows)
      if (Number(kind) === foundKinds.rows) {
        if (first !== null && first !== undefined) this.#takeRows(bytesOf(first), bytesOf(second), bytesOf(third))
      } else if (Number(kind) === foundKinds.pack) {
        const ofRun = byRun.get(run!) ?? { packs: [], packsMax: Number(packsMax) }
        byRun.set(run!, ofRun)
        ofRun.packs.push(bytesOf(first))
      }
    if (this.#asked.order === 'keys') this.#takeFirstPacks([...byRun.values()])
    else for (const { packs, packsMax } of byRun.values()) this.#takePacks(packs, packsMax)
    return this.#horizon === undefined || this.#countBefore(this.#horizon) >= this.#asked.limit
  }

  #takeRows(keys: Buffer, values: Buffer, lengths: Buffer): void {
    const { keyBytes } = this.#asked.index
    for (let record = 0, at = 0; record < lengths.length / 4; record++) {
      const end = at + wordAt(lengths, record * 4)
      this.#records.add(keys.subarray(record * keyBytes, (record + 1) * keyBytes), values.subarray(at, end))
      at = end
    }
  }

  /** Records before the first key of a pack are in the packs before it. */
  #takeFirstPacks(runs: readonly { packs: Buffer[]; packsMax: number }[]): void {
    const { keys } = openPacks.get(this.#asked.index)!
    const isCut = runs.reduce((sum, { packs }) => sum + packs.length, 0) >= (runs[0]?.packsMax ?? Infinity)
    for (const { packs } of runs)
      for (const pack of packs) {
        this.#takePacks([pack], Infinity)
        const firstKey = keys.slice(0, this.#asked.index.keyBytes)
        if (isCut && (this.#horizon === undefined || compareKeys(firstKey, this.#horizon) > 0)) this.#horizon = firstKey
      }
  }

  #takePacks(packs: readonly Buffer[], packsMax: number): void {
    const { index, from, to, order, limit } = this.#asked
    const pack = openPacks.get(index)!
    const { keyBytes, placeAt } = index
    const value = new Uint8Array(255)
    const isForward = order === 'keys'
    let last: Uint8Array | undefined
    let taken = 0
    for (const bytes of packs) {
      pack.open(bytes as Uint8Array<ArrayBuffer>)
      for (let at = 0; at < pack.records; at++) {
        const record = isForward ? at : pack.records - 1 - at
        if (isForward ? pack.compare(record, from) < 0 : pack.compare(record, to) > 0) continue
        if (taken === limit || (isForward ? pack.compare(record, to) > 0 : pack.compare(record, from) < 0)) return
        const key = pack.keys.subarray(record * keyBytes, (record + 1) * keyBytes)
        last = key
        if (blockOfPlace(key, placeAt) > this.#highest) continue
        const length = pack.valueLength(record)
        pack.copyValue(record, value, 0)
        this.#records.add(key, value.subarray(0, length))
        taken++
      }
      last = last?.slice()
    }
    if (packs.length < packsMax || taken === limit) return
    // A pack that has nothing of the span stands before it.
    const reached = last ?? (isForward ? from : to)
    if (this.#horizon === undefined || this.#isBefore(reached, this.#horizon)) this.#horizon = reached
  }

  #isBefore(a: Uint8Array, b: Uint8Array): boolean {
    return this.#asked.order === 'keys' ? compareKeys(a, b) < 0 : compareKeys(a, b) > 0
  }

  /** Those at the key itself are known. */
  #countBefore(horizon: Uint8Array): number {
    let count = 0
    for (const rank of this.#ranks()) {
      if (this.#isBefore(horizon, this.#records.keyAt(rank))) break
      count++
    }
    return count
  }

  /** In the order that was asked for, of equal keys one. */
  *#ranks(): Generator<number> {
    const records = this.#isSorted ? this.#records : this.#records.sort()
    this.#isSorted = true
    for (let at = 0; at < records.length; at++) {
      const [rank, before] =
        this.#asked.order === 'keys' ? [at, at - 1] : [records.length - 1 - at, records.length - at]
      if (at === 0 || compareKeys(records.keyAt(before), records.keyAt(rank)) !== 0) yield rank
    }
  }

  with(other: FoundRecords): FoundRecords {
    const both = new FoundRecords(this.#asked)
    for (const { length, keys, values, valueEnds } of [this.records(0), other.records(0)])
      for (let record = 0; record < length; record++) {
        const keyAt = record * this.#asked.index.keyBytes
        const key = keys.subarray(keyAt, keyAt + this.#asked.index.keyBytes)
        both.#records.add(key, values.subarray(valueEnds[record - 1] ?? 0, valueEnds[record]))
      }
    return both
  }

  /** Up to as many as were asked for, keys without the bytes that they begin with. */
  records(withoutBytes: number): Omit<IndexRecords, 'contracts'> {
    const ranks = [...this.#ranks().take(this.#asked.limit)]
    const keys = ranks.map(rank => this.#records.keyAt(rank).subarray(withoutBytes))
    const values = ranks.map(rank => this.#records.valueAt(rank))
    let end = 0
    const valueEnds = values.map(({ length }) => (end += length))
    return { length: ranks.length, keys: Buffer.concat(keys), values: Buffer.concat(values), valueEnds }
  }
}
