// The rows of a filter: upwards from a place, found as the lists find them, and those of a block that went, newest
// first. It knows nothing of finality and of what was told.
import type { Address, ChainId, Interval, Position } from '../../model.ts'
import type { MixedPage } from '../../store/index-reader.ts'
import { newestOfBlock } from '../../store/runs/place-key.ts'
import type { IndexName } from '../../store/runs/view.ts'
import type { Store } from '../../store/store.ts'
import { idCountOf, layOut, newLayout } from '../../store/transfer-payload.ts'
import { isSameLog, positionOf, type RowRun } from '../answer-rows.ts'
import { firstPage, type PageCursor } from '../cursor.ts'
import { allTransfers, walletTransfers } from '../index-places.ts'
import { type MixedRows, mixedRows, noRows, spanRows } from '../mixed-rows.ts'
import { contractRows } from '../nft-transfers.ts'
import { tokenRows } from '../token-rows.ts'
import type { ChangeFilter, PlaceInBlock } from './position.ts'

export type RowFilter = Pick<ChangeFilter, 'contract' | 'wallet' | 'tokenId'>

/** Whose coverage tells that rows of the filter are all there. */
export function coverageOf({ contract }: RowFilter): Address | 'every' {
  return contract ?? 'every'
}

/** What rows are found in; undefined: the transfers of the contract themselves. */
export function indexOf({ contract, wallet, tokenId }: RowFilter): IndexName | undefined {
  if (tokenId !== undefined) return 'by_token'
  if (wallet !== undefined) return 'by_wallet'
  return contract === undefined ? 'by_block' : undefined
}

export type RowsAbove = { chain: ChainId; blocks: Interval; after: Position | undefined; limit: number }

/** Oldest first. `last` is where reading goes on if there are more, whichever rows are answered. */
export async function rowsAbove(
  store: Store,
  filter: RowFilter,
  { chain, blocks, after, limit }: RowsAbove,
): Promise<MixedRows> {
  const { contract, wallet, tokenId } = filter
  const question: PageCursor = {
    ...{ ...firstPage, list: 'transfers', subject: '', chain, order: 'asc', limit, after },
    mayContinue: after !== undefined,
  }
  if (contract !== undefined && tokenId !== undefined) {
    const below = blocks.from === 0 ? undefined : { block: blocks.from - 1, ...newestOfBlock }
    const token = { chain, contract, tokenId, toBlock: blocks.to }
    const rows = await tokenRows(store.indexes, token, { ...question, after: after ?? below })
    return wallet === undefined ? rows : ofWallet(rows, wallet)
  }
  if (wallet !== undefined) {
    const contracts = contract === undefined ? [] : [contract]
    return await spanRows(
      store.indexes,
      walletTransfers(chain, wallet, blocks, { direction: 'both', contracts }),
      question,
    )
  }
  if (contract === undefined) return await spanRows(store.indexes, allTransfers(chain, blocks), question)
  const range = { chain, contract, fromBlock: blocks.from, toBlock: blocks.to }
  const rows = await contractRows(store, range, question)
  return { ...rows, contracts: Array.from({ length: rows.stored.length }, () => contract) }
}

const layout = newLayout()

/** Of the row that is laid out. */
function hasWallet(payloads: Uint8Array, wallet: Buffer): boolean {
  const { to, from, operator } = layout
  const isAt = (start: number, end: number): boolean => end > start && wallet.equals(payloads.subarray(start, end))
  return isAt(to, from) || isAt(from, operator)
}

/** Contracts, and both sides of each transfer. */
export function addressesIn({ contracts, stored }: MixedRows): Set<Address> {
  const found = new Set<Address>()
  for (let row = 0, payloadAt = 0; row < stored.length; row++, payloadAt = layout.end) {
    layOut(stored.payloads, payloadAt, layout)
    found.add(contracts[row]!)
    const { to, from, operator } = layout
    for (const [start, end] of [
      [to, from],
      [from, operator],
    ] as const)
      if (end > start) found.add(`0x${Buffer.from(stored.payloads.subarray(start, end)).toString('hex')}` as Address)
  }
  return found
}

function bytesOf(wallet: Address): Buffer {
  return Buffer.from(wallet.slice(2), 'hex')
}

