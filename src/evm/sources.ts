// The settings of the bulk sources of a chain.
import type { Hash } from '../model.ts'

export type SourceSettings = {
  /** Folders with files, or files. */
  history?: readonly string[] | undefined
  /** The URL of a dataset. */
  portal?: string | undefined
  /** Files, or URLs of beacon nodes. */
  historySummaries?: readonly string[] | undefined
  anchor?: Hash | undefined
}
