// The labels of a store as one immutable table with a filter before it, and what builds one. It does not read the
// store.
//
// A record holds the labels of one address, in words of four bytes:
//
//   5 words   address
//   for each label, the stronger first:
//   2 words   chain, the higher word first; 0 for every chain
//   1 word    checksum of the text, the same in every process; a label is named by the position of this word
//   1 word    length of the text, times two; one more if another label follows
//   …         the text in JSON with its quotes, up to a whole word
import { crc32 } from 'node:zlib'
import type { ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'

/** The position of a record that does not exist. */
export const nowhere = 0
/** In the place of a label. */
export const noLabel = 0
export const wordBytes = 4
const addressWords = 5
/** Chain, checksum and length. */
const headWords = 4
export const firstLabelAt = addressWords + 2
const everyChain = 0
const chainWord = 2 ** 32
/** The order of bytes in a word of a typed array, for views of other bytes. */
export const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1
/** Of one label with 24 characters. As many words follow the last record, so that the end of each can be touched. */
export const usualRecordWords = 15

export type LabelBase = {
  /** How many addresses have labels. */
  readonly count: number
  /**
   * Two bits for each address with labels, in so few bytes that they stay in the last cache. Most addresses without a
   * label fail here. The upper bits of a hash choose a word.
   */
  readonly filter: Int32Array
  readonly filterShift: number
  /** Open addressing: pairs of a hash and the position of a record, `nowhere` where a slot is free. */
  readonly slots: Int32Array
  readonly slotMask: number
  /** The records, up to `end`. Word 0 is 0. A base that is built from this one adds its own after them. */
  readonly words: Int32Array
  readonly end: number
  /** How many of the records have no slot any more. */
  readonly lost: number
  /** How many addresses have no record, because it would exceed the memory bound: only the filter knows them. */
  readonly unheld: number
  readonly bytes: number
}

export const emptyBase: LabelBase = {
  ...{ count: 0, filter: new Int32Array(2), filterShift: 31, slots: new Int32Array(2), slotMask: 0 },
  ...{ words: new Int32Array(1 + usualRecordWords), end: 1, lost: 0, unheld: 0, bytes: 0 },
}

/** Addresses with the same first two bytes change together: fifteen of a million. */
export const prefixCount = 65_536

export function prefixOf(addresses: DataView, at: number): number {
  return addresses.getUint16(at)
}

/**
 * Hashes an address by its first and last four bytes: vanity addresses are alike at one end, hardly ever at both.
 * Addresses may share a hash. The finaliser is that of MurmurHash3.
 */
export function hashOf(addresses: DataView, at: number): number {
  const word = Math.imul(addresses.getInt32(at), 0x9e3779b1) ^ addresses.getInt32(at + 16)
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

export function filterBits(hash: number): number {
  return (1 << hash) | (1 << (hash >>> 5))
}

export function passesFilter({ filter, filterShift }: LabelBase, hash: number): boolean {
  return (~filter[hash >>> filterShift]! & filterBits(hash)) === 0
}

/** Whether more addresses pass the filter than should. */
export function isCrowded({ count, filter }: LabelBase): boolean {
  return count * bitsPerHashMin > filter.length * bitsPerWord
}

/** The position of the record of the address at `at`, or `nowhere`. */
export function recordOf({ slots, slotMask, words }: LabelBase, hash: number, addresses: DataView, at: number): number {
  for (let slot = hash & slotMask; ; slot = (slot + 1) & slotMask) {
    const record = slots[slot * 2 + 1]!
    if (record === nowhere || (slots[slot * 2] === hash && isOf(words, record, addresses, at))) return record
  }
}

function isOf(words: Int32Array, record: number, addresses: DataView, at: number): boolean {
  for (let word = 0; word < addressWords; word++)
    if (words[record + word] !== addresses.getInt32(at + word * wordBytes, isLittleEndian)) return false
  return true
}

/** The label that is shown on the chain, or `noLabel`. */
export function winnerOn(chain: ChainId, words: Int32Array, record: number): number {
  for (let label = record + firstLabelAt; ; label = nextLabel(words, label)) {
    const of = words[label - 2]! * chainWord + (words[label - 1]! >>> 0)
    if (of === everyChain || of === chain) return label
    const isLast = (words[label + 1]! & 1) === 0
    if (isLast) return noLabel
  }
}

/** A millisecond at most. */
const slotsPerStep = 16_384
/** Enough for some thousand labels. */
const wordsFew = 65_536
/** At 12 to 24 bits for each hash, one in 25 to 90 of the addresses without a label passes. */
const [bitsPerHashMin, bitsPerWord] = [12, 32]

/**
 * Builds a base from another one by replacing the labels of some prefixes. Both have their records in the same words,
 * so that meanwhile only slots and filter take their memory twice.
 */
export class LabelBaseBuilder {
  readonly #old: LabelBase
  #words: Int32Array
  #end: number
  #heldMax: number
  readonly #records: number[] = []
  readonly #unheld: number[][] = []

  constructor(old: LabelBase) {
    this.#old = old
    this.#words = old.words
    this.#end = old.end
    this.#heldMax = old.count - old.unheld
  }

  /**
   * Adds labels in the order of addresses, the stronger of one first, but only hashes once the bytes are taken. Returns
   * how many addresses they have.
   */
  add(labels: readonly RankedLabel[], bytesMax: number): number {
    const needed = labels.reduce((sum, { label }) => sum + recordWordsMax(label), this.#end + usualRecordWords)
    if (needed > this.#words.length) {
      // The system gives memory once it is written to: as much as may be taken is asked for, and hardly ever copied.
      const words = new Int32Array(Math.max(needed, needed < wordsFew ? wordsFew : bytesMax / wordBytes))
      words.set(this.#words)
      this.#words = words
    }
    const view = new DataView(this.#words.buffer)
    const byAddress = Map.groupBy(labels, ({ address }) => address)
    const unheld: number[] = []
    for (const ofAddress of byAddress.values()) {
      const end = writeRecord(this.#words, this.#end, ofAddress.filter(mayWin))
      if (this.#bytes < bytesMax) {
        this.#records.push(this.#end)
        this.#heldMax++
        this.#end = end
      } else unheld.push(hashOf(view, this.#end * wordBytes))
    }
    this.#unheld.push(unheld)
    return byAddress.size
  }

  /** Returns the base, after steps between which the thread serves. It has no old records of `replaced` prefixes. */
  *build(replaced: Uint8Array): Generator<void, LabelBase> {
    const [words, view, old] = [this.#words, new DataView(this.#words.buffer), this.#old]
    const unheld = this.#unheld.reduce((sum, { length }) => sum + length, old.unheld)
    const filterWords = powerOfTwo(((this.#heldMax + unheld) * bitsPerHashMin) / bitsPerWord + 1)
    // The old filter alone knows the addresses that have no record.
    const filter = old.unheld > 0 ? old.filter.slice() : new Int32Array(filterWords)
    const filterShift = bitsPerWord - Math.log2(filter.length)
    const slots = new Int32Array(slotsFor(this.#heldMax) * 2)
    const slotMask = slots.length / 2 - 1
    let [held, lost, steps] = [0, old.lost, 0]
    const hold = (hash: number, record: number) => {
      let slot = hash & slotMask
      while (slots[slot * 2 + 1] !== nowhere) slot = (slot + 1) & slotMask
      slots[slot * 2] = hash
      slots[slot * 2 + 1] = record
      filter[hash >>> filterShift]! |= filterBits(hash)
      held++
    }
    for (let at = 0; at < old.slots.length; at += 2) {
      if (++steps % slotsPerStep === 0) yield
      const record = old.slots[at + 1]!
      if (record === nowhere) continue
      if (replaced[prefixOf(view, record * wordBytes)] !== 0) lost++
      else hold(old.slots[at]!, record)
    }
    for (const record of this.#records) {
      if (++steps % slotsPerStep === 0) yield
      hold(hashOf(view, record * wordBytes), record)
    }
    for (const hashes of this.#unheld) {
      steps += hashes.length
      if (steps % slotsPerStep < hashes.length) yield
      for (const hash of hashes) filter[hash >>> filterShift]! |= filterBits(hash)
    }
    const count = held + unheld
    if (count === 0) return emptyBase
    const bytes = filter.byteLength + this.#bytes
    return { count, filter, filterShift, slots, slotMask, words, end: this.#end, lost, unheld, bytes }
  }

  /** What records and slots take. */
  get #bytes(): number {
    return (this.#end + slotsFor(this.#heldMax) * 2) * wordBytes
  }
}

/** Whether it is shown on any chain: no stronger label of the address covers its chain. */
function mayWin({ chain }: RankedLabel, index: number, labels: readonly RankedLabel[]): boolean {
  return !labels.slice(0, index).some(before => before.chain === undefined || before.chain === chain)
}

/** Writes the labels of one address at `at`, where there must be room. Returns where the record ends. */
export function writeRecord(words: Int32Array, at: number, labels: readonly RankedLabel[]): number {
  const bytes = Buffer.from(words.buffer)
  bytes.write(labels[0]!.address.slice(2), at * wordBytes, 'hex')
  let label = at + firstLabelAt
  for (const [index, { chain = everyChain, label: name }] of labels.entries()) {
    const text = JSON.stringify(name)
    const length = bytes.write(text, (label + 2) * wordBytes)
    // Palm's chain id takes more than one word.
    words[label - 2] = Math.floor(chain / chainWord)
    words[label - 1] = chain % chainWord
    words[label] = crc32(text)
    words[label + 1] = length * 2 + (index < labels.length - 1 ? 1 : 0)
    label = nextLabel(words, label)
  }
  return label - 2
}

function nextLabel(words: Int32Array, label: number): number {
  return label + headWords + wordsIn(words[label + 1]! >> 1)
}

/** The most words that a record of this label can take. A character takes up to six bytes in JSON. */
export function recordWordsMax(label: string): number {
  return addressWords + headWords + wordsIn(label.length * 6 + 2)
}

function wordsIn(bytes: number): number {
  return (bytes + wordBytes - 1) >>> 2
}

/** At most two thirds are taken. */
function slotsFor(records: number): number {
  return powerOfTwo((records * 3) / 2 + 1)
}

function powerOfTwo(min: number): number {
  return 2 ** Math.ceil(Math.log2(min))
}
