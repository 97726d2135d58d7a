// Finds the labels of a page's parties among those in memory, by the bytes of their addresses. It does not read the
// store.
//
// Between two pages nearly all of the base leaves the nearest caches, and finding a label is waiting for memory. Hence
// several short loops in which no step depends on the one before: the processor fetches many lines at once, which one
// after the other take up to 260 ns each.
import { hexOf } from '../hex.ts'
import { type Address, type ChainId, zeroAddress } from '../model.ts'
import type { TransferPage } from '../store/index-reader.ts'
import { layOutParties } from '../store/transfer-payload.ts'
import {
  filterBits,
  firstLabelAt,
  hashOf,
  isLittleEndian,
  type LabelBase,
  noLabel,
  nowhere,
  passesFilter,
  prefixOf,
  recordOf,
  recordWordsMax,
  usualRecordWords,
  winnerOn,
  wordBytes,
  writeRecord,
} from './label-base.ts'

export type LabelsInMemory = {
  base: LabelBase
  /** By the prefix of an address: not 0 where labels changed since the base was read. Undefined: nowhere. */
  changed: Uint8Array | undefined
}

export type FoundLabels = {
  labels: PageLabels
  /** The addresses that have to be looked up, and their places in the page. */
  unknown: ReadonlyMap<Address, readonly number[]>
}

const zeroView = new DataView(new ArrayBuffer(20))
/** In the place of a label. */
const unknownLabel = -1

/**
 * Of each party: its place in the page, where its address begins and the hash of it. Reused, because each page would
 * leave its arrays to be collected: nothing may wait between filling and reading them.
 */
let scratch = newScratch(1_024)

function newScratch(parties: number) {
  const numbers = () => new Int32Array(parties)
  return { places: numbers(), positions: numbers(), hashes: numbers(), touched: numbers() }
}

export function findLabels(page: TransferPage, chain: ChainId, memory: LabelsInMemory): FoundLabels {
  const { length, payloads } = page
  if (length * 2 > scratch.places.length) scratch = newScratch(length * 2)
  const { places, positions, hashes } = scratch
  const labels = new PageLabels(length, memory.base.words)
  const unknown = new Map<Address, number[]>()
  const show = (place: number, label: number, addresses: DataView, at: number) => {
    if (label !== unknownLabel) return labels.show(place, label)
    const address = hexOf<Address>(new Uint8Array(addresses.buffer, addresses.byteOffset + at, 20))
    const others = unknown.get(address)
    if (others === undefined) unknown.set(address, [place])
    else others.push(place)
  }
  const addresses = new DataView(payloads.buffer, payloads.byteOffset, payloads.byteLength)
  const parties = layOutParties(addresses, length, places, positions)
  const count = passFilter(parties, addresses, memory)
  touchRecords(count, memory.base)
  for (let party = 0; party < count; party++) {
    const label = labelOf(memory, chain, hashes[party]!, addresses, positions[party]!)
    if (label !== noLabel) show(places[party]!, label, addresses, positions[party]!)
  }
  if (parties === length * 2) return { labels, unknown }
  // Every mint comes from the zero address: it is looked for once.
  const label = labelOf(memory, chain, hashOf(zeroView, 0), zeroView, 0)
  if (label !== noLabel) for (let party = parties; party < length * 2; party++) show(places[party]!, label, zeroView, 0)
  return { labels, unknown }
}

/** Leaves only the parties that may have a label or changed. Returns how many. */
function passFilter(count: number, addresses: DataView, { base, changed }: LabelsInMemory): number {
  const { places, positions, hashes, touched } = scratch
  const { filter, filterShift } = base
  for (let party = 0; party < count; party++) hashes[party] = hashOf(addresses, positions[party]!)
  for (let party = 0; party < count; party++) touched[party] = filter[hashes[party]! >>> filterShift]!
  if (changed !== undefined)
    for (let party = 0; party < count; party++)
      if (changed[prefixOf(addresses, positions[party]!)] !== 0) touched[party] = -1
  let left = 0
  for (let party = 0; party < count; party++) {
    const hash = hashes[party]!
    const bits = filterBits(hash)
    if ((touched[party]! & bits) !== bits) continue
    places[left] = places[party]!
    positions[left] = positions[party]!
    hashes[left++] = hash
  }
  return left
}

