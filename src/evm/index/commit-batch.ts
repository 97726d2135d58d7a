// Gathers the fetched ranges of one chain's history into large commits with exact coverage. It fetches nothing.
//
// Rows go ahead of claims: a range is claimed a few commits after its transfers were stored, together with its wallets'
// activity. Most wallets take part in many ranges, and a database that merges them once does a third of the work. Until
// then the store knows the range as pending; after a crash it is fetched again, and replaces what was stored of it.
// Whole blocks are claimed only when `linked-claims.ts` has connected them to the chain.
import { isCovered } from '../../coverage.ts'
import {
  type Block,
  type ChainId,
  type CoverageScope,
  type CoveredInterval,
  type Interval,
  isWholeScope,
  type TransferRow,
} from '../../model.ts'
import { activityCount, joinActivity } from '../../store/packed-activity.ts'
import type { ColdCommit, Store, StoredRange } from '../../store/store.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { type Claim, claimOf, type LinkedClaims } from './linked-claims.ts'

export type CommitOptions = {
  chain: ChainId
  store: Store
  /** What the fetched ranges are complete for. */
  scope: CoverageScope
  /** Whole blocks whose transfers are stored and claimed: of a range in these, only activity is added. */
  stored?: readonly CoveredInterval[] | undefined
  /** Connects whole blocks to the chain; without it a range is claimed as it comes. */
  links?: LinkedClaims
  /** Ranges under way at once. */
  parallel: number
  /** Rows gathered before a commit: large commits cost less per row, but nothing is fetched meanwhile. */
  rowsPerCommit: number
  /** How long gathered rows may wait for more: short at first, so that first answers come early, then longer. */
  commitDelayMs: { first: number; max: number }
  /** How long stored rows may wait for their claim, and how much activity may wait with them, in rows of 106 bytes. */
  claimDelayMs: { first: number; max: number }
  activityPerClaim: number
  /** False while the chain is disputed: whole blocks wait. Those of a contract are stored, and asked again later. */
  mayClaim?: () => boolean
  onProgress?: (progress: BackfillProgress) => void
}

/** What was stored. A range that was not claimed when its process ended is fetched and counted again. */
export type BackfillProgress = {
  blocks: number
  rows: number
  logs: number
  bytes: number
  ranges: readonly DecodedRange[]
}

/** How long rows and claims may wait, as a share of the time that the job has taken. */
const commitShare = 1 / 4
const claimShare = 1 / 2

/** Gathers fetched ranges into commits. One commit runs at a time, so that memory stays bounded. */
export class CommitBatch {
  readonly #options: CommitOptions
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
  constructor(options: CommitOptions, refuse: (interval: Interval) => void) {
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

/** A commit failed: no other range can be stored either. */
export class StoreFailure extends Error {}

function sumOf(ranges: readonly DecodedRange[], field: 'logs' | 'bytes'): number {
  return ranges.reduce((sum, range) => sum + range[field], 0)
}

/** One commit of the rows of `ranges`, and of claims on ranges whose rows are in it or stored already. */
function coldCommitOf(
  { chain, scope, stored }: Pick<CommitOptions, 'chain' | 'scope' | 'stored'>,
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
