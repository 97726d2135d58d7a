// The space of addresses, cut into stretches: of each the labels are at hand, or have to be read. It is never changed: what was read,
// or has become untrue, makes another one.
import type { Address } from '../model.ts'
import { addressWord, hashOfWords } from '../store/address-hash.ts'
import { bytesOfHex } from '../store/bytes.ts'
import { type AddressRange, everyAddress } from '../store/label-changes.ts'
import { freeTag, type LabelSegment, tagOf, unreadTag } from './label-segment.ts'

/** Without a segment nothing is known of its addresses. */
export type LabelStretch = AddressRange & { segment: LabelSegment | undefined }

const addressBytes = 20
/** Where to begin to look, by the first bits of an address. */
const startBits = 12
const starts = 2 ** startBits

export type Candidates = { found: Int32Array; stretches: Int32Array; slots: Int32Array }

const unread = Uint8Array.of(unreadTag)

/** Used from one page to the next, because each would leave its arrays behind. */
let scratch = newScratch(1_024)

function newScratch(length: number) {
  const numbers = () => new Int32Array(length)
  return { hashes: numbers(), indexes: numbers(), slots: numbers(), seen: new Uint8Array(length) }
}

export class LabelStretches {
  /** In order, without a gap. */
  readonly all: readonly LabelStretch[]
  readonly segments: readonly (LabelSegment | undefined)[]
  /** The first of which nothing is known. */
  readonly unread: LabelStretch | undefined
  /** Nothing has to be read, and there is no label. */
  readonly isEmpty: boolean
  /** By stretch: its last address, and the first word of it. */
  readonly #lasts: Buffer
  readonly #lastWords: Uint32Array
  readonly #starts: Uint32Array
  /** The tags of all segments behind each other; of each stretch where its own begin, and what a hash is masked with. */
  readonly #tags: Uint8Array
  readonly #tagStarts: Uint32Array
  readonly #masks: Uint32Array

  constructor(all: readonly LabelStretch[] = [{ ...everyAddress, segment: undefined }]) {
    this.all = all
    this.segments = all.map(({ segment }) => segment)
    this.unread = all.find(({ segment }) => segment === undefined)
    this.isEmpty = this.segments.every(segment => segment?.isEmpty)
    this.#lasts = Buffer.concat(all.map(({ last }) => bytesOfHex(last)))
    this.#lastWords = Uint32Array.from(all, (_, index) => addressWord(this.#lasts, index * addressBytes))
    this.#starts = new Uint32Array(starts + 1)
    for (let start = 0, index = 0; start <= starts; start++) {
      while (index < all.length - 1 && this.#lastWords[index]! < start * 2 ** (32 - startBits)) index++
      this.#starts[start] = index
    }
    const tags = this.segments.map(segment => segment?.tags ?? unread)
    this.#tags = Buffer.concat(tags)
    this.#masks = Uint32Array.from(tags, ({ length }) => length - 1)
    this.#tagStarts = new Uint32Array(all.length)
    for (let index = 1; index < all.length; index++)
      this.#tagStarts[index] = this.#tagStarts[index - 1]! + tags[index - 1]!.length
  }

  /**
   * Which of the addresses that begin at the positions may have a label, of all of a page at once: `found` gets their places in the
   * list, `stretches` and `slots` where their labels may be. Returns how many.
   */
  candidates(bytes: Uint8Array, positions: Int32Array, count: number, into: Candidates): number {
    if (count > scratch.hashes.length) scratch = newScratch(count)
    const { hashes, indexes, slots, seen } = scratch
    const tags = this.#tags
    // Four bytes at once: 130 addresses are 2 % of the work of a page.
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let place = 0; place < count; place++) {
      const at = positions[place]!
      const word = view.getUint32(at)
      const hash = hashOfWords(word, view.getUint32(at + 16))
      const index = this.#indexOf(word, bytes, at)
      hashes[place] = hash
      indexes[place] = index
      slots[place] = hash & this.#masks[index]!
    }
    // Between two pages tags leave the nearest cache. Nothing in this loop waits for what it reads, so that the processor fetches
    // many lines at once: one after the other they took up to 260 ns each.
    for (let place = 0; place < count; place++) seen[place] = tags[this.#tagStarts[indexes[place]!]! + slots[place]!]!
    let candidates = 0
    for (let place = 0; place < count; place++) {
      let tag = seen[place]!
      if (tag === freeTag) continue
      const index = indexes[place]!
      const start = this.#tagStarts[index]!
      const mask = this.#masks[index]!
      const wanted = tagOf(hashes[place]!)
      let slot = slots[place]!
      while (tag !== wanted && tag !== unreadTag && tag !== freeTag) {
        slot = (slot + 1) & mask
        tag = tags[start + slot]!
      }
      if (tag === freeTag) continue
      into.found[candidates] = place
      into.stretches[candidates] = index
      into.slots[candidates++] = slot
    }
    return candidates
  }

  /** Which stretch the address at `at` lies in. */
  indexOf(bytes: Uint8Array, at: number): number {
    return this.#indexOf(addressWord(bytes, at) >>> 0, bytes, at)
  }

  #indexOf(word: number, bytes: Uint8Array, at: number): number {
    const start = word >>> (32 - startBits)
    let index = this.#starts[start]!
    let end = this.#starts[start + 1]!
    while (index < end) {
      const middle = (index + end) >>> 1
      if (this.#lastWords[middle]! < word) index = middle + 1
      else end = middle
    }
    while (this.#lastWords[index] === word && this.#endsBefore(index, bytes, at)) index++
    return index
  }

  /** How much memory their labels take. */
  get bytes(): number {
    return this.segments.reduce((sum, segment) => sum + (segment?.bytes ?? 0), 0)
  }

  /** Those that touch the ranges have to be read, also where they had to be before: they become others. */
  without(ranges: readonly AddressRange[]): LabelStretches {
    const changed = new Set<number>()
    for (const { first, last } of ranges) {
      let index = this.indexOf(bytesOfHex(first), 0)
      while (index < this.all.length && this.all[index]!.first <= last) changed.add(index++)
    }
    const all: LabelStretch[] = []
    for (const [index, stretch] of this.all.entries()) {
      const kept = changed.has(index) ? { ...stretch, segment: undefined } : stretch
      const before = all.at(-1)
      if (before !== undefined && before.segment === undefined && kept.segment === undefined)
        all[all.length - 1] = { ...before, last: kept.last }
      else all.push(kept)
    }
    return new LabelStretches(all)
  }

  /** Puts others, which must cover it, in the place of one. What is no longer here is not replaced. */
  with(replaced: LabelStretch, others: readonly LabelStretch[]): LabelStretches {
    return new LabelStretches(this.all.flatMap(stretch => (stretch === replaced ? others : stretch)))
  }

  #endsBefore(index: number, bytes: Uint8Array, at: number): boolean {
    const end = index * addressBytes
    return this.#lasts.compare(bytes, at, at + addressBytes, end, end + addressBytes) < 0
  }
}

/** The next address; behind the last one there is none. */
export function addressAfter(address: Address): Address | undefined {
  if (address === everyAddress.last) return undefined
  return `0x${(BigInt(address) + 1n).toString(16).padStart(40, '0')}` as Address
}
