// The labels of a page: which of its parties have one, by the bytes of their addresses. It reads no store.
import type { ChainId } from '../model.ts'
import { payloadFlags, payloadHeaderBytes, payloadLengthAt } from '../store/transfer-payload.ts'
import type { TransferPage } from '../store/transfer-store.ts'
import { type LabelSegment, noLabel, unknownLabel } from './label-segment.ts'
import type { LabelStretches } from './label-stretches.ts'

/** A party that has to be looked up: the twenty bytes of its address, and where in the page it stands. */
type UnknownParty = { bytes: Uint8Array; at: number; places: readonly number[] }

const zeroBytes = new Uint8Array(20)
const hashBytes = 32

/** Labels of a page, numbered from 1 on. */
export class PageLabels {
  /** For each stored row the number of the sender's label, then that of the recipient's; 0 where there is none. */
  readonly numbers: Int32Array
  /** By number, less one: the segment, and the label's number in it. */
  readonly #segments: LabelSegment[] = []
  readonly #labels: number[] = []

  constructor(rows: number) {
    this.numbers = new Int32Array(rows * 2)
  }

  lengthOf(number: number): number {
    return this.#segments[number - 1]!.lengthOf(this.#labels[number - 1]!)
  }

  checksumOf(number: number): number {
    return this.#segments[number - 1]!.checksumOf(this.#labels[number - 1]!)
  }

  put(out: Uint8Array, at: number, number: number): number {
    return this.#segments[number - 1]!.put(out, at, this.#labels[number - 1]!)
  }

  /** Returns the label's number in the page. */
  add(segment: LabelSegment, label: number): number {
    this.#segments.push(segment)
    return this.#labels.push(label)
  }
}

/** Used from one page to the next, because each would leave its arrays behind. */
let scratch = newScratch(1_024)

function newScratch(parties: number) {
  const numbers = () => new Int32Array(parties)
  return {
    ...{ places: numbers(), positions: numbers(), found: numbers(), stretches: numbers(), slots: numbers() },
    firsts: numbers(),
  }
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
  const { places, positions, found, firsts } = scratch
  const candidates = stretches.candidates(payloads, positions, count, scratch)
  // In a loop of its own, for which the processor does not wait either.
  for (let candidate = 0; candidate < candidates; candidate++)
    firsts[candidate] = segments[scratch.stretches[candidate]!]?.labelAt(scratch.slots[candidate]!) ?? unknownLabel
  let labels: PageLabels | undefined
  for (let candidate = 0; candidate < candidates; candidate++) {
    const party = found[candidate]!
    const segment = segments[scratch.stretches[candidate]!]
    const at = positions[party]!
    const label = labelOf(segment, firsts[candidate]!, payloads, at, chain)
    if (label === unknownLabel) unknown.push({ bytes: payloads, at, places: [places[party]!] })
    else if (label !== noLabel) {
      labels ??= new PageLabels(page.length)
      labels.numbers[places[party]!] = labels.add(segment!, label)
    }
  }
  // Every mint comes from the zero address: it is looked for once.
  if (zeroPlaces.length > 0) {
    const [segment] = segments
    const label = segment?.numberOf(zeroBytes, 0, chain) ?? unknownLabel
    if (label === unknownLabel) unknown.push({ bytes: zeroBytes, at: 0, places: zeroPlaces })
    else if (label !== noLabel) {
      labels ??= new PageLabels(page.length)
      const number = labels.add(segment!, label)
      for (const place of zeroPlaces) labels.numbers[place] = number
    }
  }
  return { labels, unknown }
}

/** Another address may have the same tag: then the one that is asked for can only stand behind it. */
function labelOf(
  segment: LabelSegment | undefined,
  first: number,
  bytes: Uint8Array,
  at: number,
  chain: ChainId,
): number {
  if (segment === undefined || first === unknownLabel) return unknownLabel
  return segment.isOf(first, bytes, at) ? segment.winner(first, bytes, at, chain) : segment.numberOf(bytes, at, chain)
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
