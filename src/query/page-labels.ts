// The labels of a page: which of its parties have one, by the bytes of their addresses. It reads no store.
import type { ChainId } from '../model.ts'
import type { RankedLabel } from '../store/label-store.ts'
import { payloadFlags, payloadHeaderBytes, payloadLengthAt } from '../store/transfer-payload.ts'
import type { TransferPage } from '../store/transfer-store.ts'
import { LabelSegment, noLabel, unknownLabel } from './label-segment.ts'
import type { LabelStretches } from './label-stretches.ts'

/** A party that has to be looked up: the twenty bytes of its address, and where in the page it stands. */
export type UnknownParty = { bytes: Uint8Array; at: number; places: readonly number[] }

const zeroBytes = new Uint8Array(20)
const hashBytes = 32

export class PageLabels {
  /** For each stored row the number of the sender's label, then that of the recipient's; 0 where there is none. */
  readonly numbers: Uint32Array
  #segments: readonly (LabelSegment | undefined)[]

  constructor(numbers: Uint32Array, segments: readonly (LabelSegment | undefined)[]) {
    this.numbers = numbers
    this.#segments = segments
  }

  lengthOf(number: number): number {
    return this.#segments[number >>> 16]!.lengthOf(number & 0xffff)
  }

  checksumOf(number: number): number {
    return this.#segments[number >>> 16]!.checksumOf(number & 0xffff)
  }

  put(out: Uint8Array, at: number, number: number): number {
    return this.#segments[number >>> 16]!.put(out, at, number & 0xffff)
  }

  /** Fills in what was looked up: for each label the places where it stands. */
  add(labels: readonly (RankedLabel & { places: readonly number[] })[]): void {
    const segment = this.#segments.length
    this.#segments = [...this.#segments, new LabelSegment(labels, { withTexts: true })]
    for (const [index, { places }] of labels.entries())
      for (const place of places) this.numbers[place] = numberOf(segment, index + 1)
  }
}

/** Numbers of a page name the segment and the label in it. */
function numberOf(segment: number, label: number): number {
  return ((segment << 16) | label) >>> 0
}

/** As many segments can be told apart, and one of a page's own. */
export const pageSegmentsMax = 2 ** 16 - 1

/** Used from one page to the next, because each would leave its arrays behind. */
let scratch = newScratch(1_024)

function newScratch(parties: number) {
  const numbers = () => new Int32Array(parties)
  return { places: numbers(), positions: numbers(), found: numbers(), stretches: numbers() }
}

/** The labels that are at hand, undefined where there is none, and the parties of which nothing is known. */
export function pageLabels(
  page: TransferPage,
  chain: ChainId,
  stretches: LabelStretches,
): { labels: PageLabels | undefined; unknown: readonly UnknownParty[] } {
  const unknown: UnknownParty[] = []
  if (stretches.isEmpty) return { labels: undefined, unknown }
  const { payloads } = page
  const { segments } = stretches
  const zeroPlaces: number[] = []
  const count = findParties(page, zeroPlaces)
  const { places, positions, found } = scratch
  const candidates = stretches.candidates(payloads, positions, count, scratch)
  let numbers: Uint32Array | undefined
  for (let candidate = 0; candidate < candidates; candidate++) {
    const party = found[candidate]!
    const index = scratch.stretches[candidate]!
    const at = positions[party]!
    const label = segments[index]?.numberOf(payloads, at, chain) ?? unknownLabel
    if (label === unknownLabel) unknown.push({ bytes: payloads, at, places: [places[party]!] })
    else if (label !== noLabel) {
      numbers ??= new Uint32Array(page.length * 2)
      numbers[places[party]!] = numberOf(index, label)
    }
  }
  // Every mint comes from the zero address: it is looked for once.
  if (zeroPlaces.length > 0) {
    const label = segments[0]?.numberOf(zeroBytes, 0, chain) ?? unknownLabel
    if (label === unknownLabel) unknown.push({ bytes: zeroBytes, at: 0, places: zeroPlaces })
    else if (label !== noLabel) {
      numbers ??= new Uint32Array(page.length * 2)
      for (const place of zeroPlaces) numbers[place] = numberOf(0, label)
    }
  }
  if (unknown.length > 0) numbers ??= new Uint32Array(page.length * 2)
  return { labels: numbers && new PageLabels(numbers, segments), unknown }
}

/** Where the addresses of a page begin, and to which of its places they belong: two for each row, the sender's first. */
function findParties({ length, payloads }: TransferPage, zeroPlaces: number[]): number {
  if (length * 2 > scratch.places.length) scratch = newScratch(length * 2)
  const { places, positions } = scratch
  let count = 0
  for (let row = 0, at = 0; row < length; row++, at += payloadLengthAt(payloads, at)) {
    const flags = payloads[at]!
    let position = at + payloadHeaderBytes + hashBytes
    if (flags & payloadFlags.toZero) zeroPlaces.push(row * 2 + 1)
    else {
      places[count] = row * 2 + 1
      positions[count++] = position
      position += 20
    }
    if (flags & payloadFlags.fromZero) zeroPlaces.push(row * 2)
    else {
      places[count] = row * 2
      positions[count++] = position
    }
  }
  return count
}
