// Reading packs other than from their start: with all records side by side, or for one record alone. pack.ts says what
// the bytes mean. Pure.
import { copyBytes, recordHeaderBytes, recordsMax, valueBytesMax, wordsOf } from './pack.ts'

/**
 * A pack with its records side by side, in either order: values are put together only when they are asked for, which
 * takes a third of the time of a `PackReader`. One serves any number of packs, one after the other: its memory is for
 * the largest that there can be.
 */
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
  #words = wordsOf(new Uint8Array(0))
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
    this.#words = words
    this.#hasValues = false
  }

  valueLength(record: number): number {
    return this.#lengths[record]!
  }

  /** The first call puts all values together, each from the one before: of an open pack most are read. */
  copyValue(record: number, target: DataView, at: number): void {
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

  /** The last record at or before a key; -1 where there is none. */
  lastUpTo(key: Uint8Array): number {
    let [low, high] = [0, this.records]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(middle, key) <= 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/**
 * Finds single records. What a key shares with the one before tells of most records, without a look at them, that they
 * come before the key that is looked for; key and value are put together of the one that is found alone. One serves any
 * number of packs, one after the other.
 */
export class PackSearch {
  readonly #keyBytes: number
  #bytes: Uint8Array = new Uint8Array(0)
  /** Where each record begins, up to the one that it stands on. */
  readonly #recordAts = new Uint16Array(recordsMax)
  #record = -1
  #alike = 0

  constructor(keyBytes: number) {
    this.#keyBytes = keyBytes
  }

  /** Stands on the last record at or before a key; false where all come after it. */
  lastUpTo(bytes: Uint8Array, wanted: Uint8Array): boolean {
    const recordAts = this.#recordAts
    const keyBytes = this.#keyBytes
    this.#bytes = bytes
    let record = 0
    /** With how many bytes the key of the record before begins like the wanted one. */
    let alike = 0
    for (let at = 0; at < bytes.length; record++) {
      const shared = bytes[at]! & 63
      // Keys ascend: one that differs sooner from the one before is beyond the wanted key too.
      if (shared < alike) break
      recordAts[record] = at
      if (shared === alike) {
        while (alike < keyBytes && this.#keyByte(record, alike) === wanted[alike]) alike++
        if (alike < keyBytes && this.#keyByte(record, alike) > wanted[alike]!) {
          alike = shared
          break
        }
      }
      at += recordHeaderBytes + keyBytes - shared - (bytes[at]! >>> 6) + bytes[at + 2]! - bytes[at + 1]!
    }
    this.#alike = alike
    this.#record = record - 1
    return record > 0
  }

  /** Whether the key that it stands on begins like the wanted one. */
  isAlike(length = this.#keyBytes): boolean {
    return this.#alike >= length
  }

  /** The end of the key that it stands on. */
  keyFrom(start: number): Uint8Array {
    const end = new Uint8Array(this.#keyBytes - start)
    for (let place = 0; place < end.length; place++) end[place] = this.#keyByte(this.#record, start + place)
    return end
  }

  /** Of the record that it stands on. */
  value(): Uint8Array {
    const bytes = this.#bytes
    const value = new Uint8Array(bytes[this.#recordAts[this.#record]! + 2]!)
    let missing = value.length
    for (let record = this.#record; missing > 0; record--) {
      const at = this.#recordAts[record]!
      const shared = bytes[at + 1]!
      const keyRest = this.#keyBytes - (bytes[at]! & 63) - (bytes[at]! >>> 6)
      const from = at + recordHeaderBytes + keyRest - shared
      for (let place = shared; place < missing; place++) value[place] = bytes[from + place]!
      missing = Math.min(missing, shared)
    }
    return value
  }

  /** What a record does not have, one before it has. */
  #keyByte(of: number, place: number): number {
    const bytes = this.#bytes
    for (let record = of; ; record--) {
      const at = this.#recordAts[record]!
      const shared = bytes[at]! & 63
      if (place >= shared && place < this.#keyBytes - (bytes[at]! >>> 6))
        return bytes[at + recordHeaderBytes + place - shared]!
    }
  }
}
