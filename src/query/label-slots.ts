// Where the record of an address lies, by the hash of the address: open addressing over one array. Addresses may share a hash:
// whoever finds a record compares the address.
import { nowhere } from './label-record.ts'

const slotsMin = 16
/** Moved at once while it grows: less than a millisecond, between which the thread serves. */
const slotsPerMove = 16_384

export class LabelSlots {
  /** For each slot the hash and the position of the record, `nowhere` where it is free; at most two thirds are taken. */
  words = new Int32Array(slotsMin * 2)
  /** What a hash is masked with for the slot where its search begins. */
  mask = slotsMin - 1
  #count = 0

  /** How many are taken. */
  get count(): number {
    return this.#count
  }

  hasRoomFor(records: number): boolean {
    return (this.#count + records) * 3 <= (this.mask + 1) * 2
  }

  /** Only while there is room. */
  add(hash: number, position: number): void {
    put(this.words, this.mask, hash, position)
    this.#count++
  }

  /** Puts a record in the place of another one of the same hash. */
  replace(hash: number, before: number, after: number): void {
    this.words[this.#slotOf(hash, before) * 2 + 1] = after
  }

  remove(hash: number, position: number): void {
    const { words, mask } = this
    let free = this.#slotOf(hash, position)
    // Those behind it move up, unless that would put them before the slot where their search begins.
    for (let slot = (free + 1) & mask; words[slot * 2 + 1] !== nowhere; slot = (slot + 1) & mask) {
      const fromHome = (slot - words[slot * 2]!) & mask
      if (fromHome < ((slot - free) & mask)) continue
      words[free * 2] = words[slot * 2]!
      words[free * 2 + 1] = words[slot * 2 + 1]!
      free = slot
    }
    words[free * 2 + 1] = nowhere
    this.#count--
  }

  /** Grows until there is room, step by step: others may search between two steps and not change anything. */
  *growing(records: number): Generator<void> {
    const slots = 2 ** Math.ceil(Math.log2(((this.#count + records) * 3) / 2))
    const words = new Int32Array(slots * 2)
    for (const _ of this.eachHash((hash, position) => put(words, slots - 1, hash, position))) yield
    this.words = words
    this.mask = slots - 1
  }

  /** Step by step, as above. */
  *eachHash(visit: (hash: number, position: number) => void): Generator<void> {
    const { words } = this
    for (let at = 0; at < words.length; at += 2) {
      if (at % (slotsPerMove * 2) === 0) yield
      if (words[at + 1] !== nowhere) visit(words[at]!, words[at + 1]!)
    }
  }

  #slotOf(hash: number, position: number): number {
    const { words, mask } = this
    for (let slot = hash & mask; words[slot * 2 + 1] !== nowhere; slot = (slot + 1) & mask)
      if (words[slot * 2 + 1] === position) return slot
    throw new Error('A record of a label is in no slot.')
  }
}

function put(words: Int32Array, mask: number, hash: number, position: number): void {
  let slot = hash & mask
  while (words[slot * 2 + 1] !== nowhere) slot = (slot + 1) & mask
  words[slot * 2] = hash
  words[slot * 2 + 1] = position
}
