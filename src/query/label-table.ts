// Labels of addresses, ready to be copied into an answer: found by the bytes of an address, kept as the bytes of a JSON text. Nothing
// is ever changed or taken out, so that a page may go on reading a table that is no longer added to.
import { crc32 } from 'node:zlib'
import { addressHash } from '../store/address-hash.ts'

/** No label for this address; others count from 1 on. */
export const noLabel = 0
/** Nothing is known of this address. */
export const unknownLabel = -1

const addressBytes = 20
const slotsMin = 1_024

/** One number for each address, and arrays of plain numbers behind it: 100,000 objects would be work for every collection. */
export class LabelTable {
  /** Open addressing over the entries, at most half full; 0 is free, others count from 1 on. */
  #slots = new Int32Array(slotsMin)
  #addresses = new Uint8Array((slotsMin / 2) * addressBytes)
  /** By entry: the label's number. */
  #labels: number[] = []
  #texts = new Uint8Array(slotsMin * 16)
  /** By label: where its text ends, and so where the next one's begins. */
  #ends = [0]
  #checksums = [0]

  /** About what it takes of memory. */
  get bytes(): number {
    const lists = this.#labels.length + this.#ends.length + this.#checksums.length
    return this.#slots.byteLength + this.#addresses.byteLength + this.#texts.byteLength + lists * 8
  }

  /** The number of the label of the address at `at`, `noLabel` or `unknownLabel`. */
  numberOf(bytes: Uint8Array, at: number): number {
    const entry = this.#slots[this.#slotOf(bytes, at)]!
    return entry === 0 ? unknownLabel : this.#labels[entry - 1]!
  }

  /** What is known already stays as it is. */
  add(bytes: Uint8Array, at: number, label: string | undefined): void {
    if (this.#slots[this.#slotOf(bytes, at)] !== 0) return
    if (this.#labels.length * 2 >= this.#slots.length) this.#grow()
    const entry = this.#labels.push(label === undefined ? noLabel : this.#addText(label))
    this.#addresses.set(bytes.subarray(at, at + addressBytes), (entry - 1) * addressBytes)
    this.#slots[this.#slotOf(bytes, at)] = entry
  }

  /** How many bytes the label takes in JSON, with its quotes. */
  lengthOf(label: number): number {
    return this.#ends[label]! - this.#ends[label - 1]!
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    return this.#checksums[label]!
  }

  /** Copies the label's JSON; returns where it ends. A loop, because a view and `set` cost more than the 30 bytes of a label. */
  put(out: Uint8Array, at: number, label: number): number {
    const texts = this.#texts
    const start = this.#ends[label - 1]!
    const length = this.#ends[label]! - start
    for (let index = 0; index < length; index++) out[at + index] = texts[start + index]!
    return at + length
  }

  /** Where the address is, or the free slot where it belongs. */
  #slotOf(bytes: Uint8Array, at: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = addressHash(bytes, at) & mask
    while (slots[slot] !== 0 && !this.#isAt(slots[slot]! - 1, bytes, at)) slot = (slot + 1) & mask
    return slot
  }

  #isAt(entry: number, bytes: Uint8Array, at: number): boolean {
    const addresses = this.#addresses
    const start = entry * addressBytes
    for (let index = 0; index < addressBytes; index++) if (addresses[start + index] !== bytes[at + index]) return false
    return true
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2)
    this.#addresses = longer(this.#addresses, this.#addresses.length * 2)
    for (let entry = 0; entry < this.#labels.length; entry++)
      this.#slots[this.#slotOf(this.#addresses, entry * addressBytes)] = entry + 1
  }

  #addText(label: string): number {
    const text = Buffer.from(JSON.stringify(label))
    const start = this.#ends.at(-1)!
    if (start + text.length > this.#texts.length)
      this.#texts = longer(this.#texts, this.#texts.length * 2 + text.length)
    this.#texts.set(text, start)
    this.#checksums.push(crc32(text))
    return this.#ends.push(start + text.length) - 1
  }
}

function longer(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(length)
  copy.set(bytes)
  return copy
}
