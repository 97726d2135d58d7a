// Fills the history of one chain from its final block downwards: fetches missing ranges in parallel, newest first, and
// commits them in large batches with exact coverage. A failed range is fetched again; it never claims what is not
// stored.
//
// Rows go ahead of claims: a range is claimed a few commits after its transfers were stored, together with its wallets'
// activity. Most wallets take part in many ranges, and a database that merges them once does a third of the work. Until
// then the store knows the range as pending; after a crash it is fetched again, and replaces what was stored of it.
// Whole blocks are claimed only when `linked-claims.ts` has connected them to the chain.
import { pause } from '../../abort.ts'
import { isCovered, weakestEvidence, weakestOf } from '../../coverage.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import {
  type Block,
  type ChainId,
  type CoverageScope,
  type CoveredInterval,
  type Hash,
  type Interval,
  isWholeScope,
  type TransferRow,
} from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { activityCount, activityOfBlock, joinActivity } from '../../store/packed-activity.ts'
import type { ColdCommit, HotBlock, Store, StoredRange } from '../../store/store.ts'
import type { RateBudget } from '../rate-budget.ts'
import { RangeRefused } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { type RangeSize, refusedOutcome } from '../source/range-size.ts'
import { type Claim, claimOf, type LinkedClaims } from './linked-claims.ts'
import { WorkList } from './work-list.ts'

