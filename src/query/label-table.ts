// The labels in memory: a filter, behind it slots, behind those records. It holds what it is given, and does not know which
// addresses were read.
import { addressHash } from '../store/address-hash.ts'
import type { RankedLabel } from '../store/label-store.ts'
import { LabelArena, noRecord } from './label-arena.ts'
import { LabelFilter } from './label-filter.ts'
import { addressBytes, packRecord } from './label-record.ts'
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
  readonly arena = new LabelArena()
  readonly slots = new LabelSlots()
  filter = new LabelFilter(0)

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
   * `others` are the hashes that the filter holds beside those of records.
   */
  *growing(addresses: number, others: readonly Uint32Array[]): Generator<void> {
    if (!this.slots.hasRoomFor(addresses)) yield* this.slots.growing(addresses)
    if (this.filter.hasRoomFor(addresses)) return
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
   * them. Records that have not changed stay, and new ones are only kept below `bytesMax`. Room must have been made.
   */
  exchange(before: Uint32Array, labels: readonly RankedLabel[], bytesMax: number): HeldLabels {
    const records: number[] = []
    const hashes: number[] = []
    let old = 0
    for (const record of packed(labels)) {
      while (old < before.length && this.#compare(before[old]!, record) < 0) this.#remove(before[old++]!)
      const isKnown = old < before.length && this.#compare(before[old]!, record) === 0
      const position = this.#put(record, isKnown ? before[old++]! : noRecord, this.bytes < bytesMax)
      if (position === noRecord) hashes.push(addressHash(record, 0) >>> 0)
      else records.push(position)
    }
    while (old < before.length) this.#remove(before[old++]!)
    return { records: Uint32Array.from(records), hashes: Uint32Array.from(hashes).sort() }
  }

  /** How many of the records, which are in the order of addresses, belong to addresses up to this one. */
  countUpTo(address: Uint8Array, records: Uint32Array): number {
    let [from, to] = [0, records.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#compare(records[middle]!, address) <= 0) from = middle + 1
      else to = middle
    }
    return from
  }

  /** Returns the position of the record, or `noRecord` where there is no room for it. */
  #put(record: Buffer, known: number, hasRoom: boolean): number {
    if (known !== noRecord && this.arena.isEqual(known, record)) return known
    const hash = addressHash(record, 0)
    const position = hasRoom ? this.arena.append(record) : noRecord
    this.filter.add(hash)
    if (known === noRecord) {
      if (position !== noRecord) this.slots.add(hash, position)
    } else if (position === noRecord) this.#remove(known)
    else {
      this.slots.replace(hash, known, position)
      this.arena.lose(known)
    }
    return position
  }

  #remove(position: number): void {
    this.slots.remove(addressHash(this.arena.addressAt(position), 0), position)
    this.arena.lose(position)
  }

  #compare(position: number, address: Uint8Array): number {
    return Buffer.compare(this.arena.addressAt(position), address.subarray(0, addressBytes))
  }
}

/** A record for each address. */
function* packed(labels: readonly RankedLabel[]): Generator<Buffer> {
  for (let from = 0, to = 0; from < labels.length; from = to) {
    while (labels[to]?.address === labels[from]!.address) to++
    yield packRecord(labels.slice(from, to))
  }
}
