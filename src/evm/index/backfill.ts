// Fills the history of one chain from its final block downwards: fetches missing ranges in parallel, newest first, and
// commits them in large batches with exact coverage. A failed range is fetched again; it never claims what is not
// stored.
import { pause } from '../../abort.ts'
import { missingIntervals, weakestEvidence, weakestOf } from '../../coverage.ts'
import { AlmanacError, isUsedUp, messageWithCauses } from '../../errors.ts'
import type { Evidence, Hash, Interval } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { activityOfBlock, joinActivity } from '../../store/packed-activity.ts'
import type { HotBlock } from '../../store/store.ts'
import type { RateBudget } from '../rate-budget.ts'
import { RangeRefused } from '../rpc/port.ts'
import { SourceLost } from '../source/bulk-source.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { type RangeSize, refusedOutcome } from '../source/range-size.ts'
import { CommitBatch, type CommitOptions, StoreFailure } from './commit-batch.ts'
import { WorkList } from './missing-blocks.ts'

export type BackfillOptions = CommitOptions & {
  /** `lastHash` is given where the hash of the last block is proven. */
  fetchRange: (interval: Interval, signal: AbortSignal, lastHash?: Hash) => Promise<DecodedRange>
  /** No endpoint has the blocks below: they stay missing. Absent: all can be had. */
  lowest?: (() => number) | undefined
  rangeSize: RangeSize
  /** How many blocks a bulk source gives at once, ending with this one; absent: as the range size has learnt. */
  blocksAt?: ((to: number) => number) | undefined
  /** Whether what does not grow from the blocks below it ends the run, because no other source is asked for it. */
  endsUnfounded?: boolean | undefined
  /** Blocks a second; absent: as fast as the endpoints answer. */
  rate?: RateBudget
  retryDelayMs: { first: number; max: number }
  /** Called after each failed fetch, and with undefined after each that succeeded. */
  onFailure?: (reason: string | undefined) => void
}

export const historyPace = {
  rowsPerCommit: 25_000,
  commitDelayMs: { first: 200, max: 2_000 },
  claimDelayMs: { first: 200, max: 5_000 },
  activityPerClaim: 75_000,
  retryDelayMs: { first: 100, max: 15_000 },
} as const satisfies Partial<BackfillOptions>

/** Blocks do not grow from those that are claimed below them. */
export class Unfounded extends Error {
  /** The lowest of them. */
  readonly block: number

  constructor(block: number, reason: string) {
    super(reason)
    this.block = block
  }
}

/**
 * Returns when nothing is missing that can be had, or the signal says stop. Fails with SourceLost if a bulk source
 * cannot go on, with Unfounded, and where a request may ask the nodes no more.
 */
export async function fill(missing: readonly Interval[], options: BackfillOptions, signal: AbortSignal): Promise<void> {
  // A range that is stored in part would be stored again as a whole, and be incomplete until it is claimed.
  const work = new WorkList(missing, options.stored)
  const batch = new CommitBatch(options, interval => work.add(interval))
  // A failure that is not a node's (a full store, a defect) must end the run, not be retried for ever.
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])
  const workers = Array.from({ length: options.parallel }, () => worker(work, batch, options, stopped))
  try {
    await Promise.all(workers)
    await batch.flush()
  } catch (error) {
    stop.abort()
    await Promise.allSettled(workers)
    // What another source gives next is connected to what this one gave.
    if (error instanceof SourceLost || error instanceof Unfounded || isUsedUp(error)) await batch.flush()
    throw error instanceof StoreFailure ? error.cause : error
  }
}