function ofWallet(rows: MixedRows, wallet: Address): MixedRows {
  const wanted = bytesOf(wallet)
  const kept = runsOf(rows).filter(({ payloadAt }) => {
    layOut(rows.stored.payloads, payloadAt, layout)
    return hasWallet(rows.stored.payloads, wanted)
  })
  return { ...rows, runs: kept, length: kept.reduce((sum, { count }) => sum + count, 0) }
}

/** Also where each stored row is one of the answer. */
function runsOf({ runs, stored, length }: MixedRows): readonly RowRun[] {
  if (runs !== undefined) return runs
  const made: RowRun[] = []
  for (let row = 0, payloadAt = 0; row < length; row++, payloadAt = layout.end) {
    layOut(stored.payloads, payloadAt, layout)
    made.push({ row, payloadAt, firstId: 0, count: 1, step: 1 })
  }
  return made
}

export type RowAt = { row: number; position: Position }

/** The place of each answered row, and of which stored one it is. */
export function placesOf(rows: MixedRows): RowAt[] {
  return runsOf(rows).flatMap(({ row, firstId, count, step }) => {
    const stored = positionOf(rows.stored, row)
    return Array.from({ length: count }, (_, at): RowAt => {
      return { row, position: { ...stored, batchIndex: stored.batchIndex + firstId + at * step } }
    })
  })
}

/**
 * Rows of a block, newest first, from a place down or all of them. `next` is the newest that is left; undefined where
 * none is.
 */
export function rowsDown(
  { contracts, ...stored }: MixedPage,
  { contract, wallet, tokenId }: RowFilter,
  { place, limit }: { place: PlaceInBlock | undefined; limit: number },
): { rows: MixedRows; next: PlaceInBlock | undefined } {
  const wanted = wallet === undefined ? undefined : bytesOf(wallet)
  const runs: RowRun[] = []
  let length = 0
  let next: PlaceInBlock | undefined
  for (let row = 0, payloadAt = 0, end = 0; row < stored.length && next === undefined; row++, payloadAt = end) {
    layOut(stored.payloads, payloadAt, layout)
    end = layout.end
    if (contract !== undefined && contracts[row] !== contract) continue
    if (wanted !== undefined && !hasWallet(stored.payloads, wanted)) continue
    const ids = idsOf(stored.payloads.subarray(payloadAt, end), tokenId)
    const position = positionOf(stored, row)
    const told = toldOf(position, place)
    const [low, high] = [ids.from, Math.min(ids.to, told)]
    if (high < low) continue
    const count = Math.min(high - low + 1, limit - length)
    if (count > 0) runs.push({ row, payloadAt, firstId: high, count, step: -1 })
    length += count
    if (high - count >= low) {
      const { block: _, ...left } = position
      next = { ...left, batchIndex: position.batchIndex + high - count }
    }
  }
  const rows = { ...noRows, stored, runs, length }
  return { rows: mixedRows({ ...stored, contracts }, rows), next }
}

/** Which of the ids of a row are of the filter, counted from its first. */
function idsOf(payload: Uint8Array, tokenId: bigint | undefined): Interval {
  const count = idCountOf(payload)
  if (tokenId === undefined) return { from: 0, to: count - 1 }
  layOut(payload, 0, layout)
  const digits = Buffer.from(payload.subarray(layout.tokenId, layout.amount)).toString('hex')
  const offset = tokenId - (digits === '' ? 0n : BigInt(`0x${digits}`))
  return offset >= 0n && offset < count ? { from: Number(offset), to: Number(offset) } : { from: 0, to: -1 }
}

/** The last id of a row that is at a place or before it, counted from its first; -1 where the row is beyond it. */
function toldOf(row: Position, place: PlaceInBlock | undefined): number {
  if (place === undefined) return Number.POSITIVE_INFINITY
  if (isSameLog(row, { ...place, block: row.block })) return place.batchIndex - row.batchIndex
  const isBefore =
    row.transactionIndex < place.transactionIndex ||
    (row.transactionIndex === place.transactionIndex && row.logIndex < place.logIndex)
  return isBefore ? Number.POSITIVE_INFINITY : -1
}
