// Transfers of all contracts by their place in the chain, newest first. A value is the number of the contract. Pure.
import type { Interval } from '../../model.ts'
import { placeBytes, type Span, spanOfPlaces, writePlace } from '../runs/place-key.ts'
import { type IndexView, sameRecord } from '../runs/view.ts'

const key = new Uint8Array(placeBytes)
const value = new Uint8Array(4)

export const byBlock: IndexView = {
  id: 6,
  name: 'by_block',
  keyBytes: placeBytes,
  keysBeginWith: 'place',
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

export function blockSpan(interval: Interval): Span {
  return spanOfPlaces(new Uint8Array(0), interval)
}
