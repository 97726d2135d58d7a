// A pack with its records side by side, for who needs some of them, or in the other order: values are put together only
// when they are asked for, which takes a third of the time of a `PackReader` (pack.ts, which says what the bytes mean).
// Pure.
import { copyBytes, wordsOf } from './copy-bytes.ts'
import { recordHeaderBytes, recordsMax, valueBytesMax } from './pack.ts'

/** One serves any number of packs, one after the other: its memory is for the largest that there can be. */
export class OpenPack {
  records = 0
  /** One after the other. */
  readonly keys: Uint8Array
  readonly keyWords: DataView
  readonly #keyBytes: number
  readonly #lengths = new Uint8Array(recordsMax)
  readonly #shared = new Uint8Array(recordsMax)
  /** Where the bytes begin that a value does not share with the one before. */
  readonly #restAts = new Uint16Array(recordsMax)
  #bytes = new Uint8Array(0)
  #words = wordsOf(this.#bytes)
  /** All values one after the other, once one was asked for among many. */
  #values = wordsOf(new Uint8Array(0))
  readonly #valueAts = new Uint32Array(recordsMax)
  #hasValues = false

  constructor(keyBytes: number) {
    this.#keyBytes = keyBytes
    this.keys = new Uint8Array(recordsMax * keyBytes)
    this.keyWords = wordsOf(this.keys)
  }

  open(bytes: Uint8Array<ArrayBuffer>): void {
    const keyBytes = this.#keyBytes
    const { keys, keyWords } = this
    const words = wordsOf(bytes)
    let record = 0
    let keyAt = 0
    for (let at = 0; at < bytes.length; record++) {
      const keyShared = bytes[at]! & 63
      const endShared = bytes[at]! >>> 6
      const shared = bytes[at + 1]!
      const length = bytes[at + 2]!
      at += recordHeaderBytes
      const rest = keyBytes - keyShared - endShared
      copyBytes(keyWords, keyAt - keyBytes, keyWords, keyAt, keyShared)
      copyBytes(words, at, keyWords, keyAt + keyShared, rest)
      at += rest
      keyAt += keyBytes
      for (let end = keyAt - endShared; end < keyAt; end++) keys[end] = keys[end - keyBytes]!
      this.#lengths[record] = length
      this.#shared[record] = shared
      this.#restAts[record] = at
      at += length - shared
    }
    this.records = record
    this.#bytes = bytes
    this.#words = words
    this.#hasValues = false
  }

  valueLength(record: number): number {
    return this.#lengths[record]!
  }

  /** Writes the value of a record to where the target has room for it. */
  copyValue(record: number, target: Uint8Array, at: number): void {
    const bytes = this.#bytes
    const shared = this.#shared[record]!
    const restAt = this.#restAts[record]!
    // A call for each value: bytes one by one take three times as long.
    target.set(bytes.subarray(restAt, restAt + this.#lengths[record]! - shared), at + shared)
    for (let missing = shared, from = record - 1; missing > 0; from--) {
      const known = this.#shared[from]!
      for (let byte = known; byte < missing; byte++) target[at + byte] = bytes[this.#restAts[from]! + byte - known]!
      missing = Math.min(missing, known)
    }
  }

  /** The same for who reads most of a pack: all values are put together at the first, each from the one before. */
  copyOneOfMany(record: number, target: DataView, at: number): void {
    if (!this.#hasValues) this.#putTogether()
    copyBytes(this.#values, this.#valueAts[record]!, target, at, this.#lengths[record]!)
  }

  #putTogether(): void {
    const words = this.#words
    if (this.#values.byteLength === 0) this.#values = wordsOf(new Uint8Array(recordsMax * valueBytesMax))
    const values = this.#values
    let before = 0
    let at = 0
    for (let record = 0; record < this.records; record++) {
      const shared = this.#shared[record]!
      const length = this.#lengths[record]!
      this.#valueAts[record] = at
      copyBytes(values, before, values, at, shared)
      copyBytes(words, this.#restAts[record]!, values, at + shared, length - shared)
      before = at
      at += length
    }
    this.#hasValues = true
  }

  /** Below 0 where the key of the record comes before the given one. */
  compare(record: number, key: Uint8Array): number {
    const keyAt = record * this.#keyBytes
    for (let at = 0; at < key.length; at++) {
      const difference = this.keys[keyAt + at]! - key[at]!
      if (difference !== 0) return difference
    }
    return 0
  }

  /** How many records come before a key. */
  countBelow(key: Uint8Array): number {
    let [low, high] = [0, this.records]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(middle, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The last record at or before a key; -1 where there is none. */
  lastUpTo(key: Uint8Array): number {
    const below = this.countBelow(key)
    return below < this.records && this.compare(below, key) === 0 ? below : below - 1
  }
}
