// The labels in memory: a filter, behind it slots, behind those records. It holds what it is given, and does not know which
// addresses were read.
import type { Address } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'
import { hashOfWords } from '../store/label-changes.ts'
import {
  addressWords,
  compareAddresses,
  nowhere,
  recordLength,
  recordLengthMax,
  wordBytes,
  writeAddress,
  writeRecord,
} from './label-record.ts'

/** What the table holds of addresses that lie side by side. */
export type HeldLabels = {
  /** The positions of their records, in the order of addresses. */
  records: Uint32Array
  /** Of addresses whose labels have no room: their hashes, in ascending order. */
  hashes: Uint32Array
}

/** Below that, what is lost is not worth reading anything again. */
const lostBytesMin = 1024 * 1024
/** A filter that was made just large enough would soon be made again. */
const filterReserve = 1.25

export class LabelTable {
  readonly arena: LabelArena
  readonly slots = new LabelSlots()
  filter = new LabelFilter(0)
  readonly #bytesMax: number
  /** A record that is not in the arena yet. */
  #packed = new Int32Array(256)

  /** Beyond so many bytes only hashes are kept. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.arena = new LabelArena(bytesMax)
  }

  /** What it takes of memory. */
  get bytes(): number {
    return this.arena.bytes + this.slots.words.byteLength + this.filter.words.byteLength
  }

  /** Most of its records are lost. */
  get isWorn(): boolean {
    const { bytes, lostBytes } = this.arena
    return lostBytes > lostBytesMin && lostBytes * 2 > bytes
  }

  /**
   * Makes room for the labels of so many addresses, step by step: between two of them others may search, and change nothing.
   * `held` is all that the table holds.
   */
  *growing(addresses: number, held: readonly HeldLabels[]): Generator<void> {
    if (!this.slots.hasRoomFor(addresses)) yield* this.slots.growing(addresses)
    if (this.filter.hasRoomFor(addresses)) return
    const others = held.flatMap(({ hashes }) => (hashes.length === 0 ? [] : [hashes]))
    const count = others.reduce((sum, { length }) => sum + length, this.slots.count + addresses)
    const filter = new LabelFilter(count * filterReserve)
    yield* this.slots.eachHash(hash => filter.add(hash))
    for (const hashes of others) {
      for (const hash of hashes) filter.add(hash)
      yield
    }
    this.filter = filter
  }

