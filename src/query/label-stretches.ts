// The space of addresses, cut into stretches: of each the labels are at hand, or have to be read. It reads nothing, and does not
// know the labels.

import { bytesOfHex, hexOf } from '../hex.ts'
import type { Address } from '../model.ts'
import { type AddressRange, addressWord, everyAddress } from '../store/label-changes.ts'
import type { HeldLabels } from './label-table.ts'

/** Never changed: one of which something has changed becomes another one. What is held of one that is not read may be untrue. */
export type LabelStretch = AddressRange & HeldLabels & { isRead: boolean }

const addressBytes = 20
const nothing = new Uint32Array(0)

export class LabelStretches {
  /** In order, without a gap. */
  #all: LabelStretch[]
  /** By stretch: the first four bytes of its last address. */
  #lastWords: number[]
  #unread: LabelStretch | undefined
  #hashCount = 0

  constructor(all: readonly LabelStretch[] = [{ ...everyAddress, isRead: false, records: nothing, hashes: nothing }]) {
    this.#all = [...all]
    this.#lastWords = all.map(lastWord)
    this.#count()
  }

  get all(): readonly LabelStretch[] {
    return this.#all
  }

  /** The first one that has to be read. */
  get unread(): LabelStretch | undefined {
    return this.#unread
  }

  /** Of how many addresses nothing but the hash is held. */
  get hashCount(): number {
    return this.#hashCount
  }

  /** What they take of memory, without the labels. */
  get bytes(): number {
    return this.#all.reduce((sum, { records, hashes }) => sum + records.byteLength + hashes.byteLength, 0)
  }

  /** The stretch that the address at `at` lies in. */
  of(bytes: Uint8Array, at: number): LabelStretch {
    return this.#all[this.#indexOf(bytes, at)]!
  }

  has(stretch: LabelStretch): boolean {
    return this.of(bytesOfHex(stretch.last), 0) === stretch
  }

  /** Puts others, which must cover it, in the place of one that is here. */
  replace(stretch: LabelStretch, others: readonly LabelStretch[]): void {
    const index = this.#indexOf(bytesOfHex(stretch.last), 0)
    this.#all.splice(index, 1, ...others)
    this.#lastWords.splice(index, 1, ...others.map(lastWord))
    this.#count()
  }

  /** Those that touch the ranges have to be read, also where they had to be before: they become others. */
  forget(ranges: readonly AddressRange[]): void {
    const changed = new Set<LabelStretch>()
    for (const { first, last } of ranges) {
      let index = this.#indexOf(bytesOfHex(first), 0)
      while (index < this.#all.length && this.#all[index]!.first <= last) changed.add(this.#all[index++]!)
    }
    const isUnread = (stretch: LabelStretch | undefined) =>
      stretch !== undefined && (!stretch.isRead || changed.has(stretch))
    const all: LabelStretch[] = []
    for (let index = 0; index < this.#all.length; index++) {
      const from = index
      if (isUnread(this.#all[from])) while (isUnread(this.#all[index + 1])) index++
      const together = this.#all.slice(from, index + 1)
      if (together.some(stretch => changed.has(stretch))) all.push(unreadOf(together))
      else all.push(...together)
    }
    this.#all = all
    this.#lastWords = all.map(lastWord)
    this.#count()
  }

  #count(): void {
    this.#unread = this.#all.find(({ isRead }) => !isRead)
    this.#hashCount = this.#all.reduce((sum, { hashes }) => sum + hashes.length, 0)
  }

  #indexOf(bytes: Uint8Array, at: number): number {
    const word = addressWord(bytes, at) >>> 0
    let [index, end] = [0, this.#all.length - 1]
    while (index < end) {
      const middle = (index + end) >>> 1
      if (this.#lastWords[middle]! < word) index = middle + 1
      else end = middle
    }
    if (this.#lastWords[index] !== word) return index
    const address = hexOf<Address>(bytes.subarray(at, at + addressBytes))
    while (this.#all[index]!.last < address) index++
    return index
  }
}

function lastWord({ last }: LabelStretch): number {
  return addressWord(bytesOfHex(last), 0) >>> 0
}

/** Neighbours as one that has to be read. Their records are still in the table. */
function unreadOf(together: readonly LabelStretch[]): LabelStretch {
  const records = new Uint32Array(together.reduce((sum, stretch) => sum + stretch.records.length, 0))
  let at = 0
  for (const stretch of together) {
    records.set(stretch.records, at)
    at += stretch.records.length
  }
  return { first: together[0]!.first, last: together.at(-1)!.last, isRead: false, records, hashes: nothing }
}

/** The next address; behind the last one there is none. */
export function addressAfter(address: Address): Address | undefined {
  if (address === everyAddress.last) return undefined
  return `0x${(BigInt(address) + 1n).toString(16).padStart(40, '0')}` as Address
}
