// Which slots a feed has delivered without a gap, and whether a snapshot below them makes the store complete. No stream.
import { AlmanacError } from '../errors.ts'
import type { SolanaNetwork } from '../model.ts'
import type { Store } from '../store/store.ts'

/** A slot may be reported before the last of its accounts; a replay that begins earlier only repeats. */
export const replaySlots = 32
/**
 * Half a day. Closed accounts are remembered for a day, so that a snapshot from before that could bring one back that the
 * feed has long seen closed.
 */
const snapshotAgeSlotsMax = 100_000

/** Every change of these slots, both included, is stored. */
export type FeedCoverage = { from: number; to: number }

function checkpointName(network: SolanaNetwork): string {
  return `solana.${network}.feed`
}

export async function feedCoverage(store: Store, network: SolanaNetwork): Promise<FeedCoverage | undefined> {
  const text = await store.checkpoint(checkpointName(network))
  return text === undefined ? undefined : (JSON.parse(text) as FeedCoverage)
}

export function putFeedCoverage(store: Store, network: SolanaNetwork, coverage: FeedCoverage): Promise<void> {
  return store.putCheckpoint(checkpointName(network), JSON.stringify(coverage))
}

/** A snapshot holds everything up to its slot: the feed must go on from there or from before. */
export function isBased(coverage: FeedCoverage, snapshotSlot: number | undefined): boolean {
  return snapshotSlot !== undefined && coverage.from <= snapshotSlot + 1
}

/** Of the first slot that a stream tells only the end may have been heard. */
export function beginningAt(slot: number): FeedCoverage {
  return { from: slot + 1, to: slot }
}

/** Whether a stream that begins at this slot goes on with what is covered. */
export function joins(coverage: FeedCoverage | undefined, slot: number): boolean {
  return coverage !== undefined && coverage.from <= slot + 1 && slot <= coverage.to
}

/**
 * Up to which slot everything is known, so that a replay must begin there or before; the best first. Above a snapshot
 * that the feed does not reach back to, the changes since the snapshot are wanted, and at least those since the feed.
 */
export function replayCandidates(coverage: FeedCoverage | undefined, snapshotSlot: number | undefined): number[] {
  if (coverage === undefined) return snapshotSlot === undefined ? [] : [snapshotSlot]
  if (snapshotSlot === undefined) return [coverage.to]
  return isBased(coverage, snapshotSlot) ? [Math.max(coverage.to, snapshotSlot)] : [snapshotSlot, coverage.to]
}

/** Throws where a snapshot is so old beside what the feed has stored that it could bring back what was closed since. */
export async function requireRecent(store: Store, network: SolanaNetwork, snapshotSlot: number): Promise<void> {
  const coverage = await feedCoverage(store, network)
  if (coverage === undefined || coverage.to - snapshotSlot <= snapshotAgeSlotsMax) return
  throw new AlmanacError(
    'bad_request',
    `This snapshot is of slot ${snapshotSlot}, but the feed of ${network} has stored slot ${coverage.to}: accounts that were closed since could come back.`,
    { hint: `fetch a snapshot that is at most ${snapshotAgeSlotsMax} slots older than the feed.` },
  )
}
