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
  const { length, payloads } = page
  const numbers = new Array<number>(length * 2).fill(noLabel)
  let labelled = 0
  const numberAt = (bytes: Uint8Array, at: number): number => {
    if (hint !== undefined && !hint.mayHave(bytes, at)) return noLabel
    const number = table.numberOf(bytes, at)
    if (number === noLabel) return noLabel
    labelled++
    if (number === unknownLabel) unknown.push({ bytes, at })
    return number
  }
  // Every mint comes from the zero address: it is looked for once.
  let zero: number | undefined
  for (let row = 0, at = 0; row < length; row++, at += payloadLengthAt(payloads, at)) {
    const flags = payloads[at]!
    const toAt = at + payloadHeaderBytes + hashBytes
    const fromAt = flags & payloadFlags.toZero ? toAt : toAt + 20
    if (flags & (payloadFlags.fromZero | payloadFlags.toZero)) zero ??= numberAt(zeroBytes, 0)
    numbers[row * 2] = flags & payloadFlags.fromZero ? zero! : numberAt(payloads, fromAt)
    numbers[row * 2 + 1] = flags & payloadFlags.toZero ? zero! : numberAt(payloads, toAt)
  }
  return { labels: labelled === 0 ? undefined : { table, numbers }, unknown }
}
