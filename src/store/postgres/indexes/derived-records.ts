// The records of stored transfers, and in which slot each lies. Pure.
import type { Interval } from '../../../model.ts'
import { byToken } from '../../indexes/by-token.ts'
import { byWallet } from '../../indexes/by-wallet.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { SortedRecords } from '../../indexes/sorted-records.ts'
import { wordAt } from '../../runs/place-key.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import { type Slots, slotOfAddress, slotOfContract } from '../runs/slots.ts'

export function recordsOf(index: IndexView, transfers: Iterable<StoredTransfer>): SortedRecords {
  const records = new SortedRecords(index)
  for (const transfer of transfers) index.recordsOf(transfer, records.add)
  return records.sort()
}

/**
 * What is asked for in one read is in one slot: of a contract beside its transfers, of a wallet with its activity, of
 * blocks all of a chain.
 */
export function slotOfRecord(slots: Slots, index: IndexView, chain: number, key: Uint8Array): number {
  if (slots.length === 1) return slots[0]!
  if (index === byToken) return slotOfContract(slots, wordAt(key, 0))
  if (index === byWallet) return slotOfAddress(slots, key.subarray(0, index.placeAt))
  return slotOfContract(slots, chain)
}

export function blocksOf(transfers: Iterable<{ block: number }>): Interval {
  const blocks = { from: Number.POSITIVE_INFINITY, to: -1 }
  for (const { block } of transfers) {
    blocks.from = Math.min(blocks.from, block)
    blocks.to = Math.max(blocks.to, block)
  }
  return blocks
}
