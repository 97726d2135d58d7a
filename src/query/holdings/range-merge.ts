// Puts what is left of ERC-2309 ranges between the tokens that have transfers of their own, in the order of ids. No
// reading.

import { type AddressTable, noAddress } from './address-table.ts'
import { type Segment, segmentsOf, type TokenRange } from './range-segments.ts'
import { comparePlaces, rowFlags } from './sheet.ts'
import type { Mint, SheetBuilder } from './sheet-builder.ts'

/** A token whose rows are the builder's from `from` on. */
export type SingleToken = {
  id: bigint
  from: number
  mint: Mint
  newestPlace: Uint8Array
  oldestPlace: Uint8Array
}

export class RangeMerge {
  #builder: SheetBuilder
  /** What the numbers of parties in ranges mean. */
  readonly #addresses: AddressTable
  readonly #segments: readonly Segment[]
  #at = 0
  /** The first id that is not appended yet; only within the current segment. */
  #next = 0n
  readonly #party: number | undefined
  readonly #id = new Uint8Array(32)

  /** `party` is given to every row of a wallet's sheet: the contract. */
  constructor(builder: SheetBuilder, ranges: readonly TokenRange[], party?: number) {
    this.#builder = builder
    this.#addresses = builder.addresses
    this.#segments = segmentsOf(ranges)
    this.#party = party
    this.#next = this.#segments[0]?.first ?? 0n
  }

  /** Rows go into another builder from now on. */
  continueIn(builder: SheetBuilder): void {
    this.#builder = builder
  }

  /** Appends what ranges have before an id. Before the rows of the id, with ids rising. */
  passTo(id: bigint): void {
    for (let segment = this.#segments[this.#at]; segment !== undefined; segment = this.#segments[this.#at]) {
      const end = segment.end < id ? segment.end : id
      if (end > this.#next) {
        this.#append(segment, this.#next, end)
        this.#next = end
      }
      if (segment.end > id) return
      this.#at++
      this.#next = this.#segments[this.#at]?.first ?? 0n
    }
  }

  /** Decides between an id's own transfers and the ranges over it. Right after its rows. */
  takeOut({ id, from, mint, newestPlace, oldestPlace }: SingleToken): void {
    const segment = this.#segments[this.#at]
    if (segment === undefined || id < segment.first) {
      this.#builder.setMint(from, this.#builder.length, mint)
      return
    }
    const isOldest = comparePlaces(oldestPlace, 0, segment.oldest.place, 0) > 0
    const first = isOldest ? mint : this.#mintOf(segment)
    if (comparePlaces(newestPlace, 0, segment.newest.place, 0) < 0) {
      this.#builder.setMint(from, this.#builder.length, first)
      this.#next = id + 1n
      return
    }
    this.#builder.truncate(from)
    // Within its range it would get the mint of the ids beside it.
    if (isOldest) {
      this.#append(segment, id, id + 1n, first)
      this.#next = id + 1n
    }
  }

  /** Gives an id no row, whatever ranges say. */
  leaveOut(id: bigint): void {
    const segment = this.#segments[this.#at]
    if (segment !== undefined && id >= segment.first) this.#next = id + 1n
  }

  end(): void {
    this.passTo(1n << 257n)
  }

  #mintOf({ oldest: { mint } }: Segment): Mint {
    return { block: mint.block, minter: this.#builder.addresses.addFrom(this.#addresses, mint.minter) }
  }

  #append(segment: Segment, first: bigint, end: bigint, mint = this.#mintOf(segment)): void {
    const { newest } = segment
    if (newest.party === noAddress) return
    Buffer.from(this.#id.buffer).write(first.toString(16).padStart(64, '0'), 'hex')
    const place = { place: newest.place, placeAt: 0 }
    const party = this.#party ?? this.#builder.addresses.addFrom(this.#addresses, newest.party)
    const row = this.#builder.append({ id: this.#id, idFrom: 0, idTo: 32, ...place, flags: rowFlags.range, party })
    this.#builder.setRange(row, Number(end - first), newest.offset + Number(first - newest.first))
    this.#builder.setMint(row, row + 1, mint)
  }
}
