// Everything that a store holds as plain rows, the same for every engine, and how a store is copied and two are
// compared. Requests are not answered from here.
import { hash } from 'node:crypto'
import { AlmanacError } from '../errors.ts'

/** Integers are numbers, unsigned 64-bit integers decimal text, flags 0 or 1. */
export type PartValue = number | string | Uint8Array | null
export type PartRow = readonly PartValue[]

export type PartTable = { columns?: readonly string[]; where?: string }

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
  watched_contracts: {},
  solana_accounts: {},
  solana_holdings: {},
  solana_closed: {},
  solana_mints: {},
  keys: {},
  key_uses: {},
  labels: {},
  contract_facts: {},
  contract_marks: {},
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

/** A count and a sum that do not depend on the order of rows. */
export class PartDigest {
  count = 0
  #sum = 0n

  add(row: PartRow): void {
    this.count += 1
    const pieces = row.map(value => {
      if (value === null) return Buffer.from('n;')
      if (typeof value === 'number') return Buffer.from(`i${value};`)
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      return Buffer.concat([Buffer.from(`${typeof value === 'string' ? 's' : 'b'}${bytes.length}:`), bytes])
    })
    this.#sum = BigInt.asUintN(128, this.#sum + digestOf(Buffer.concat(pieces)))
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(32, '0')
  }
}

function digestOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${hash('sha256', bytes, 'hex').slice(0, 32)}`)
}

// Copies one store into an empty one, part by part, and proves that both hold the same. It can be stopped at any moment
// and resumes there: each page is one transaction with the place that it reached.

const pageRowsDefault = 10_000

export type CopyProgress = { phase: 'copy' | 'verify'; part: ReadableName; rows: number }
export type CopyOptions = {
  onProgress?: (progress: CopyProgress) => void
  signal?: AbortSignal
  pageRows?: number
}

export type PartResult = { part: ReadableName; rows: number; checksum: string }

/** After the last part comes `compare`: nothing is left to copy. */
type Checkpoint = { source: string; part: PartName | 'compare'; cursor: string | undefined }

export async function copyStore(
  source: StoreParts,
  target: StoreParts,
  options: CopyOptions = {},
): Promise<PartResult[]> {
  const { onProgress, signal, pageRows = pageRowsDefault } = options
  let reached = await beginOrResume(source, target)
  let rows = 0
  while (reached.part !== 'compare') {
    signal?.throwIfAborted()
    const { part } = reached
    const page = await source.readPart(part, reached.cursor, pageRows)
    rows += page.rows.length
    const following = page.next === undefined ? (partNames[partNames.indexOf(part) + 1] ?? 'compare') : part
    reached = { source: source.location, part: following, cursor: page.next }
    await target.writePart(part, page.rows, JSON.stringify(reached))
    onProgress?.({ phase: 'copy', part, rows })
    if (following !== part) rows = 0
  }
  const results = await compareStores(source, target, options)
  await target.endCopy()
  return results
}

/** Starts at the first part of an empty target, or where an earlier copy of the same source stopped. */
async function beginOrResume(source: StoreParts, target: StoreParts): Promise<Checkpoint> {
  const found = await target.copyCheckpoint()
  if (found !== undefined) {
    const checkpoint = JSON.parse(found) as Checkpoint
    if (checkpoint.source === source.location) return checkpoint
    throw new AlmanacError('conflict', `${target.location} holds an unfinished copy of ${checkpoint.source}.`, {
      hint: 'finish that copy, or name an empty store under --to.',
    })
  }
  for (const part of partNames) {
    if (part === 'secrets') continue
    if ((await target.readPart(part, undefined, 1)).rows.length > 0)
      throw new AlmanacError('conflict', `${target.location} is not empty: it holds ${part}.`, {
        hint: 'name an empty store under --to.',
      })
  }
  return { source: source.location, part: partNames[0]!, cursor: undefined }
}

/** Counts and checksums of every part, and of the counts that the engines keep. */
export async function compareStores(
  source: StoreParts,
  target: StoreParts,
  { onProgress, signal, pageRows = pageRowsDefault }: CopyOptions = {},
): Promise<PartResult[]> {
  const results: PartResult[] = []
  for (const part of [...partNames, 'transfer_counts'] as const) {
    const digests = [new PartDigest(), new PartDigest()]
    for (const [index, store] of [source, target].entries()) {
      let cursor: string | undefined
      do {
        signal?.throwIfAborted()
        const page = await store.readPart(part, cursor, pageRows)
        for (const row of page.rows) digests[index]?.add(row)
        onProgress?.({ phase: 'verify', part, rows: digests[index]?.count ?? 0 })
        cursor = page.next
      } while (cursor !== undefined)
    }
    const [expected, found] = digests as [PartDigest, PartDigest]
    if (expected.count !== found.count || expected.checksum !== found.checksum)
      throw new AlmanacError(
        'store_failed',
        `The copy differs in ${part}: ${expected.count} rows with checksum ${expected.checksum} in ${source.location}, ${found.count} with ${found.checksum} in ${target.location}.`,
        { hint: 'stop every process that writes to either store, empty the target and copy again.' },
      )
    results.push({ part, rows: expected.count, checksum: expected.checksum })
  }
  return results
}