export type BackfillOptions = {
  chain: ChainId
  store: Store
  /** What the fetched ranges are complete for. */
  scope: CoverageScope
  /** Whole blocks whose transfers are stored and claimed: of a range in these, only activity is added. */
  stored?: readonly CoveredInterval[] | undefined
  /** `lastHash` is given where the hash of the last block is proven. */
  fetchRange: (interval: Interval, signal: AbortSignal, lastHash?: Hash) => Promise<DecodedRange>
  /** No endpoint has the blocks below: they stay missing. Absent: all can be had. */
  lowest?: () => number
  /** Connects whole blocks to the chain; without it a range is claimed as it comes. */
  links?: LinkedClaims
  rangeSize: RangeSize
  /** Blocks a second; absent: as fast as the endpoints answer. */
  rate?: RateBudget
  /** Ranges under way at once. */
  parallel: number
  /** Rows gathered before a commit: large commits cost less per row, but nothing is fetched meanwhile. */
  rowsPerCommit: number
  /** How long gathered rows may wait for more: short at first, so that first answers come early, then longer. */
  commitDelayMs: { first: number; max: number }
  /** How long stored rows may wait for their claim, and how much activity may wait with them, in rows of 106 bytes. */
  claimDelayMs: { first: number; max: number }
  activityPerClaim: number
  retryDelayMs: { first: number; max: number }
  /** False while the chain is disputed: whole blocks wait. Those of a contract are stored, and asked again later. */
  mayClaim?: () => boolean
  onProgress?: (progress: BackfillProgress) => void
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

/** What was stored. A range that was not claimed when its process ended is fetched and counted again. */
export type BackfillProgress = {
  blocks: number
  rows: number
  logs: number
  bytes: number
  ranges: readonly DecodedRange[]
}

/** Returns when nothing is missing that can be had, or the signal says stop. */
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
    const blocksMax = Math.min(options.rangeSize.blocks, options.rate?.ofOneSecond ?? Number.POSITIVE_INFINITY)
    const interval = work.take(blocksMax, options.lowest?.())
    if (interval === undefined) return
    const blocks = interval.to - interval.from + 1
    await options.rate?.take(blocks, signal)
    try {
      const range = missingOf(
        await options.fetchRange(interval, signal, options.links?.expectedHash(interval.to)),
        options.stored,
      )
      options.rangeSize.learn({ kind: 'answered', blocks, bytes: range.bytes })
      const added = batch.add(range)
      options.onFailure?.(options.links?.trouble)
      await added
      if (options.links?.isUnfounded(interval.to) !== true) {
        delayMs = options.retryDelayMs.first
        continue
      }
      await pause(delayMs, signal)
      delayMs = Math.min(delayMs * 2, options.retryDelayMs.max)
    } catch (error) {
      if (error instanceof StoreFailure) throw error
      work.add(interval)
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

/** What is not stored of a range. Its claim rests on rows that were read before, so on the weaker proof of both. */
function missingOf(range: DecodedRange, stored: BackfillOptions['stored']): DecodedRange {
  const evidence = stored && weakestEvidence(stored, range.interval)
  return evidence === undefined ? range : { ...range, transfers: [], evidence: weakestOf(range.evidence, evidence) }
}

/** Ranges that wait to be connected, for each that may be under way: bounds memory while one above them is missing. */
const unconnectedShare = 4
const unconnectedPauseMs = 20
const disputePauseMs = 200

/** Whether the next range would wait for others that are not connected either. */
function isFarAhead(work: WorkList, { links, parallel }: BackfillOptions): boolean {
  if (links === undefined || links.waiting < unconnectedShare * parallel || work.highest === undefined) return false
  return links.expectedHash(work.highest) === undefined
}

/** How long rows and claims may wait, as a share of the time that the job has taken. */
const commitShare = 1 / 4
const claimShare = 1 / 2

/** Gathers fetched ranges into commits. One commit runs at a time, so that memory stays bounded. */
class CommitBatch {
  readonly #options: BackfillOptions
  #ranges: DecodedRange[] = []
  #rows = 0
  #added = 0
  #sinceMs = 0
  /** Of gathered and stored ranges that are connected. */
  #claims: Claim[] = []
  #activity = 0
  #claimedMs = performance.now()
  readonly #startedMs = performance.now()
  #committing: Promise<void> = Promise.resolve()

  readonly #refuse: (interval: Interval) => void

  /** `refuse` gets the ranges that turn out to be of another chain. */
  constructor(options: BackfillOptions, refuse: (interval: Interval) => void) {
    this.#options = options
    this.#refuse = refuse
  }

  async add(range: DecodedRange): Promise<void> {
    const now = performance.now()
    if (this.#ranges.length === 0) this.#sinceMs = now
    this.#ranges.push(range)
    this.#rows += range.transfers.length + activityCount(range.activity)
    this.#link(claimOf(range))
    const { rowsPerCommit, commitDelayMs, parallel } = this.#options
    // Somebody may be waiting for the newest ranges, which come first.
    const isFirst = this.#added++ < parallel
    const isDue = now - this.#sinceMs >= this.#delay(now, commitDelayMs, commitShare)
    if (isFirst || isDue || this.#rows >= rowsPerCommit) await this.#store({ claim: isFirst || this.#isClaimDue(now) })
  }

  /** What is refused is not stored; what was stored of it is replaced when its blocks come again. */
  #link(claim: Claim): void {
    const { connected, refused } = this.#options.links?.add(claim) ?? { connected: [claim] }
    for (const { activity } of connected) this.#activity += activityCount(activity)
    this.#claims.push(...connected)
    if (refused === undefined) return
    this.#ranges = this.#ranges.filter(({ interval }) => interval !== refused.interval)
    this.#refuse(refused.interval)
  }

  /** Stores and claims what has waited long enough while no range arrives that would take it along. */
  async claimDue(): Promise<void> {
    if (this.#claims.length > 0 && this.#isClaimDue(performance.now())) await this.flush()
  }

  /** Stores and claims everything. */
  async flush(): Promise<void> {
    await this.#store({ claim: true })
  }

  async #store({ claim }: { claim: boolean }): Promise<void> {
    const ranges = this.#ranges
    const isClaiming = claim && this.#options.mayClaim?.() !== false
    const claims = isClaiming ? this.#claims : []
    this.#ranges = []
    this.#rows = 0
    if (isClaiming) {
      this.#claims = []
      this.#activity = 0
      this.#claimedMs = performance.now()
    }
    const previous = this.#committing
    this.#committing = (async () => {
      await previous
      if (ranges.length > 0 || claims.length > 0) await this.#commit(ranges, claims)
    })()
    await this.#committing
  }

  #isClaimDue(now: number): boolean {
    const { claimDelayMs, activityPerClaim } = this.#options
    // Without activity there is nothing to wait for.
    if (this.#activity === 0 || this.#activity >= activityPerClaim) return true
    return now - this.#claimedMs >= this.#delay(now, claimDelayMs, claimShare)
  }

  #delay(now: number, { first, max }: { first: number; max: number }, share: number): number {
    return Math.min(max, Math.max(first, (now - this.#startedMs) * share))
  }

  async #commit(ranges: readonly DecodedRange[], claims: readonly Claim[]): Promise<void> {
    const { store, onProgress } = this.#options
    const commit = coldCommitOf(this.#options, ranges, claims)
    try {
      await store.commitCold(commit)
    } catch (error) {
      throw new StoreFailure('The store refused a commit.', { cause: error })
    }
    onProgress?.({
      blocks: ranges.reduce((sum, { interval }) => sum + interval.to - interval.from + 1, 0),
      rows: commit.transfers.length,
      logs: sumOf(ranges, 'logs'),
      bytes: sumOf(ranges, 'bytes'),
      ranges,
    })
  }
}

class StoreFailure extends Error {}

function sumOf(ranges: readonly DecodedRange[], field: 'logs' | 'bytes'): number {
  return ranges.reduce((sum, range) => sum + range[field], 0)
}

/** One commit of the rows of `ranges`, and of claims on ranges whose rows are in it or stored already. */
function coldCommitOf(
  { chain, scope, stored }: Pick<BackfillOptions, 'chain' | 'scope' | 'stored'>,
  given: readonly DecodedRange[],
  claims: readonly Claim[],
): ColdCommit {
  // Nothing goes ahead of a claim over rows that are claimed already, not even the blocks that it ends with.
  const isStored = ({ interval }: { interval: Interval }): boolean =>
    stored !== undefined && isCovered(stored, interval)
  const ranges = stored === undefined ? given : given.filter(range => !isStored(range))
  const blocks: Block[] = stored === undefined ? [] : claims.filter(isStored).flatMap(({ ends }) => ends)
  const transfers: TransferRow[] = []
  for (const range of ranges) {
    const held = new Set<number>([range.interval.from, range.interval.to])
    for (const transfer of range.transfers) {
      held.add(transfer.block)
      transfers.push(transfer)
    }
    for (const header of range.headers) if (held.has(header.number)) blocks.push(header)
  }
  const covered = claims.map(({ interval, evidence }) => ({ ...interval, evidence, scope }))
  const rows = isWholeScope(scope) ? { ranges: ranges.flatMap(storedRangeOf) } : {}
  return {
    chain,
    covered,
    ...rows,
    blocks,
    transfers,
    activity: joinActivity(claims.map(({ activity }) => activity)),
  }
}

function storedRangeOf({ interval, headers }: DecodedRange): StoredRange[] {
  const hash = headers.at(-1)?.hash
  return hash === undefined ? [] : [{ ...interval, hash }]
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
  const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : ''
  const hint = error instanceof AlmanacError && error.hint !== undefined ? ` Try: ${error.hint}` : ''
  return `${messageOf(error)}${cause}${hint}`
}
