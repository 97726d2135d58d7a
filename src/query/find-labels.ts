// Finds the labels of a page's parties among those in memory, by the bytes of their addresses. It does not read the
// store.
//
// Between two pages nearly all tables leave the nearest caches, and finding a label is waiting for memory. Hence
// several short loops in which no step depends on the one before: the processor fetches many lines at once, which one
// after the other take up to 260 ns each.
import { hexOf } from '../hex.ts'
import { type Address, type ChainId, zeroAddress } from '../model.ts'
import type { TransferPage } from '../store/store.ts'
import { layOut, newLayout, payloadFlags } from '../store/transfer-payload.ts'
import { addressHash, nowhere, PageLabels, winnerOn } from './label-record.ts'
import {
  filterBits,
  type LabelFilter,
  type LabelTable,
  mayBeStored,
  recordOf,
  tableOf,
  usualRecordWords,
} from './label-table.ts'

/** One table for each first byte of an address, and the filter of all. */
export type LabelsInMemory = { filter: LabelFilter; tables: readonly LabelTable[] }

export type FoundLabels = {
  /** Undefined where there is none. */
  labels: PageLabels | undefined
  /** The addresses that have to be looked up, and their places in the page. */
  unknown: ReadonlyMap<Address, readonly number[]>
}

const zeroView = new DataView(new ArrayBuffer(20))
const zeroHash = addressHash(zeroView, 0)
const layout = newLayout()

/**
 * Of each party that passes the filter: its place in the page, where its address begins and the hash of it. Reused,
 * because each page would leave its arrays to be collected: nothing may wait between filling and reading them.
 */
let scratch = newScratch(1_024)

function newScratch(parties: number) {
  const numbers = () => new Int32Array(parties)
  return { places: numbers(), positions: numbers(), hashes: numbers(), touched: numbers() }
}

export function findLabels(page: TransferPage, chain: ChainId, { filter, tables }: LabelsInMemory): FoundLabels {
  const { payloads } = page
  const addresses = new DataView(payloads.buffer, payloads.byteOffset, payloads.byteLength)
  const zeroPlaces: number[] = []
  const count = takeParties(page, addresses, filter, zeroPlaces)
  touchRecords(count, payloads, tables)
  const unknown = new Map<Address, number[]>()
  let labels: PageLabels | undefined
  for (let party = 0; party < count; party++) {
    const at = scratch.positions[party]!
    const hash = scratch.hashes[party]!
    const place = scratch.places[party]!
    const table = tables[tableOf(payloads[at]!)]!
    const record = recordOf(table, hash, addresses, at)
    if (record !== nowhere) {
      const label = winnerOn(chain, table.words, record)
      if (label === nowhere) continue
      labels ??= new PageLabels(page.length)
      labels.shown[place] = labels.add(table.words, label)
    } else if (mayBeStored(table, hash)) {
      const address = hexOf<Address>(payloads.subarray(at, at + 20))
      const places = unknown.get(address)
      if (places === undefined) unknown.set(address, [place])
      else places.push(place)
    }
  }
  if (zeroPlaces.length === 0) return { labels, unknown }
  // Every mint comes from the zero address: it is looked for once.
  const table = tables[0]!
  const record = recordOf(table, zeroHash, zeroView, 0)
  if (record === nowhere && mayBeStored(table, zeroHash)) unknown.set(zeroAddress, zeroPlaces)
  const label = record === nowhere ? nowhere : winnerOn(chain, table.words, record)
  if (label !== nowhere) {
    labels ??= new PageLabels(page.length)
    const added = labels.add(table.words, label)
    for (const place of zeroPlaces) labels.shown[place] = added
  }
  return { labels, unknown }
}

/** Takes the parties that pass the filter, and the places of the zero address. Returns how many. */
function takeParties(
  { length, payloads }: TransferPage,
  addresses: DataView,
  { words, tableBits }: LabelFilter,
  zeroPlaces: number[],
): number {
  if (length * 2 > scratch.places.length) scratch = newScratch(length * 2)
  const { places, positions, hashes, touched } = scratch
  const shift = 32 - tableBits
  let count = 0
  for (let row = 0, start = 0; row < length; row++, start = layout.end) {
    layOut(payloads, start, layout)
    const { flags, to, from } = layout
    if (flags & payloadFlags.toZero) zeroPlaces.push(row * 2 + 1)
    else {
      places[count] = row * 2 + 1
      positions[count++] = to
    }
    if (flags & payloadFlags.fromZero) zeroPlaces.push(row * 2)
    else {
      places[count] = row * 2
      positions[count++] = from
    }
  }
  for (let party = 0; party < count; party++) {
    const at = positions[party]!
    const hash = addressHash(addresses, at)
    hashes[party] = hash
    touched[party] = words[(tableOf(payloads[at]!) << tableBits) | (hash >>> shift)]!
  }
  let left = 0
  for (let party = 0; party < count; party++) {
    const bits = filterBits(hashes[party]!)
    if ((touched[party]! & bits) !== bits) continue
    places[left] = places[party]!
    positions[left] = positions[party]!
    hashes[left++] = hashes[party]!
  }
  return left
}

/** Fetches the slots of all parties, then both ends of their records. */
function touchRecords(count: number, payloads: Uint8Array, tables: readonly LabelTable[]): void {
  const { positions, hashes, touched } = scratch
  for (let party = 0; party < count; party++) {
    const { slots, slotMask } = tables[tableOf(payloads[positions[party]!]!)]!
    touched[party] = slots[(hashes[party]! & slotMask) * 2 + 1]!
  }
  for (let party = 0; party < count; party++) {
    const { words } = tables[tableOf(payloads[positions[party]!]!)]!
    const record = touched[party]!
    touched[party] = words[record]! ^ words[record + usualRecordWords]!
  }
}