/** Fetches the slots of all parties, then both ends of their records. */
function touchRecords(count: number, { slots, slotMask, words }: LabelBase): void {
  const { hashes, touched } = scratch
  for (let party = 0; party < count; party++) touched[party] = slots[(hashes[party]! & slotMask) * 2]!
  for (let party = 0; party < count; party++) {
    const hash = hashes[party]!
    let slot = hash & slotMask
    while (slots[slot * 2] !== hash && slots[slot * 2 + 1] !== nowhere) slot = (slot + 1) & slotMask
    touched[party] = slots[slot * 2 + 1]!
  }
  for (let party = 0; party < count; party++) {
    const record = touched[party]!
    touched[party] = words[record]! ^ words[record + usualRecordWords]!
  }
}

function labelOf(memory: LabelsInMemory, chain: ChainId, hash: number, addresses: DataView, at: number): number {
  const { base, changed } = memory
  if (changed !== undefined && changed[prefixOf(addresses, at)] !== 0) return unknownLabel
  const record = recordOf(base, hash, addresses, at)
  if (record !== nowhere) return winnerOn(chain, base.words, record)
  return base.unheld > 0 && passesFilter(base, hash) ? unknownLabel : noLabel
}

/** Copied for each page: filling an array takes three times as long, and a typed array ten times. */
const noLabels = new Array<number>(1_024).fill(noLabel)

/** The labels of a page: positions in the words of a base, or below zero for those that were looked up. */
export class PageLabels {
  /** For each stored row the sender's label, then the recipient's; `noLabel` where there is none. */
  readonly shown: number[]
  readonly #words: Int32Array
  readonly #added: Int32Array[] = []
  /** How many bytes the longest label takes in JSON, with its quotes. */
  longest = 0

  constructor(rows: number, words: Int32Array) {
    while (noLabels.length < rows * 2) noLabels.push(noLabel)
    this.shown = noLabels.slice(0, rows * 2)
    this.#words = words
  }

  show(place: number, label: number): void {
    this.shown[place] = label
    const length = (label < 0 ? this.#added[~label]![firstLabelAt + 1]! : this.#words[label + 1]!) >> 1
    if (length > this.longest) this.longest = length
  }

  /** The label of a place; undefined where there is none. */
  textAt(place: number): string | undefined {
    const label = this.shown[place]!
    if (label === noLabel) return undefined
    const out = Buffer.alloc(this.longest + wordBytes)
    const end = this.put(new DataView(out.buffer, out.byteOffset, out.length), 0, label)
    return JSON.parse(out.toString('utf8', 0, end)) as string
  }

  /** Returns the name of a label that was looked up. */
  add(label: string): number {
    const words = new Int32Array(recordWordsMax(label))
    writeRecord(words, 0, [{ address: zeroAddress, chain: undefined, label }])
    return ~(this.#added.push(words) - 1)
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    return label < 0 ? this.#added[~label]![firstLabelAt]! : this.#words[label]!
  }

  /**
   * Copies a label's JSON and up to three bytes more. Returns where it ends. In words: `set` costs more for so few
   * bytes.
   */
  put(out: DataView, at: number, label: number): number {
    const words = label < 0 ? this.#added[~label]! : this.#words
    let from = label < 0 ? firstLabelAt : label
    const end = at + (words[from + 1]! >> 1)
    from += 2
    for (let to = at; to < end; to += wordBytes) out.setInt32(to, words[from++]!, isLittleEndian)
    return end
  }
}
