// A view: rows that are derived from blocks and kept sorted by a key. Rows of one key combine in any order, so they may
// be stored in many runs, each of some stretch of blocks, and merged at any time.
//
// Views of transactions (activity) and the transfers themselves come with commits. A view that follows from transfers
// says which records a transfer adds, and nothing else: it is filled from stored rows when it is switched on, and what
// is taken back is derived again from the rows that are left. As of a block it is what the rows up to there add.
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
  combine: Combine
}

/** `contract` is its number in the store. */
export type StoredTransfer = Position & { contract: number; payload: Uint8Array }

/** What a contract's transfers add is under keys of that contract alone: so it can be derived again. */
export type DerivedView = View & {
  recordsOf: (transfer: StoredTransfer, add: (key: Uint8Array, value: Uint8Array) => void) => void
}
