// A view: rows that are derived from blocks and kept sorted by a key. Rows of one key combine in any order, so they may
// be stored in many runs, each of some range of blocks, and merged at any time.
//
// Views of transactions (activity) and the transfers themselves come with commits. Those that follow from transfers are
// indexes (`../indexes/`).
import type { Position } from '../../model.ts'
import type { IndexName } from '../../views.ts'
import type { Combine } from './merge.ts'

export type View = {
  /** As the tables name it; never changes. */
  id: number
  name: ViewName
  /** At most `keyBytesMax`. */
  keyBytes: number
  /**
   * What records are read by: the number of a contract in four bytes, of which a run then knows which it has; an
   * address; or the place in the chain alone.
   */
  keysBeginWith: 'contract' | 'address' | 'place'
  /** Where keys have the place of a transfer, as their end. */
  placeAt?: number
  /** Records of one key are the same. */
  isUnique: boolean
  combine: Combine
}

/** `contract` is its number in the store. */
export type NumberedTransfer = Position & { contract: number; payload: Uint8Array }

// An index: one record or two for each transfer under keys that no other transfer has. So a transfer that goes takes
// exactly its own records along, in whatever order rows come and go.

export type { IndexName }
export type ViewName = 'activity' | 'transfers' | 'counts' | IndexName

/** `key` and `value` are written over after the call. */
export type AddRecord = (key: Uint8Array, value: Uint8Array) => void

export type IndexView = View & {
  name: IndexName
  recordsOf: (transfer: NumberedTransfer, add: AddRecord) => void
  /** Every key ends with the place of its transfer. */
  placeAt: number
  /** Where a value has the number of its contract. */
  contractAt?: number
}

/** Keys differ, so two records of one key are the same. */
export const sameRecord: View['combine'] = (target, a, aLength) => {
  target.set(a.subarray(0, aLength))
  return aLength
}
