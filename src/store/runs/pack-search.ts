// Finds single records in packs (pack.ts, which says what the bytes mean). What a key shares with the one before tells
// of most records, without a look at them, that they come before the key that is looked for; the value is put together
// of the one that is found alone. Pure.
import { recordHeaderBytes, recordsMax } from './pack.ts'

/** One serves any number of packs, one after the other. */
export class PackSearch {
  /** Of the record that it stands on; overwritten by the next search. */
  readonly key: Uint8Array
  #bytes: Uint8Array = new Uint8Array(0)
  #record = -1
  /** Where the header of each record is, up to the one that it stands on. */
  readonly #headerAts = new Uint16Array(recordsMax)

  constructor(keyBytes: number) {
    this.key = new Uint8Array(keyBytes)
  }

  /** Stands on the last record at or before a key; false where all come after it. */
  lastUpTo(bytes: Uint8Array, wanted: Uint8Array): boolean {
    const { key } = this
    const keyBytes = key.length
    const headerAts = this.#headerAts
    let record = 0
    /** With how many bytes the key of the record before begins like the wanted one. */
    let alike = 0
    for (let at = 0; at < bytes.length; record++) {
      const shared = bytes[at]! & 63
      const keyEnd = keyBytes - (bytes[at]! >>> 6)
      const restAt = at + recordHeaderBytes - shared
      // Keys ascend: one that differs sooner from the one before is beyond the wanted key too.
      if (shared < alike) break
      if (shared === alike) {
        let place = shared
        let difference = 0
        for (; place < keyBytes && difference === 0; place++)
          difference = (place < keyEnd ? bytes[restAt + place]! : key[place]!) - wanted[place]!
        if (difference > 0) break
        alike = difference === 0 ? keyBytes : place - 1
      }
      for (let place = shared; place < keyEnd; place++) key[place] = bytes[restAt + place]!
      headerAts[record] = at
      at = restAt + keyEnd + bytes[at + 2]! - bytes[at + 1]!
    }
    this.#bytes = bytes
    this.#record = record - 1
    return record > 0
  }

  /** Whether the key that it stands on begins like another. */
  isAt(wanted: Uint8Array, length = wanted.length): boolean {
    for (let place = length - 1; place >= 0; place--) if (this.key[place] !== wanted[place]) return false
    return true
  }

  /** Of the record that it stands on. */
  value(): Uint8Array {
    const bytes = this.#bytes
    const value = new Uint8Array(bytes[this.#headerAts[this.#record]! + 2]!)
    let missing = value.length
    for (let record = this.#record; missing > 0; record--) {
      const at = this.#headerAts[record]!
      const shared = bytes[at + 1]!
      const keyRest = this.key.length - (bytes[at]! & 63) - (bytes[at]! >>> 6)
      const from = at + recordHeaderBytes + keyRest - shared
      for (let place = shared; place < missing; place++) value[place] = bytes[from + place]!
      missing = Math.min(missing, shared)
    }
    return value
  }
}
