// Checks reported senders against signatures, because a sender is under no root: of nodes a random sample, since
// recovering each would cost more than all the rest, of a portal all that are stored.
import { randomInt } from 'node:crypto'
import { quantityBytes } from '../../hex.ts'
import type { RpcTransaction } from '../rpc/port.ts'
import { keccak256 } from './block-hash.ts'
import { recoverSender } from './recover-sender.ts'
import { signedPart } from './transactions-root.ts'

/** Which of N to check: each with the same chance, which no node can foresee; none if `oneIn` is 0. */
export function sampleOf(count: number, oneIn: number): number[] {
  const sample: number[] = []
  if (oneIn > 0) for (let at = gap(oneIn); at < count; at += 1 + gap(oneIn)) sample.push(at)
  return sample
}

/** How many to leave out before the next one: one draw for a block instead of one for each transaction. */
function gap(oneIn: number): number {
  return oneIn === 1 ? 0 : Math.floor(Math.log1p(-randomInt(2 ** 47) / 2 ** 47) / Math.log1p(-1 / oneIn))
}

/** What is wrong with the reported sender; undefined if nothing is, or if the transaction has no signature. */
export function checkSender(transaction: RpcTransaction): string | undefined {
  const part = signedPart(transaction)
  const { r, s } = transaction as { r?: unknown; s?: unknown }
  const [rBytes, sBytes] = [quantityBytes(r), quantityBytes(s)]
  if (part === undefined || rBytes === undefined || sBytes === undefined) return undefined
  if (rBytes.length > 32 || sBytes.length > 32) return undefined
  const signature = Buffer.alloc(64)
  signature.set(rBytes, 32 - rBytes.length)
  signature.set(sBytes, 64 - sBytes.length)
  const recovered = recoverSender(keccak256(part.bytes), signature, part.parity)
  if (recovered === undefined) return 'nobody can have signed it'
  const reported = String(transaction.from).toLowerCase()
  return recovered === reported ? undefined : `${recovered} signed it, reported is ${reported}`
}
