// The row of a chain: its head, how far it is final, and what is stored of recent blocks. Callers hold the transaction.
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Block, Hash } from '../../model.ts'
import type { PackedActivity } from '../packed-activity.ts'
import type { ChainState } from '../store.ts'
import { packWallets, recentBytes } from './recent-block.ts'
import { insert, row, run, type Work } from './work.ts'

export type ChainRow = {
  chain: number
  head: number | null
  finalized: number
  /** No run has rows above it, and no recent block is at or below it. */
  fold: number
  /** Counts every change of recent blocks. */
  changes: number
  /** The highest recent block; -1 where there is none. */
  tip: number
  /** Of all recent blocks. */
  parts: number
  /** What they take in the memory of a process that answers. */
  bytes: number
  /** Of those that are final. */
  finalBytes: number
}

const columns = 'head_number, finalized, fold, changes, tip, parts, bytes, final_bytes'

/** Locks out other changes of recent blocks and finality until the end of the transaction. */
export function* lockChain(chain: number): Work<ChainRow> {
  return yield* rowOf(`SELECT ${columns} FROM chains WHERE ordinal = $1 FOR CHANGE`, chain)
}

export function* chainRow(chain: number): Work<ChainRow> {
  return yield* rowOf(`SELECT ${columns} FROM chains WHERE ordinal = $1`, chain)
}

function* rowOf(find: string, chain: number): Work<ChainRow> {
  const [head, finalized, fold, changes, tip, parts, bytes, finalBytes] = (yield* row(find, chain))!
  return { chain, head, finalized, fold, changes, tip, parts, bytes, finalBytes }
}

/** Writes what changed, as another change of recent blocks. */
export function* changeChain(before: ChainRow, change: Partial<ChainRow>): Work<ChainRow> {
  // Never what it was before a backup was restored: others would take their mirrors for current ones.
  const after = { ...before, ...change, changes: Math.max(before.changes + 1, Date.now()) }
  const { chain, finalized, fold, changes, tip, parts, bytes, finalBytes } = after
  yield* run(
    `UPDATE chains SET finalized = $2, fold = $3, changes = $4, tip = $5, parts = $6, bytes = $7,
       final_bytes = $8 WHERE ordinal = $1`,
    ...[chain, finalized, fold, changes, tip, parts, bytes, finalBytes],
  )
  return after
}

/** What one commit brings for a recent block. */
export type NewPart = {
  number: number
  part: number
  timestamp: number
  hash: Uint8Array
  transfers: Uint8Array
  activity: PackedActivity
}

/** With the chain's row, to which they add. */
export function* addParts(before: ChainRow, change: Partial<ChainRow>, parts: readonly NewPart[]): Work<void> {
  const wallets = parts.map(({ activity }) => packWallets(activity))
  const bytes = parts.map(({ transfers }, at) => recentBytes(transfers, wallets[at]!))
  const { chain, changes } = yield* changeChain(before, {
    ...{ ...change, parts: before.parts + parts.length },
    bytes: bytes.reduce((sum, each) => sum + each, before.bytes),
  })
  yield* insert(
    'recent_blocks',
    parts.map((part, at) => ({ chain, ...part, change: changes, bytes: bytes[at], wallets: wallets[at] })),
  )
}

export function* writeHead(chain: number, { number, hash, timestamp }: Block): Work<void> {
  yield* run(
    `UPDATE chains SET head_number = $2, head_hash = $3, head_timestamp = $4 WHERE ordinal = $1 AND (head_number IS NULL
       OR head_number <> $2 OR head_hash <> $3 OR head_timestamp <> $4)`,
    ...[chain, number, bytesOfHex(hash), timestamp],
  )
}

export function* chainState(id: number): Work<ChainState | undefined> {
  const find =
    'SELECT head_number, head_hash, head_timestamp, finalized, bytes FROM chains WHERE id = $1 AND head_number IS NOT NULL'
  const found = yield* row(find, id)
  if (found === undefined) return undefined
  const [number, hash, timestamp, finalized, recentBytes] = found
  return { head: { number, hash: hexOf<Hash>(hash), timestamp }, finalized, recentBytes }
}

// The changes of final rows, for caches of what was made of them. A row of its own: a commit of history would keep the
// head from the chain's row for as long as it takes.

const columnOf = { takenBack: 'taken_back', filled: 'filled' } as const

/** After all rows are written. */
export function* countChange(chain: number, change: keyof typeof columnOf): Work<void> {
  const column = columnOf[change]
  yield* run(
    `INSERT INTO row_changes (chain, ${column}) VALUES ($1, 1)
     ON CONFLICT (chain) DO UPDATE SET ${column} = row_changes.${column} + 1`,
    chain,
  )
}
