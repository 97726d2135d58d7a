// The labels in memory: a filter, behind it slots, behind those records. It holds what it is given, and does not know which
// addresses were read.
import type { Address } from '../model.ts'
import { hashOfWords } from '../store/address-hash.ts'
import type { RankedLabel } from '../store/label-store.ts'
import { LabelArena } from './label-arena.ts'
import { LabelFilter } from './label-filter.ts'
import { addressWords, compareAddresses, nowhere, recordLengthMax, writeAddress, writeRecord } from './label-record.ts'
import { LabelSlots } from './label-slots.ts'

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
