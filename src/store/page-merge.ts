// Puts pages of one contract together that came from several places, in their common order. Pure.

import { emptyPage, type TransferPage } from './transfer-page.ts'
import { layOut, newLayout } from './transfer-payload.ts'

type Order = 'asc' | 'desc'

/** The first `limit` rows of both; a place that both have is one row. */
export function mergePages(a: TransferPage, b: TransferPage, order: Order, limit: number): TransferPage {
  if (b.length === 0) return a
  if (a.length === 0) return b
  if (a.length >= limit && comparePlaces(a, a.length - 1, b, 0, order) < 0) return a
  if (comparePlaces(a, a.length - 1, b, 0, order) < 0) return append(a, b, limit - a.length)
  if (comparePlaces(b, b.length - 1, a, 0, order) < 0) return append(b, a, limit - b.length)
  const [left, right] = comparePlaces(a, 0, b, 0, order) <= 0 ? [a, b] : [b, a]
  const places: [TransferPage, number][] = []
  let [at, other] = [0, 0]
  while (places.length < limit && (at < left.length || other < right.length)) {
    const compared = at === left.length ? 1 : other === right.length ? -1 : comparePlaces(left, at, right, other, order)
    places.push(compared <= 0 ? [left, at] : [right, other])
    if (compared <= 0) at++
    if (compared >= 0) other++
  }
  return pick(places, new Map([a, b].map(page => [page, payloadStarts(page)])))
}

/** As places mostly lie: one after the other. */
function append(a: TransferPage, b: TransferPage, room: number): TransferPage {
  if (room <= 0) return a
  const joined = (first: readonly number[], second: readonly number[]): number[] => first.concat(second.slice(0, room))
  const end = room < b.length ? payloadStarts(b)[room] : b.payloads.length
  return {
    length: a.length + Math.min(room, b.length),
    blocks: joined(a.blocks, b.blocks),
    transactionIndexes: joined(a.transactionIndexes, b.transactionIndexes),
    logIndexes: joined(a.logIndexes, b.logIndexes),
    batchIndexes: joined(a.batchIndexes, b.batchIndexes),
    timestamps: joined(a.timestamps, b.timestamps),
    blockHashes: Buffer.concat([a.blockHashes, b.blockHashes.subarray(0, room * 32)]),
    payloads: Buffer.concat([a.payloads, b.payloads.subarray(0, end)]),
  }
}

function comparePlaces(a: TransferPage, at: number, b: TransferPage, other: number, order: Order): number {
  const ascending =
    a.blocks[at]! - b.blocks[other]! ||
    a.transactionIndexes[at]! - b.transactionIndexes[other]! ||
    a.logIndexes[at]! - b.logIndexes[other]! ||
    a.batchIndexes[at]! - b.batchIndexes[other]!
  return order === 'asc' ? ascending : -ascending
}

/** Where each payload begins, and where the last one ends. */
function payloadStarts({ length, payloads }: TransferPage): number[] {
  const layout = newLayout()
  const starts = [0]
  for (let row = 0; row < length; row++) {
    layOut(payloads, starts[row]!, layout)
    starts.push(layout.end)
  }
  return starts
}

function pick(places: readonly [TransferPage, number][], starts: ReadonlyMap<TransferPage, number[]>): TransferPage {
  if (places.length === 0) return emptyPage
  return {
    length: places.length,
    blocks: places.map(([page, row]) => page.blocks[row]!),
    transactionIndexes: places.map(([page, row]) => page.transactionIndexes[row]!),
    logIndexes: places.map(([page, row]) => page.logIndexes[row]!),
    batchIndexes: places.map(([page, row]) => page.batchIndexes[row]!),
    timestamps: places.map(([page, row]) => page.timestamps[row]!),
    blockHashes: Buffer.concat(places.map(([page, row]) => page.blockHashes.subarray(row * 32, row * 32 + 32))),
    payloads: Buffer.concat(
      places.map(([page, row]) => page.payloads.subarray(starts.get(page)![row], starts.get(page)![row + 1])),
    ),
  }
}
