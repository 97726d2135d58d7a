// Packs: sorted records in as many bytes as one page of a database holds. A record is a key of fixed length and a
// value; of both only what differs from the record before is written, from where it begins to differ. Pure.
//
//   byte 0   how many bytes the key shares with the one before: at its start (6 bits), at its end (2 bits)
//   byte 1   how many bytes the value shares with the one before, at its start
//   byte 2   the length of the value
//   …        the rest of the key, the rest of the value

/** A cell of this size fills one page of SQLite (4,096 bytes) without overflow. */
export const packBytesMax = 4_050
export const recordHeaderBytes = 3
/** A record adds at least one byte of its key. */
export const recordsMax = Math.ceil(packBytesMax / (recordHeaderBytes + 1))
const keyBytesMax = 63
export const valueBytesMax = 255
const endSharedMax = 3

/** Walks the records of packs, one after the other. `key` and `value` are overwritten by each step. */
export class PackReader {
  readonly key: Uint8Array
  readonly keyWords: DataView
  readonly value = new Uint8Array(valueBytesMax)
  readonly valueWords = wordsOf(this.value)
  valueLength = 0
  /** The first six bytes of the key, which decide most comparisons. */
  prefix = 0
  #bytes: Uint8Array = new Uint8Array(0)
  #words = wordsOf(this.#bytes)
  #at = 0

  constructor(keyBytes: number) {
    this.key = new Uint8Array(keyBytes)
    this.keyWords = wordsOf(this.key)
  }

  open(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#words = wordsOf(bytes)
    this.#at = 0
  }

  /** False at the end of the pack. */
  next(): boolean {
    const bytes = this.#bytes
    let at = this.#at
    if (at >= bytes.length) return false
    const words = this.#words
    const keyShared = bytes[at]! & 63
    const keyRest = this.key.length - (bytes[at]! >>> 6) - keyShared
    const valueShared = bytes[at + 1]!
    const length = bytes[at + 2]!
    at += recordHeaderBytes
    copyBytes(words, at, this.keyWords, keyShared, keyRest)
    copyBytes(words, at + keyRest, this.valueWords, valueShared, length - valueShared)
    this.valueLength = length
    if (keyShared < 6) this.prefix = prefixOf(this.key)
    this.#at = at + keyRest + length - valueShared
    return true
  }
}

export function prefixOf(key: Uint8Array): number {
  return ((key[0]! << 8) | key[1]!) * 2 ** 32 + (((key[2]! << 24) | (key[3]! << 16) | (key[4]! << 8) | key[5]!) >>> 0)
}

export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < a.length; at++) {
    const difference = a[at]! - b[at]!
    if (difference !== 0) return difference
  }
  return 0
}

export type Pack = { firstKey: Uint8Array; bytes: Uint8Array; records: number }

/** Takes records in the order of their keys and gives full packs. */
export class PackWriter {
  readonly #keyBytes: number
  readonly #emit: (pack: Pack) => void
  readonly #bytesMax: number
  readonly #bytes = new Uint8Array(packBytesMax)
  readonly #firstKey: Uint8Array
  readonly #lastKey: Uint8Array
  readonly #lastValue = new Uint8Array(valueBytesMax)
  #lastLength = 0
  #at = 0
  #records = 0

  constructor(keyBytes: number, emit: (pack: Pack) => void, bytesMax = packBytesMax) {
    if (keyBytes > keyBytesMax) throw new RangeError(`A key of ${keyBytes} bytes is longer than ${keyBytesMax}.`)
    this.#keyBytes = keyBytes
    this.#emit = emit
    this.#bytesMax = bytesMax
    this.#firstKey = new Uint8Array(keyBytes)
    this.#lastKey = new Uint8Array(keyBytes)
  }

  /** `keyAt`, `valueAt`: where both begin in what is given, which spares two objects for each record. */
  add(key: Uint8Array, value: Uint8Array, length: number, keyAt = 0, valueAt = 0): void {
    if (length > valueBytesMax) throw new RangeError(`A value of ${length} bytes is longer than ${valueBytesMax}.`)
    const keyBytes = this.#keyBytes
    const lastKey = this.#lastKey
    const lastValue = this.#lastValue
    let keyShared = 0
    let endShared = 0
    let valueShared = 0
    if (this.#records > 0) {
      while (keyShared < keyBytes && key[keyAt + keyShared] === lastKey[keyShared]) keyShared++
      const endMost = Math.min(endSharedMax, keyBytes - keyShared)
      while (endShared < endMost && key[keyAt + keyBytes - 1 - endShared] === lastKey[keyBytes - 1 - endShared])
        endShared++
      const most = Math.min(length, this.#lastLength)
      while (valueShared < most && value[valueAt + valueShared] === lastValue[valueShared]) valueShared++
    }
    if (
      this.#at + recordHeaderBytes + keyBytes - keyShared - endShared + length - valueShared > this.#bytesMax &&
      this.#records > 0
    ) {
      this.flush()
      keyShared = 0
      endShared = 0
      valueShared = 0
    }
    const bytes = this.#bytes
    let at = this.#at
    if (this.#records === 0) for (let place = 0; place < keyBytes; place++) this.#firstKey[place] = key[keyAt + place]!
    bytes[at] = keyShared | (endShared << 6)
    bytes[at + 1] = valueShared
    bytes[at + 2] = length
    at += recordHeaderBytes
    for (let place = keyShared; place < keyBytes - endShared; place++) {
      const byte = key[keyAt + place]!
      bytes[at++] = byte
      lastKey[place] = byte
    }
    for (let place = valueShared; place < length; place++) {
      const byte = value[valueAt + place]!
      bytes[at++] = byte
      lastValue[place] = byte
    }
    this.#lastLength = length
    this.#at = at
    this.#records++
  }

  flush(): void {
    if (this.#records === 0) return
    this.#emit({ firstKey: this.#firstKey.slice(), bytes: this.#bytes.slice(0, this.#at), records: this.#records })
    this.#at = 0
    this.#records = 0
  }
}

// Some ten bytes, as keys and values are, are copied and compared several at a time: that takes less than half the time
// of single bytes, or of a call of `set`.

export function wordsOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Both may be the same bytes where the target begins after what is copied. */
export function copyBytes(from: DataView, fromAt: number, to: DataView, toAt: number, length: number): void {
  let at = 0
  // No object is made of a number that is written at once.
  for (const end = length - 7; at < end; at += 8) to.setBigInt64(toAt + at, from.getBigInt64(fromAt + at))
  for (; at < length; at++) to.setInt8(toAt + at, from.getInt8(fromAt + at))
}

/** Below 0 where the first come before the second. */
export function compareBytes(a: DataView, aAt: number, b: DataView, bAt: number, length: number): number {
  let at = 0
  for (const end = length - 3; at < end; at += 4) {
    const difference = a.getUint32(aAt + at) - b.getUint32(bAt + at)
    if (difference !== 0) return difference
  }
  for (; at < length; at++) {
    const difference = a.getUint8(aAt + at) - b.getUint8(bAt + at)
    if (difference !== 0) return difference
  }
  return 0
}
