// A pack with its records side by side, for who needs some of them, or in the other order: values are put together only
// when they are asked for, which takes a third of the time of a `PackReader` (pack.ts, which says what the bytes mean).
// Pure.
import { packBytesMax, recordHeaderBytes, valueBytesMax } from './pack.ts'

/** A record adds at least one byte of its key. */
const recordsMax = Math.ceil(packBytesMax / (recordHeaderBytes + 1))

/** One serves any number of packs, one after the other: its memory is for the largest that there can be. */
export class OpenPack {
  records = 0
  /** One after the other. */
  readonly keys: Uint8Array
  readonly #keyBytes: number
  readonly #lengths = new Uint8Array(recordsMax)
  readonly #shared = new Uint8Array(recordsMax)
  /** Where the bytes begin that a value does not share with the one before. */
  readonly #restAts = new Uint16Array(recordsMax)
  #bytes = new Uint8Array(0)
  /** All values one after the other, once one was asked for among many. */
  #values = new Uint8Array(0)
  readonly #valueAts = new Uint32Array(recordsMax)
  #hasValues = false

  constructor(keyBytes: number) {
    this.#keyBytes = keyBytes
    this.keys = new Uint8Array(recordsMax * keyBytes)
  }

  open(bytes: Uint8Array<ArrayBuffer>): void {
    const keyBytes = this.#keyBytes
    const { keys } = this
    let record = 0
    let keyAt = 0
    for (let at = 0; at < bytes.length; record++) {
      const keyRest = keyAt + (bytes[at]! & 63)
      const keyEnd = keyAt + keyBytes
      const restEnd = keyEnd - (bytes[at]! >>> 6)
      const shared = bytes[at + 1]!
      const length = bytes[at + 2]!
      at += recordHeaderBytes
      for (; keyAt < keyRest; keyAt++) keys[keyAt] = keys[keyAt - keyBytes]!
      for (; keyAt < restEnd; keyAt++) keys[keyAt] = bytes[at++]!
      for (; keyAt < keyEnd; keyAt++) keys[keyAt] = keys[keyAt - keyBytes]!
      this.#lengths[record] = length
      this.#shared[record] = shared
      this.#restAts[record] = at
      at += length - shared
    }
    this.records = record
    this.#bytes = bytes
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
  copyOneOfMany(record: number, target: Uint8Array, at: number): void {
    if (!this.#hasValues) this.#putTogether()
    const values = this.#values
    const from = this.#valueAts[record]!
    const length = this.#lengths[record]!
    for (let byte = 0; byte < length; byte++) target[at + byte] = values[from + byte]!
  }

  #putTogether(): void {
    const bytes = this.#bytes
    if (this.#values.length < this.records * valueBytesMax) this.#values = new Uint8Array(recordsMax * valueBytesMax)
    const values = this.#values
    let before = 0
    let at = 0
    for (let record = 0; record < this.records; record++) {
      const shared = this.#shared[record]!
      const rest = this.#restAts[record]! - shared
      const length = this.#lengths[record]!
      this.#valueAts[record] = at
      for (let byte = 0; byte < shared; byte++) values[at + byte] = values[before + byte]!
      for (let byte = shared; byte < length; byte++) values[at + byte] = bytes[rest + byte]!
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
}
