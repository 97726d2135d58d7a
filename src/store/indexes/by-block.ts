// Transfers of all contracts by their place in the chain, newest first. A value is the number of the contract. Pure.
import type { Interval } from '../../model.ts'
import { newestOfBlock, oldestOfBlock, placeBytes, writePlace } from '../runs/place-key.ts'
import { type IndexView, sameRecord } from '../runs/view.ts'

const key = new Uint8Array(placeBytes)
const value = new Uint8Array(4)

export const byBlock: IndexView = {
  id: 6,
  name: 'by_block',
  keyBytes: placeBytes,
  byContract: false,
  placeAt: 0,
  isUnique: true,
  contractAt: 0,
  combine: sameRecord,
  recordsOf(transfer, add) {
    writePlace(key, 0, transfer)
    new DataView(value.buffer).setUint32(0, transfer.contract)
    add(key, value)
  },
}

/** The keys of an interval, first and last. */
export function blockSpan({ from, to }: Interval): { from: Uint8Array; to: Uint8Array } {
  const [first, last] = [new Uint8Array(placeBytes), new Uint8Array(placeBytes)]
  writePlace(first, 0, { ...newestOfBlock, block: to })
  writePlace(last, 0, { ...oldestOfBlock, block: from })
  return { from: first, to: last }
}
