// The place of a row within its block as one integer that keeps the order: 20 bits of transaction index, 23 of log
// index, 20 of batch index. Blocks have 31 bits.
import { AlmanacError } from '../../errors.ts'
import type { Position } from '../../model.ts'

const transactionIndexMax = 2 ** 20 - 1
const logIndexMax = 2 ** 23 - 1
const batchIndexMax = 2 ** 20 - 1
/** Above every stored block. */
export const blockMax = 2 ** 31 - 1

/** A bound of pages: rows before or after it. */
export type Bound = { block: number; place: bigint }

export function fits({ block, transactionIndex, logIndex, batchIndex }: Position): boolean {
  return (
    block < blockMax && transactionIndex <= transactionIndexMax && logIndex <= logIndexMax && batchIndex < batchIndexMax
  )
}

/** Refuses a position that does not fit, which would be stored as another one. */
export function requireFits(position: Position): void {
  if (fits(position)) return
  const { block, transactionIndex, logIndex, batchIndex } = position
  throw new AlmanacError(
    'store_failed',
    `Block ${block}, transaction ${transactionIndex}, log ${logIndex}, position ${batchIndex} does not fit into a PostgreSQL store.`,
    { hint: 'keep this chain in a file store.' },
  )
}

export function requireBlockFits(block: number): void {
  requireFits({ block, transactionIndex: 0, logIndex: 0, batchIndex: 0 })
}

/** The two 32-bit halves; bigint would take several times as long on the way in. */
export function placeHigh({ transactionIndex, logIndex }: Position): number {
  return transactionIndex * 2 ** 11 + (logIndex >>> 12)
}

export function placeLow({ logIndex, batchIndex }: Position): number {
  return (((logIndex & 0xfff) << 20) | batchIndex) >>> 0
}

export function transactionIndexOf(high: number): number {
  return high >>> 11
}

export function logIndexOf(high: number, low: number): number {
  return ((high & 0x7ff) << 12) | (low >>> 20)
}

export function batchIndexOf(low: number): number {
  return low & 0xfffff
}

/**
 * A position of any size as a bound: one that is larger than anything stored comes after all that it is compared with.
 */
export function boundOf({ block, transactionIndex, logIndex, batchIndex }: Position): Bound {
  if (block >= blockMax) return { block: blockMax, place: 0n }
  if (transactionIndex > transactionIndexMax) return { block: block + 1, place: -1n }
  if (logIndex > logIndexMax) return { block, place: (BigInt(transactionIndex + 1) << 43n) - 1n }
  const within = BigInt(Math.min(batchIndex, batchIndexMax))
  return { block, place: (BigInt(transactionIndex) << 43n) + (BigInt(logIndex) << 20n) + within }
}

export function isAfter(a: Bound, b: Bound): boolean {
  return a.block > b.block || (a.block === b.block && a.place > b.place)
}
