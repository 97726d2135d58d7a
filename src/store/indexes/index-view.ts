// An index of transfers: a view that follows from them, with one record or two for each transfer under keys that no
// other transfer has. So a transfer that goes takes exactly its own records along, in whatever order rows come and go.
// Pure.
import { fitsKey } from '../runs/place-key.ts'
import type { StoredTransfer, View } from '../runs/view.ts'

export type IndexName = 'by_wallet' | 'by_token' | 'by_block'

/** `key` and `value` are written over after the call. */
export type AddRecord = (key: Uint8Array, value: Uint8Array) => void

export type IndexView = View & {
  name: IndexName
  recordsOf: (transfer: StoredTransfer, add: AddRecord) => void
  /** Every key ends with the place of its transfer. */
  placeAt: number
  /** Where a value has the number of its contract. */
  contractAt?: number
}

/** Transfers at places that keys cannot tell are in no index: no chain has any. */
export function isIndexed(transfer: StoredTransfer): boolean {
  return fitsKey(transfer)
}

/** Keys differ, so two records of one key are the same. */
export const sameRecord: View['combine'] = (target, a, aLength) => {
  target.set(a.subarray(0, aLength))
  return aLength
}
