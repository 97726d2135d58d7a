// Finds the labels of a page's parties among those in memory, by the bytes of their addresses. It reads no store.
//
// Between two pages nearly all of it leaves the nearest caches, and finding a label is waiting for memory. Hence several short loops,
// in each of which nothing depends on what it reads: the processor fetches many lines at once, which one after the other take up
// to 260 ns each.
import type { ChainId } from '../model.ts'
import { addressHash, hashOfWords } from '../store/label-changes.ts'
import type { TransferPage } from '../store/store.ts'
import { layOut, newLayout, payloadFlags } from '../store/transfer-payload.ts'
import { isOf, noLabel, nowhere, PageLabels, winnerOn } from './label-record.ts'
import type { LabelStretches } from './label-stretches.ts'
import type { LabelTable } from './label-table.ts'
import { filterBits, type LabelFilter } from './label-table.ts'

/** What is at hand: labels of stretches that were read. */
export type LabelsAtHand = { table: LabelTable; stretches: LabelStretches }

export type FoundLabels = {
  /** Undefined where there is none. */
  labels: PageLabels | undefined
  unknown: readonly UnknownParty[]
}

/** A party that has to be looked up: the twenty bytes of its address, and where in the page it stands. */
export type UnknownParty = { bytes: Uint8Array; at: number; places: readonly number[] }

const zeroBytes = new Uint8Array(20)
const zeroView = new DataView(zeroBytes.buffer)
const zeroHash = addressHash(zeroBytes, 0)
const layout = newLayout()
/** Of a label with 24 characters. */
const recordWordsUsual = 15

/** A filter that every address passes. */
const noFilter = { words: Int32Array.of(-1, -1), shift: 31 }

/**
 * Of each party that may have a label its place in the page, where its address begins, the hash of it and the position of a record.
 * Used from one page to the next, because each would leave its arrays behind: nothing here may wait between filling and reading it.
 */
let scratch = newScratch(1_024)

function newScratch(parties: number) {
  const numbers = () => new Int32Array(parties)
  return { places: numbers(), positions: numbers(), hashes: numbers(), records: numbers(), touched: numbers() }
}

export function findLabels(page: TransferPage, chain: ChainId, atHand: LabelsAtHand): FoundLabels {
  const { table, stretches } = atHand
  const unknown: UnknownParty[] = []
  const isAllRead = stretches.unread === undefined
  if (isAllRead && table.slots.count === 0 && stretches.hashCount === 0) return { labels: undefined, unknown }
  const { payloads } = page
  const addresses = new DataView(payloads.buffer, payloads.byteOffset, payloads.byteLength)
  const zeroPlaces: number[] = []
  let count = takeParties(page, addresses, isAllRead ? table.filter : noFilter, zeroPlaces)
  if (!isAllRead) count = leaveUnread(count, payloads, stretches, unknown)
  count = takeRecords(count, payloads, atHand, unknown)
  touchRecords(count, table)

  const { places, positions, hashes, records } = scratch
  const { words } = table.arena
  let labels: PageLabels | undefined
  for (let party = 0; party < count; party++) {
    const at = positions[party]!
    const first = records[party]!
    const isFirst = isOf(words, first, addresses, at)
    const record = isFirst ? first : recordOf(hashes[party]!, addresses, at, table)
    const label = record === nowhere ? noLabel : winnerOn(chain, words, record)
    if (label !== noLabel) {
      labels ??= new PageLabels(page.length, words)
      labels.show(label, places[party]!)
    } else if (record === nowhere && isHashHeld(hashes[party]!, payloads, at, stretches))
      unknown.push({ bytes: payloads, at, places: [places[party]!] })
  }
  // Every mint comes from the zero address: it is looked for once.
  if (zeroPlaces.length > 0) {
    const record = recordOf(zeroHash, zeroView, 0, table)
    const label = record === nowhere ? noLabel : winnerOn(chain, words, record)
    if (!stretches.all[0]!.isRead || isHashHeld(zeroHash, zeroBytes, 0, stretches))
      unknown.push({ bytes: zeroBytes, at: 0, places: zeroPlaces })
    else if (label !== noLabel) {
      labels ??= new PageLabels(page.length, words)
      for (const place of zeroPlaces) labels.show(label, place)
    }
  }
  return { labels, unknown }
}

