// A view: rows that are derived from blocks and kept sorted by a key. Rows of one key combine in any order, so they may
// be stored in many runs, each of some stretch of blocks, and merged at any time.
import type { Combine } from './merge.ts'

export type View = {
  /** As the tables name it; never changes. */
  id: number
  keyBytes: number
  combine: Combine
}
