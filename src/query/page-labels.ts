// The labels of a page: which of its parties have one, by the bytes of their addresses. It reads no store.
import type { LabelHint } from '../store/label-store.ts'
import { payloadFlags, payloadHeaderBytes, payloadLengthAt } from '../store/transfer-payload.ts'
import type { TransferPage } from '../store/transfer-store.ts'
import { type LabelTable, noLabel, unknownLabel } from './label-table.ts'

/** For each stored row the label's number of the sender, then that of the recipient. */
export type PageLabels = { table: LabelTable; numbers: readonly number[] }

/** Twenty bytes from `at` on. */
export type PartyBytes = { bytes: Uint8Array; at: number }

const zeroBytes = new Uint8Array(20)
const hashBytes = 32

/**
 * Either the labels, undefined where no party has one, or the parties that the table knows nothing of. Without a hint every
 * address may have a label.
 */
export function pageLabels(
  page: TransferPage,
  table: LabelTable,
  hint: LabelHint | undefined,
): { labels: PageLabels | undefined; unknown: readonly PartyBytes[] } {
  const unknown: PartyBytes[] = []
  if (hint?.empty) return { labels: undefined, unknown }
  const { payloads } = page
  const numbers = new Array<number>(page.length * 2).fill(noLabel)
  const { places, positions, zeroPlaces } = partiesOf(page)
  let labelled = 0
  const numberAt = (bytes: Uint8Array, at: number): number => {
    const number = table.numberOf(bytes, at)
    if (number !== noLabel) labelled++
    if (number === unknownLabel) unknown.push({ bytes, at })
    return number
  }
  const candidates = hint === undefined ? positions.keys() : hint.candidates(payloads, positions)
  for (const index of candidates) numbers[places[index]!] = numberAt(payloads, positions[index]!)
  // Every mint comes from the zero address: it is looked for once.
  if (zeroPlaces.length > 0 && (hint === undefined || hint.candidates(zeroBytes, [0]).length > 0)) {
    const zero = numberAt(zeroBytes, 0)
    for (const place of zeroPlaces) numbers[place] = zero
  }
  return { labels: labelled === 0 ? undefined : { table, numbers }, unknown }
}

/** Where the addresses of a page begin, and to which of its places they belong: two for each row, the sender's first. */
function partiesOf({ length, payloads }: TransferPage) {
  const places: number[] = []
  const positions: number[] = []
  const zeroPlaces: number[] = []
  for (let row = 0, at = 0; row < length; row++, at += payloadLengthAt(payloads, at)) {
    const flags = payloads[at]!
    let position = at + payloadHeaderBytes + hashBytes
    if (flags & payloadFlags.toZero) zeroPlaces.push(row * 2 + 1)
    else {
      places.push(row * 2 + 1)
      positions.push(position)
      position += 20
    }
    if (flags & payloadFlags.fromZero) zeroPlaces.push(row * 2)
    else {
      places.push(row * 2)
      positions.push(position)
    }
  }
  return { places, positions, zeroPlaces }
}