/** Takes the parties that pass the filter, and the places of the zero address. Returns how many. */
function takeParties(
  { length, payloads }: TransferPage,
  addresses: DataView,
  filter: Pick<LabelFilter, 'words' | 'shift'>,
  zeroPlaces: number[],
): number {
  if (length * 2 > scratch.places.length) scratch = newScratch(length * 2)
  const { places, positions, hashes, touched } = scratch
  let count = 0
  for (let row = 0, start = 0; row < length; row++, start = layout.end) {
    layOut(payloads, start, layout)
    const { flags, to, from } = layout
    if (flags & payloadFlags.toZero) zeroPlaces.push(row * 2 + 1)
    else {
      places[count] = row * 2 + 1
      positions[count] = to
      hashes[count++] = hashOfWords(addresses.getInt32(to), addresses.getInt32(to + 16))
    }
    if (flags & payloadFlags.fromZero) zeroPlaces.push(row * 2)
    else {
      places[count] = row * 2
      positions[count] = from
      hashes[count++] = hashOfWords(addresses.getInt32(from), addresses.getInt32(from + 16))
    }
  }
  touchFilter(count, filter)
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

function touchFilter(count: number, { words, shift }: Pick<LabelFilter, 'words' | 'shift'>): void {
  const { hashes, touched } = scratch
  for (let party = 0; party < count; party++) touched[party] = words[hashes[party]! >>> shift]!
}

/** Takes the parties out of which nothing is known. */
function leaveUnread(count: number, payloads: Uint8Array, stretches: LabelStretches, unknown: UnknownParty[]): number {
  const { places, positions, hashes } = scratch
  let left = 0
  for (let party = 0; party < count; party++) {
    const [place, at] = [places[party]!, positions[party]!]
    if (!stretches.of(payloads, at).isRead) unknown.push({ bytes: payloads, at, places: [place] })
    else {
      places[left] = place
      positions[left] = at
      hashes[left++] = hashes[party]!
    }
  }
  return left
}

/** Finds for each party the first record of its hash, and takes those out that have none. */
function takeRecords(
  count: number,
  payloads: Uint8Array,
  { table, stretches }: LabelsAtHand,
  unknown: UnknownParty[],
): number {
  const { places, positions, hashes, records, touched } = scratch
  const { words, mask } = table.slots
  for (let party = 0; party < count; party++) touched[party] = words[(hashes[party]! & mask) * 2]!
  let left = 0
  for (let party = 0; party < count; party++) {
    const hash = hashes[party]!
    const place = places[party]!
    const at = positions[party]!
    let slot = hash & mask
    // A free slot keeps the hash that it had: its position says that nothing is there.
    while (words[slot * 2] !== hash && words[slot * 2 + 1] !== nowhere) slot = (slot + 1) & mask
    const record = words[slot * 2 + 1]!
    if (record !== nowhere) {
      places[left] = place
      positions[left] = at
      hashes[left] = hash
      records[left++] = record
    } else if (isHashHeld(hash, payloads, at, stretches)) unknown.push({ bytes: payloads, at, places: [place] })
  }
  return left
}

function touchRecords(count: number, { arena: { words } }: LabelTable): void {
  const { records, touched } = scratch
  for (let party = 0; party < count; party++) {
    const record = records[party]!
    // Most records lie on two lines.
    touched[party] = words[record]! + words[record + recordWordsUsual]!
  }
}

/** The record of the address at `at`, whatever others have its hash. */
function recordOf(hash: number, addresses: DataView, at: number, { slots, arena }: LabelTable): number {
  const { words, mask } = slots
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const record = words[slot * 2 + 1]!
    if (record === nowhere) return nowhere
    if (words[slot * 2] === hash && isOf(arena.words, record, addresses, at)) return record
  }
}

/** Whether the address at `at` has labels of which nothing but the hash is held. */
function isHashHeld(hash: number, bytes: Uint8Array, at: number, stretches: LabelStretches): boolean {
  if (stretches.hashCount === 0) return false
  const { hashes } = stretches.of(bytes, at)
  let [from, to] = [0, hashes.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (hashes[middle]! < hash >>> 0) from = middle + 1
    else to = middle
  }
  return hashes[from] === hash >>> 0
}
