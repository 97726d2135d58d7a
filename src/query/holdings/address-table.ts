// Addresses as small numbers, each once: 20 bytes and about 12 of a hash table for each. Numbers stay as they are, so
// a sheet and those that are made of it share one. It knows nothing of what addresses stand for.
import { randomInt } from 'node:crypto'
import type { Address } from '../../model.ts'
import { wordAt } from '../../store/runs/place-key.ts'
import { Pace } from '../pace.ts'
import { sortedByWord } from './sort-by-word.ts'

const addressBytes = 20
/** Not the number of an address: the zero address, or an unknown one. */
export const noAddress = 0xffff_ffff

/** Random, because senders of tokens choose the addresses. */
const seeds = Array.from({ length: 5 }, () => randomInt(1, 2 ** 31) | 1)

const sampleMax = 1_001

/** What comes after the first and up to the second; all where both are undefined. */
export type Stretch<End> = { after: End | undefined; to: End | undefined }

/** Of the address that begins at `at`. */
export function isInStretch({ after, to }: Stretch<Uint8Array>, source: Uint8Array, at: number): boolean {
  if (after !== undefined && compareAddresses(source, at, after) <= 0) return false
  return to === undefined || compareAddresses(source, at, to) <= 0
}

function compareAddresses(source: Uint8Array, at: number, other: Uint8Array): number {
  for (let place = 0; place < addressBytes; place++) {
    const difference = source[at + place]! - other[place]!
    if (difference !== 0) return difference
  }
  return 0
}

export class AddressTable {
  #bytes = new Uint8Array(addressBytes * 64)
  #view = viewOf(this.#bytes)
  /** Of each address: most others differ in it, so their bytes are not compared. */
  #hashes = new Uint32Array(64)
  /** Numbers plus one; 0: free. At most half of them are taken. */
  #slots = new Uint32Array(128)
  length = 0

  get byteLength(): number {
    return this.#bytes.byteLength + this.#hashes.byteLength + this.#slots.byteLength
  }

  /** The number of the address that begins at `at`; a new one where it has none. */
  add(source: Uint8Array, at: number): number {
    return this.addAt(viewOf(source), at)
  }

  /** The same where addresses are read four bytes at a time. */
  addAt(source: DataView, at: number): number {
    const hash = hashOf(source, at)
    const slot = this.#slotOf(hash, source, at)
    const taken = this.#slots[slot]!
    if (taken !== 0) return taken - 1
    const number = this.length++
    if (this.#hashes.length < this.length) {
      this.#bytes = grown(this.#bytes)
      this.#view = viewOf(this.#bytes)
      this.#hashes = grown(this.#hashes)
    }
    const start = number * addressBytes
    for (let place = 0; place < addressBytes; place += 4)
      this.#view.setUint32(start + place, source.getUint32(at + place))
    this.#hashes[number] = hash
    if (this.length * 2 > this.#slots.length) this.#rehash()
    else this.#slots[slot] = number + 1
    return number
  }

  addText(address: Address): number {
    return this.add(Buffer.from(address.slice(2), 'hex'), 0)
  }

  /** Of the address that begins at `at`; undefined where it is none of these. */
  numberAt(source: DataView, at: number): number | undefined {
    const taken = this.#slots[this.#slotOf(hashOf(source, at), source, at)]!
    return taken === 0 ? undefined : taken - 1
  }

  /** The number here of an address of another table. */
  addFrom(other: AddressTable, number: number): number {
    return other === this || number === noAddress ? number : this.addAt(other.#view, number * addressBytes)
  }

  /** Of a sample about the middle one, which halves a stretch of addresses. */
  middle(): Uint8Array {
    const step = Math.ceil(this.length / sampleMax)
    const sample: Uint8Array[] = []
    for (let number = 0; number < this.length; number += step) sample.push(this.bytesOf(number))
    return sample.sort(Buffer.compare)[sample.length >>> 1]!.slice()
  }

  /** Where the bytes of a number begin in `view`. */
  offsetOf(number: number): number {
    return number * addressBytes
  }

  /** Until the next address is added. */
  get view(): DataView {
    return this.#view
  }

  bytesOf(number: number): Uint8Array {
    return this.#bytes.subarray(number * addressBytes, (number + 1) * addressBytes)
  }

  addressOf(number: number): Address {
    const { buffer, byteOffset } = this.#bytes
    return `0x${Buffer.from(buffer, byteOffset + number * addressBytes, addressBytes).toString('hex')}` as Address
  }

  /** The numbers for which `isWanted`, ascending by address. */
  async ascending(isWanted: (number: number) => boolean): Promise<Uint32Array> {
    const [numbers, words] = [new Uint32Array(this.length), new Uint32Array(this.length)]
    let count = 0
    for (let number = 0; number < this.length; number++) {
      words[number] = wordAt(this.#bytes, number * addressBytes)
      if (isWanted(number)) numbers[count++] = number
    }
    const sortEqual = (equal: Uint32Array): Uint32Array => equal.slice().sort((a, b) => this.#compare(a, b))
    return await sortedByWord(numbers.subarray(0, count), { words, sortEqual, pace: new Pace() })
  }

  #compare(a: number, b: number): number {
    for (let place = 4; place < addressBytes; place++) {
      const difference = this.#bytes[a * addressBytes + place]! - this.#bytes[b * addressBytes + place]!
      if (difference !== 0) return difference
    }
    return 0
  }

  /** Where the address is, or would be. */
  #slotOf(hash: number, source: DataView, at: number): number {
    const [slots, hashes, view] = [this.#slots, this.#hashes, this.#view]
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const taken = slots[slot]!
      if (taken === 0) return slot
      if (hashes[taken - 1] !== hash) continue
      const start = (taken - 1) * addressBytes
      let same = 0
      while (same < addressBytes && view.getUint32(start + same) === source.getUint32(at + same)) same += 4
      if (same === addressBytes) return slot
    }
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < this.length; number++) {
      let slot = this.#hashes[number]! & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

function hashOf(source: DataView, at: number): number {
  let mixed = Math.imul(source.getInt32(at), seeds[0]!) ^ Math.imul(source.getInt32(at + 4), seeds[1]!)
  mixed = Math.imul(mixed ^ (mixed >>> 15), seeds[2]!) ^ Math.imul(source.getInt32(at + 8), seeds[3]!)
  mixed = Math.imul(mixed ^ (mixed >>> 13) ^ source.getInt32(at + 12), seeds[4]!)
  mixed = Math.imul(mixed ^ (mixed >>> 16) ^ source.getInt32(at + 16), seeds[1]!)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The column itself must not be used any more: its memory is free at once, and not when it is collected. */
export function grown<T extends Uint8Array | Uint32Array | Float64Array>(
  column: T,
  length = Math.max(64, column.length * 2),
): T {
  const larger = (column.buffer as ArrayBuffer).transfer(length * column.BYTES_PER_ELEMENT)
  return new (column.constructor as new (buffer: ArrayBuffer) => T)(larger)
}
