// The labels of one part of all addresses as an immutable table of slots and records, the filter before all tables, and
// what builds a table. It does not read the store.
import type { RankedLabel } from '../store/annotation-store.ts'
import { isOf, nowhere, recordHash, recordLengthMax, wordBytes, writeRecord } from './label-record.ts'

/** Few enough that their objects stay in the nearest caches, enough that one is soon read again. */
export const tableCount = 32

/** The table of an address by its first byte. */
export function tableOf(firstByte: number): number {
  return firstByte >> 3
}

export type LabelTable = {
  /** False: nothing is known of its addresses. */
  readonly isRead: boolean
  /** How many addresses have labels. */
  readonly count: number
  /** Open addressing: pairs of a hash and the position of a record, `nowhere` where a slot is free. */
  readonly slots: Int32Array
  readonly slotMask: number
  /** The records. Position 0 is left out. */
  readonly words: Int32Array
  /** Hashes, in ascending order, of addresses whose labels exceed the memory bound. */
  readonly unheld: Uint32Array
  readonly bytes: number
}

const slotBytes = 2 * wordBytes
/** Less than a millisecond, between which the thread serves. */
const recordsPerStep = 16_384

/** Of one label with 24 characters. As many words follow the last record, so that the end of each can be touched. */
export const usualRecordWords = 15

const empty = { isRead: true, count: 0, words: new Int32Array(1 + usualRecordWords), unheld: new Uint32Array(0) }
const emptyTable: LabelTable = { ...newTable(empty), bytes: 0 }
export const unreadTable: LabelTable = { ...newTable({ ...empty, isRead: false }), bytes: 0 }

function newTable(held: Pick<LabelTable, 'isRead' | 'count' | 'words' | 'unheld'>): LabelTable {
  const slots = new Int32Array(slotsFor(held.count - held.unheld.length) * 2)
  const bytes = slots.byteLength + held.words.byteLength + held.unheld.byteLength
  return { ...held, slots, slotMask: slots.length / 2 - 1, bytes }
}

/** The position of the record of the address at `at`, or `nowhere`. */
export function recordOf(
  { slots, slotMask, words }: LabelTable,
  hash: number,
  addresses: DataView,
  at: number,
): number {
  for (let slot = hash & slotMask; ; slot = (slot + 1) & slotMask) {
    const record = slots[slot * 2 + 1]!
    if (record === nowhere) return nowhere
    if (slots[slot * 2] === hash && isOf(words, record, addresses, at)) return record
  }
}

/** Whether an address of this hash that has no record may have labels in the store. */
export function mayBeStored({ isRead, unheld }: LabelTable, hash: number): boolean {
  let [from, to] = [0, unheld.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (unheld[middle]! < hash >>> 0) from = middle + 1
    else to = middle
  }
  return !isRead || unheld[from] === hash >>> 0
}

export class LabelTableBuilder {
  #words = new Int32Array(256)
  #end = 1
  readonly #records: number[] = []
  readonly #unheld: number[] = []

  /** What the records and their slots take so far. */
  get bytes(): number {
    return this.#end * wordBytes + slotsFor(this.#records.length) * slotBytes
  }

  /** Adds the labels of one address, the stronger first; only its hash where they must not be held. */
  add(labels: readonly RankedLabel[], isHeld: boolean): void {
    const needed = this.#end + recordLengthMax(labels) + usualRecordWords
    if (needed > this.#words.length) {
      const words = new Int32Array(needed * 2)
      words.set(this.#words)
      this.#words = words
    }
    const end = writeRecord(this.#words, this.#end, labels)
    if (isHeld) {
      this.#records.push(this.#end)
      this.#end = end
    } else this.#unheld.push(recordHash(this.#words, this.#end))
  }

  /** Returns the table, after steps between which the thread may serve. */
  *build(): Generator<void, LabelTable> {
    const count = this.#records.length + this.#unheld.length
    if (count === 0) return emptyTable
    const unheld = Uint32Array.from(this.#unheld).sort()
    const table = newTable({ isRead: true, count, words: this.#words.slice(0, this.#end + usualRecordWords), unheld })
    const { slots, slotMask, words } = table
    for (const [index, record] of this.#records.entries()) {
      if (index % recordsPerStep === recordsPerStep - 1) yield
      const hash = recordHash(words, record)
      let slot = hash & slotMask
      while (slots[slot * 2 + 1] !== nowhere) slot = (slot + 1) & slotMask
      slots[slot * 2] = hash
      slots[slot * 2 + 1] = record
    }
    return table
  }
}

/** At most two thirds are taken. */
function slotsFor(records: number): number {
  return powerOfTwo((records * 3) / 2 + 1)
}

function powerOfTwo(min: number): number {
  return 2 ** Math.ceil(Math.log2(min))
}

/** At 12 to 24 bits for each hash, one in 25 to 90 of the addresses without a label passes. */
const bitsPerHashMin = 12
const bitsPerWord = 32

/**
 * Two bits for each address with labels, in so few bytes that they stay in the last cache. Most addresses without a
 * label fail here.
 */
export class LabelFilter {
  /** Each table has as many words, one after the other. The upper bits of a hash choose one. */
  readonly words: Int32Array
  readonly tableBits: number
  readonly countMax: number

  constructor(countMin: number) {
    this.words = new Int32Array(powerOfTwo(Math.max(2 * tableCount, (countMin * bitsPerHashMin) / bitsPerWord)))
    this.tableBits = Math.log2(this.words.length / tableCount)
    this.countMax = (this.words.length * bitsPerWord) / bitsPerHashMin
  }

  /** Every address passes where the table was not read. */
  set(index: number, { isRead, slots, unheld }: LabelTable): void {
    this.words.fill(isRead ? 0 : -1, index << this.tableBits, (index + 1) << this.tableBits)
    for (let at = 0; at < slots.length; at += 2) if (slots[at + 1] !== nowhere) this.#add(index, slots[at]!)
    for (const hash of unheld) this.#add(index, hash)
  }

  #add(index: number, hash: number): void {
    this.words[(index << this.tableBits) | (hash >>> (bitsPerWord - this.tableBits))]! |= filterBits(hash)
  }
}

export function filterBits(hash: number): number {
  return (1 << hash) | (1 << (hash >>> 5))
}
