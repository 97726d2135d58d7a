// Finds single records in packs (pack.ts, which says what the bytes mean). What a key shares with the one before tells
// of most records, without a look at them, that they come before the key that is looked for; key and value are put
// together of the one that is found alone. Pure.
import { recordHeaderBytes, recordsMax } from './pack.ts'

/** One serves any number of packs, one after the other. */
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
