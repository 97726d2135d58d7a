// A view: rows that are derived from blocks and kept sorted by a key. Rows of one key combine in any order, so they may
// be stored in many runs, each of some stretch of blocks, and merged at any time.
//
// Views of transactions (activity) and the transfers themselves come with commits. Those that follow from transfers are
// indexes (`../indexes/index-view.ts`).
import type { Position } from '../../model.ts'
import type { Combine } from './merge.ts'

export type View = {
  /** As the tables name it; never changes. */
  id: number
  name: string
  /** At most `keyBytesMax`. */
  keyBytes: number
  /** Keys begin with the number of a contract in four bytes: a run then knows which contracts it has. */
  byContract: boolean
  /** Where keys have the place of a transfer, as their end. */
  placeAt?: number
  /** Records of one key are the same. */
  isUnique: boolean
  combine: Combine
}

/** `contract` is its number in the store. */
export type StoredTransfer = Position & { contract: number; payload: Uint8Array }
