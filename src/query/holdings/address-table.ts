// Addresses as small numbers, each once: 20 bytes and about 8 of a hash table for each. It knows nothing of what they
// stand for.
import { randomInt } from 'node:crypto'
import type { Address } from '../../model.ts'
import { wordAt } from '../../store/runs/place-key.ts'

const addressBytes = 20
/** No number of an address: the zero address, or nobody known. */
export const noAddress = 0xffff_ffff

/** Random, because whoever transfers a token chooses the addresses. */
const seeds = Array.from({ length: 5 }, () => randomInt(1, 2 ** 31) | 1)

export class AddressTable {
  #bytes: Uint8Array
  /** Numbers plus one; 0: free. At most half of them are taken. */
  #slots: Uint32Array
  length: number

  constructor(other?: AddressTable) {
    this.#bytes = other === undefined ? new Uint8Array(addressBytes * 64) : other.#bytes.slice()
    this.#slots = other === undefined ? new Uint32Array(128) : other.#slots.slice()
    this.length = other?.length ?? 0
  }

  get byteLength(): number {
    return this.#bytes.byteLength + this.#slots.byteLength
  }

  /** The number of the address that begins at `at`; a new one where it has none. */
  add(source: Uint8Array, at: number): number {
    let slot = this.#slotOf(source, at)
    const taken = this.#slots[slot]!
    if (taken !== 0) return taken - 1
    const number = this.length++
    if (this.#bytes.length < this.length * addressBytes) this.#bytes = grown(this.#bytes)
    for (let place = 0; place < addressBytes; place++) this.#bytes[number * addressBytes + place] = source[at + place]!
    if (this.length * 2 > this.#slots.length) {
      this.#rehash()
      slot = this.#slotOf(this.#bytes, number * addressBytes)
    }
    this.#slots[slot] = number + 1
    return number
  }

  addText(address: Address): number {
    return this.add(Buffer.from(address.slice(2), 'hex'), 0)
  }

  addressOf(number: number): Address {
    const { buffer, byteOffset } = this.#bytes
    return `0x${Buffer.from(buffer, byteOffset + number * addressBytes, addressBytes).toString('hex')}` as Address
  }

  /** The numbers for which `isWanted`, ascending by address. */
  ascending(isWanted: (number: number) => boolean): Uint32Array {
    const numbers = Uint32Array.from({ length: this.length }, (_, number) => number).filter(isWanted)
    const words = Uint32Array.from({ length: this.length }, (_, number) => wordAt(this.#bytes, number * addressBytes))
    return numbers.sort((a, b) => words[a]! - words[b]! || this.#compare(a, b))
  }

  #compare(a: number, b: number): number {
    for (let place = 4; place < addressBytes; place++) {
      const difference = this.#bytes[a * addressBytes + place]! - this.#bytes[b * addressBytes + place]!
      if (difference !== 0) return difference
    }
    return 0
  }

  /** Where the address is, or would be. */
  #slotOf(source: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1
    let mixed = 0
    for (let word = 0; word < 5; word++)
      mixed = Math.imul(mixed ^ wordAt(source, at + word * 4), seeds[word]!) ^ (mixed >>> 15)
    for (let slot = (mixed ^ (mixed >>> 16)) & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot]!
      if (taken === 0 || this.#isAt((taken - 1) * addressBytes, source, at)) return slot
    }
  }

  #isAt(mine: number, source: Uint8Array, at: number): boolean {
    for (let place = 0; place < addressBytes; place++)
      if (this.#bytes[mine + place] !== source[at + place]) return false
    return true
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2)
    for (let number = 0; number < this.length - 1; number++)
      this.#slots[this.#slotOf(this.#bytes, number * addressBytes)] = number + 1
  }
}

export function grown<T extends Uint8Array | Uint32Array | Float64Array>(column: T): T {
  const larger = new (column.constructor as new (length: number) => T)(Math.max(64, column.length * 2))
  larger.set(column)
  return larger
}
