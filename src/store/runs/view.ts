// A view: rows that are derived from blocks and kept sorted by a key. Rows of one key combine in any order, so they may
// be stored in many runs, each of some stretch of blocks, and merged at any time.
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
