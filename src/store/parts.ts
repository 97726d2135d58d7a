// Everything that a store holds as plain rows, the same for every engine: to copy a store and to compare two. Requests
// are not answered from here.

/** Integers are numbers, unsigned 64-bit integers decimal text, flags 0 or 1. */
export type PartValue = number | string | Uint8Array | null
export type PartRow = readonly PartValue[]

/** `rowsMax`: of a page, where rows are large. */
export type PartTable = { columns?: readonly string[]; where?: string; rowsMax?: number }

/**
 * The tables that are copied as they are, and which of their columns: all, where none are named. What contracts say of
 * tokens is left out: it is read again where it is shown.
 */
export const partTables = {
  secrets: {},
  chains: { columns: ['ordinal', 'id', 'head_number', 'head_hash', 'head_timestamp', 'finalized', 'fold'] },
  contracts: {},
  // Those that are kept: their records are written with transfers, never copied.
  chain_indexes: { columns: ['chain', 'view'], where: 'kept = 1' },
  blocks: {},
  coverage: {},
  pending_ranges: {},
  gone_blocks: {},
  taken_back: {},
  watched_contracts: {},
  solana_accounts: {},
  solana_holdings: {},
  solana_closed: {},
  solana_mints: {},
  keys: {},
  key_uses: {},
  webhooks: {},
  webhook_progress: {},
  webhook_deliveries: {},
  labels: {},
  contract_facts: {},
  contract_marks: {},
  // Content may be gone from where it was, unlike what nodes say of tokens.
  web_facts: { rowsMax: 8 },
  checkpoints: { where: "name <> 'store copy'" },
} as const satisfies Record<string, PartTable>

/**
 * Beside tables: recent blocks with all of their parts, and the transfers and the activity of runs. Each engine writes
 * runs of its own from them.
 */
export type PartName = keyof typeof partTables | 'recent_blocks' | 'transfers' | 'activity'
/** In the order in which they are written; chains and contracts keep their numbers. */
export const partNames: readonly PartName[] = [
  ...(Object.keys(partTables) as PartName[]),
  ...(['recent_blocks', 'transfers', 'activity'] as const),
]

/** Counts are kept while transfers are written: these are compared, never copied. */
export type ReadableName = PartName | 'transfer_counts'

/** A page of a part, and the engine's own cursor of the next one; undefined after the last. */
export type PartPage = { rows: PartRow[]; next: string | undefined }

export interface StoreParts {
  readonly location: string
  readPart(part: ReadableName, cursor: string | undefined, limit: number): Promise<PartPage>
  /** Writes rows that are not there yet and, in the same transaction, the checkpoint of the copy. */
  writePart(part: PartName, rows: readonly PartRow[], checkpoint: string): Promise<void>
  /** The number of rows of the largest part, for estimates. */
  transferRows(): Promise<number>
  copyCheckpoint(): Promise<string | undefined>
  /** Ends a copy and removes its checkpoint. */
  endCopy(): Promise<void>
  close(): Promise<void>
}

/** The name of the copy's checkpoint in the target. It is not copied (`partTables`). */
export const copyCheckpointName = 'store copy'
