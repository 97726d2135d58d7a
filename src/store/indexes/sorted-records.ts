// The records that many transfers add to an index, and other rows, in the order of keys. No object for each: it is on
// the way of every bulk commit. Pure.
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

  /** Before records are read. */
  sort(): this {
    const keyBytes = this.#keyBytes
    const wordFrom = Math.min(this.#sharedBytes(), keyBytes - 4)
    this.#order = rowsInOrder(this.#keys, { count: this.length, rowBytes: keyBytes, keyBytes, wordFrom })
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

/** Which half of a 64-bit integer comes first in memory depends on the machine. */
const [lowHalf, highHalf] =
  new Uint32Array(new BigUint64Array([1n]).buffer)[0] === 1 ? ([0, 1] as const) : ([1, 0] as const)

/**
 * The numbers of rows of one length in the order of the keys that they begin with. Four bytes as integers, with the
 * number of the row below them, decide most: that is several times as fast as comparing keys. Keys are alike up to
 * `wordFrom`, where these four begin.
 */
export function rowsInOrder(
  bytes: Uint8Array,
  { count, rowBytes, keyBytes, wordFrom }: { count: number; rowBytes: number; keyBytes: number; wordFrom: number },
): Uint32Array<ArrayBuffer> {
  const ranked = new BigUint64Array(count)
  const halves = new Uint32Array(ranked.buffer)
  for (let row = 0; row < count; row++) {
    halves[2 * row + lowHalf] = row
    halves[2 * row + highHalf] = wordAt(bytes, row * rowBytes + wordFrom)
  }
  ranked.sort()
  const rows = new Uint32Array(count)
  for (let rank = 0; rank < count; rank++) rows[rank] = halves[2 * rank + lowHalf]!
  const restFrom = wordFrom + 4
  const compare = (a: number, b: number): number =>
    compareAt(bytes, a * rowBytes + restFrom, b * rowBytes + restFrom, keyBytes - restFrom)
  for (let start = 0; start < count; ) {
    let stop = start + 1
    let isInOrder = true
    for (; stop < count && halves[2 * stop + highHalf] === halves[2 * start + highHalf]; stop++)
      isInOrder &&= compare(rows[stop - 1]!, rows[stop]!) <= 0
    if (!isInOrder) rows.subarray(start, stop).sort(compare)
    start = stop
  }
  return rows
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