async function worker(
  work: WorkList,
  batch: CommitBatch,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<void> {
  let delayMs = options.retryDelayMs.first
  while (!signal.aborted) {
    const isDisputed = options.links !== undefined && options.mayClaim?.() === false
    if (isDisputed || isFarAhead(work, options)) {
      await pause(isDisputed ? disputePauseMs : unconnectedPauseMs, signal)
      continue
    }
    const interval = work.take(blocksNext(work, options), options.lowest?.())
    if (interval === undefined) return
    const blocks = interval.to - interval.from + 1
    await options.rate?.take(blocks, signal)
    try {
      const range = missingOf(
        await options.fetchRange(interval, signal, options.links?.expectedHash(interval.to)),
        options.stored,
      )
      if (options.blocksAt === undefined) options.rangeSize.learn({ kind: 'answered', blocks, bytes: range.bytes })
      for (const rest of missingIntervals([range.interval], interval)) work.add(rest)
      const added = batch.add(range)
      options.onFailure?.(options.links?.trouble)
      await added
      if (options.links?.isUnfounded(range.interval.to) !== true) {
        delayMs = options.retryDelayMs.first
        continue
      }
      if (options.endsUnfounded === true) throw new Unfounded(range.interval.from, options.links.trouble ?? '')
      await pause(delayMs, signal)
      delayMs = Math.min(delayMs * 2, options.retryDelayMs.max)
    } catch (error) {
      if (error instanceof StoreFailure || error instanceof Unfounded) throw error
      work.add(interval)
      if (error instanceof SourceLost || isUsedUp(error)) throw error
      if (signal.aborted) return
      // What can be had of it is taken next.
      if (rpcFailureOf(error)?.kind === 'pruned' && interval.from < (options.lowest?.() ?? 0)) {
        await batch.claimDue()
        continue
      }
      if (error instanceof RangeRefused) {
        options.rangeSize.learn(refusedOutcome(error, blocks))
        if (blocks > 1) {
          await batch.claimDue()
          continue
        }
      }
      options.onFailure?.(reasonOf(error))
      await batch.claimDue()
      await pause(delayMs, signal)
      delayMs = Math.min(delayMs * 2, options.retryDelayMs.max)
    }
  }
}

function blocksNext(work: WorkList, { blocksAt, rangeSize, rate }: BackfillOptions): number {
  const blocks = blocksAt === undefined || work.highest === undefined ? rangeSize.blocks : blocksAt(work.highest)
  return Math.min(blocks, rate?.ofOneSecond ?? Number.POSITIVE_INFINITY)
}

/** What is not stored of a range. Its claim rests on rows that were read before, so on the weaker proof of both. */
function missingOf(range: DecodedRange, stored: BackfillOptions['stored']): DecodedRange {
  const evidence = stored && weakestEvidence(stored, range.interval)
  return evidence === undefined ? range : { ...range, transfers: [], evidence: ofBoth(range.evidence, evidence) }
}

/** Two endpoints that agreed on the one said nothing of the other, whose senders are one endpoint's word. */
function ofBoth(a: Evidence, b: Evidence): Evidence {
  const weaker = weakestOf(a, b)
  return weaker === 'two-endpoints' && a !== b ? 'one-endpoint' : weaker
}

/** Ranges that wait to be connected, for each that may be under way: bounds memory while one above them is missing. */
const unconnectedShare = 4
const unconnectedPauseMs = 20
const disputePauseMs = 200

/** Whether the next range would wait for others that are not connected either. */
function isFarAhead(work: WorkList, { links, parallel }: BackfillOptions): boolean {
  if (links === undefined || links.waiting < unconnectedShare * parallel || work.highest === undefined) return false
  return !links.isNext(work.highest)
}

/** One range of several that follow each other; undefined if they do not, because the chain moved in between. */
export function concatRanges(ranges: readonly DecodedRange[]): DecodedRange | undefined {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const linked = ranges.every(
    (range, at) => at === 0 || range.headers[0]?.parentHash === ranges[at - 1]?.headers.at(-1)?.hash,
  )
  if (!linked) return undefined
  return {
    ...last,
    interval: { from: first.interval.from, to: last.interval.to },
    evidence: ranges.map(range => range.evidence).reduce(weakestOf),
    headers: ranges.flatMap(range => range.headers),
    transfers: ranges.flatMap(range => range.transfers),
    activity: joinActivity(ranges.map(range => range.activity)),
  }
}

/** Every block of the range with its own rows. Its activity must have the grain `block`. */
export function hotBlocksOf(range: DecodedRange): HotBlock[] {
  let transfersFrom = 0
  let activityFrom = 0
  return range.headers.map(({ number, hash, timestamp }) => {
    let transfersTo = transfersFrom
    while (range.transfers[transfersTo]?.block === number) transfersTo++
    const transfers = range.transfers.slice(transfersFrom, transfersTo)
    const activity = activityOfBlock(range.activity, number, activityFrom)
    transfersFrom = transfersTo
    activityFrom += activity.length
    return { number, hash, timestamp, transfers, activity }
  })
}

/** What failed, then what the node said, then what to do about it. */
export function reasonOf(error: unknown): string {
  const said = messageWithCauses(error)
  const hint = error instanceof AlmanacError && error.hint !== undefined ? ` Try: ${error.hint}` : ''
  return hint === '' || said.endsWith('.') ? `${said}${hint}` : `${said}.${hint}`
}
