// The labels of a page: which of its addresses may have one, and where each label belongs. It reads no store.
import { type Address, zeroAddress } from '../model.ts'
import type { LabelHint } from '../store/label-store.ts'
import { payloadFlags, payloadHeaderBytes, payloadLengthAt } from '../store/transfer-payload.ts'
import type { TransferPage } from '../store/transfer-store.ts'

/** For each stored row the numbers of its labels, 0 where there is none. */
export type PageLabels = {
  /** By number; the first one stands for none. */
  texts: readonly (string | undefined)[]
  from: Uint32Array
  to: Uint32Array
}

/** Addresses of a page that may have a label, numbered from 1 on. */
export type LabelledParties = { addresses: readonly Address[]; from: Uint32Array; to: Uint32Array }

const zeroBytes = new Uint8Array(20)
const hashBytes = 32

/** Without a hint every address may have one. Undefined where none may. */
export function labelledParties(page: TransferPage, hint: LabelHint | undefined): LabelledParties | undefined {
  if (hint?.empty) return undefined
  const { length, payloads } = page
  const bytes = Buffer.from(payloads.buffer, payloads.byteOffset, payloads.byteLength)
  const numbers = new Map<string, number>()
  const from = new Uint32Array(length)
  const to = new Uint32Array(length)
  const partyAt = (at: number): number => {
    if (hint !== undefined && !hint.mayHave(bytes, at)) return 0
    const address = `0x${bytes.toString('hex', at, at + 20)}`
    const known = numbers.get(address)
    if (known !== undefined) return known
    numbers.set(address, numbers.size + 1)
    return numbers.size
  }
  // Every mint comes from the zero address: it is numbered once.
  let zero = 0
  if (hint?.mayHave(zeroBytes, 0) ?? true) {
    zero = 1
    numbers.set(zeroAddress, zero)
  }
  for (let row = 0, at = 0; row < length; row++, at += payloadLengthAt(bytes, at)) {
    const flags = bytes[at]!
    const toAt = at + payloadHeaderBytes + hashBytes
    const toIsZero = (flags & payloadFlags.toZero) !== 0
    to[row] = toIsZero ? zero : partyAt(toAt)
    from[row] = flags & payloadFlags.fromZero ? zero : partyAt(toIsZero ? toAt : toAt + 20)
  }
  return numbers.size === 0 ? undefined : { addresses: [...numbers.keys()] as Address[], from, to }
}

/** `labels` in the order of the parties' addresses, whose numbers are used up. Undefined where none of them has one. */
export function pageLabels(
  { from, to }: LabelledParties,
  labels: readonly (string | undefined)[],
): PageLabels | undefined {
  // Numbers of addresses become numbers of texts; an address without a label gets 0.
  const texts: (string | undefined)[] = [undefined]
  const numbers = new Uint32Array(labels.length + 1)
  for (let index = 0; index < labels.length; index++)
    if (labels[index] !== undefined) numbers[index + 1] = texts.push(labels[index]) - 1
  if (texts.length === 1) return undefined
  for (let row = 0; row < from.length; row++) {
    from[row] = numbers[from[row]!]!
    to[row] = numbers[to[row]!]!
  }
  return { texts, from, to }
}
