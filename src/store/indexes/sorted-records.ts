// The records that many transfers add to an index, in the order of keys. No object for each: it is on the way of every
// bulk commit. Pure.
import { highHalf, lowHalf } from '../packed-activity.ts'
import type { PackWriter } from '../runs/pack.ts'
import { wordAt } from '../runs/place-key.ts'
import type { AddRecord, IndexView } from '../runs/view.ts'

const recordsAtFirst = 256
const valueBytesUsual = 48

export class SortedRecords {
  length = 0
  readonly #keyBytes: number
  #keys: Uint8Array
  #values = new Uint8Array(recordsAtFirst * valueBytesUsual)
  /** Where each value ends. */
  readonly #ends: number[] = []
  /** By rank, once they are sorted. */
  #order = new Uint32Array(0)

  constructor({ keyBytes }: Pick<IndexView, 'keyBytes'>) {
    this.#keyBytes = keyBytes
    this.#keys = new Uint8Array(recordsAtFirst * keyBytes)
  }

  readonly add: AddRecord = (key, value) => {
    const at = this.length * this.#keyBytes
    const valueAt = this.#ends[this.length - 1] ?? 0
    if (at === this.#keys.length) this.#keys = twice(this.#keys, at)
    if (valueAt + value.length > this.#values.length) this.#values = twice(this.#values, valueAt + value.length)
    this.#keys.set(key, at)
    this.#values.set(value, valueAt)
    this.#ends.push(valueAt + value.length)
    this.length++
  }

  /** Before records are read. The first bytes that differ, as integers, decide most: faster than comparing keys. */
  sort(): this {
    const { length } = this
    const keyBytes = this.#keyBytes
    const wordFrom = Math.min(this.#sharedBytes(), keyBytes - 4)
    const ranked = new BigUint64Array(length)
    const halves = new Uint32Array(ranked.buffer)
    for (let record = 0; record < length; record++) {
      halves[2 * record + lowHalf] = record
      halves[2 * record + highHalf] = wordAt(this.#keys, record * keyBytes + wordFrom)
    }
    ranked.sort()
    const order = new Uint32Array(length)
    for (let rank = 0; rank < length; rank++) order[rank] = halves[2 * rank + lowHalf]!
    const rest = keyBytes - wordFrom - 4
    const compare = (a: number, b: number): number =>
      compareAt(this.#keys, (a + 1) * keyBytes - rest, (b + 1) * keyBytes - rest, rest)
    for (let start = 0; start < length; ) {
      let stop = start + 1
      while (stop < length && halves[2 * stop + highHalf] === halves[2 * start + highHalf]) stop++
      if (stop > start + 1) order.subarray(start, stop).sort(compare)
      start = stop
    }
    this.#order = order
    return this
  }

  /** With how many bytes all keys begin alike. */
  #sharedBytes(): number {
    const [keys, keyBytes] = [this.#keys, this.#keyBytes]
    let shared = keyBytes
    for (let key = keyBytes; key < this.length * keyBytes && shared > 0; key += keyBytes)
      for (let at = 0; at < shared; at++) if (keys[key + at] !== keys[at]) shared = at
    return shared
  }

  keyAt(rank: number): Uint8Array {
    const at = this.#order[rank]! * this.#keyBytes
    return this.#keys.subarray(at, at + this.#keyBytes)
  }

  valueAt(rank: number): Uint8Array {
    const record = this.#order[rank]!
    return this.#values.subarray(this.#ends[record - 1] ?? 0, this.#ends[record]!)
  }

  /** A key that comes twice, which no true chain has, is written once. `writerOf` is told where a key begins. */
  spreadTo(writerOf: (keys: Uint8Array, keyAt: number) => PackWriter): void {
    const keyBytes = this.#keyBytes
    const [keys, values, ends, order] = [this.#keys, this.#values, this.#ends, this.#order]
    for (let rank = 0, before = -1; rank < this.length; rank++) {
      const record = order[rank]!
      const keyAt = record * keyBytes
      if (before >= 0 && isSameAt(keys, before, keyAt, keyBytes)) continue
      const valueAt = record === 0 ? 0 : ends[record - 1]!
      writerOf(keys, keyAt).add(keys, values, ends[record]! - valueAt, keyAt, valueAt)
      before = keyAt
    }
  }
}

/** Neighbours differ near the end. */
function isSameAt(keys: Uint8Array, a: number, b: number, keyBytes: number): boolean {
  for (let at = keyBytes - 1; at >= 0; at--) if (keys[a + at] !== keys[b + at]) return false
  return true
}

function twice(bytes: Uint8Array, atLeast: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(2 * bytes.length, atLeast))
  larger.set(bytes)
  return larger
}

function compareAt(keys: Uint8Array, a: number, b: number, length: number): number {
  for (let at = 0; at < length; at++) {
    const difference = keys[a + at]! - keys[b + at]!
    if (difference !== 0) return difference
  }
  return 0
}