  /**
   * Puts labels, in the order of `labelsWithin`, in the place of the records that it holds of the same addresses and of those between
   * them. Records that have not changed stay. Room must have been made.
   */
  exchange(before: Uint32Array, labels: readonly RankedLabel[]): HeldLabels {
    const records: number[] = []
    const hashes: number[] = []
    let old = 0
    for (let from = 0, to = 0; from < labels.length; from = to) {
      while (labels[to]?.address === labels[from]!.address) to++
      const length = this.#pack(labels.slice(from, to))
      while (old < before.length && this.#compare(before[old]!) < 0) this.#remove(before[old++]!)
      const isKnown = old < before.length && this.#compare(before[old]!) === 0
      const position = this.#put(length, isKnown ? before[old++]! : nowhere)
      if (position === nowhere) hashes.push(hashAt(this.#packed, 0))
      else records.push(position)
    }
    while (old < before.length) this.#remove(before[old++]!)
    return { records: Uint32Array.from(records), hashes: Uint32Array.from(hashes).sort() }
  }

  /** How many of the records, which are in the order of addresses, belong to addresses up to this one. */
  countUpTo(address: Address, records: Uint32Array): number {
    writeAddress(this.#packed, 0, address)
    let [from, to] = [0, records.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#compare(records[middle]!) <= 0) from = middle + 1
      else to = middle
    }
    return from
  }

  #pack(labels: readonly RankedLabel[]): number {
    const lengthMax = recordLengthMax(labels)
    if (lengthMax > this.#packed.length) this.#packed = new Int32Array(lengthMax)
    return writeRecord(this.#packed, 0, labels)
  }

  /** Puts what is packed. Returns its position, or `nowhere` if there is no room for it. */
  #put(length: number, known: number): number {
    if (known !== nowhere && this.arena.isEqual(known, this.#packed, length)) return known
    const hash = hashAt(this.#packed, 0)
    const position = this.bytes < this.#bytesMax ? this.arena.append(this.#packed, length) : nowhere
    this.filter.add(hash)
    if (known === nowhere) {
      if (position !== nowhere) this.slots.add(hash, position)
    } else if (position === nowhere) this.#remove(known)
    else {
      this.slots.replace(hash, known, position)
      this.arena.lose(known)
    }
    return position
  }

  #remove(position: number): void {
    this.slots.remove(hashAt(this.arena.words, position), position)
    this.arena.lose(position)
  }

  /** Of the record's address with that of what is packed. */
  #compare(position: number): number {
    return compareAddresses(this.arena.words, position, this.#packed)
  }
}

function hashAt(words: Int32Array, record: number): number {
  return hashOfWords(words[record]!, words[record + addressWords - 1]!)
}

// The records of labels behind each other in one array, to which is only added: a page may go on reading a record that has been
// replaced. It does not know which records are found.

const bytesMin = 64 * 1024
const growth = 8
/** From here on it takes all that it may: memory in which nothing was written takes none, and copying more would stop the thread. */
const bytesCopiedMax = 4 * 1024 * 1024

export class LabelArena {
  /** One array instead of an object for each label, of which a million would be work for every collection. */
  #words = new Int32Array(0)
  #wordsMax: number
  /** The first word is left out, because its position stands for no record. */
  #end = 1
  #lost = 0

  constructor(bytesMax: number) {
    this.#wordsMax = Math.floor(bytesMax / wordBytes)
  }

  get words(): Int32Array {
    return this.#words
  }

  /** What records take, lost ones too. */
  get bytes(): number {
    return this.#end * wordBytes
  }

  get lostBytes(): number {
    return this.#lost * wordBytes
  }

  /** Takes the first words as a record. Returns its position, or `nowhere` if there is no room. */
  append(record: Int32Array, length: number): number {
    const position = this.#end
    const end = position + length
    while (end <= this.#wordsMax && end > this.#words.length) this.#grow()
    if (end > this.#wordsMax) return nowhere
    for (let index = 0; index < length; index++) this.#words[position + index] = record[index]!
    this.#end = end
    return position
  }

  /** Nobody will look for the record from now on. */
  lose(position: number): void {
    this.#lost += recordLength(this.#words, position)
  }

  /** Whether the first words are the record at the position. */
  isEqual(position: number, record: Int32Array, length: number): boolean {
    if (recordLength(this.#words, position) !== length) return false
    for (let index = 0; index < length; index++) if (record[index] !== this.#words[position + index]) return false
    return true
  }

  #grow(): void {
    const { byteLength } = this.#words
    const bytes = byteLength < bytesCopiedMax ? Math.max(bytesMin, byteLength * growth) : Infinity
    const words = allocated(Math.min(this.#wordsMax, bytes / wordBytes))
    if (words === undefined) {
      this.#wordsMax = this.#words.length
      return
    }
    words.set(this.#words)
    this.#words = words
  }
}

/** Undefined where the system has no such memory: what is at hand then has to do. */
function allocated(words: number): Int32Array<ArrayBuffer> | undefined {
  try {
    return new Int32Array(words)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

// Which addresses may have a label, in so few bits that those of a million stay in the processor's last cache: one look tells that
// an address has none. It knows hashes alone, and never forgets one.

/** Two bits of a word are set for each hash: of those that were not added, one in 25 to 90 passes. */
const bitsPerHashMin = 12
const bitsPerWord = 32
const wordsMin = 2

export class LabelFilter {
  /** The upper bits of a hash choose the word, the lower ones the bits in it. */
  readonly words: Int32Array
  readonly shift: number
  #added = 0

  /** For so many hashes. */
  constructor(hashes: number) {
    const words = 2 ** Math.ceil(Math.log2(Math.max(wordsMin, (hashes * bitsPerHashMin) / bitsPerWord)))
    this.words = new Int32Array(words)
    this.shift = bitsPerWord - Math.log2(words)
  }

  add(hash: number): void {
    const at = hash >>> this.shift
    const bits = filterBits(hash)
    if ((this.words[at]! & bits) === bits) return
    this.words[at]! |= bits
    this.#added++
  }

  hasRoomFor(hashes: number): boolean {
    return (this.#added + hashes) * bitsPerHashMin <= this.words.length * bitsPerWord
  }
}

export function filterBits(hash: number): number {
  return (1 << hash) | (1 << (hash >>> 5))
}

// Where the record of an address lies, by the hash of the address: open addressing over one array. Addresses may share a hash:
// whoever finds a record compares the address.

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
