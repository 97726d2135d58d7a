// Follows the head of one chain: appends new blocks, replaces hot blocks once it has another branch whole, and moves
// final blocks to the cold tables. It deletes nothing because a node merely lags.
import type { Block, ChainId, Hash, Interval } from '../../model.ts'
import { finalCheckpoint } from '../../store/checkpoint-names.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'
import { RangeRefused } from '../rpc/port.ts'
import type { ChainSource, DecodedRange, Header, HeadReport, RangeHeader } from '../source/chain-source.ts'
import type { Finality } from '../source/finality.ts'
import { type RangeSize, refusedOutcome } from '../source/range-size.ts'
import { concatRanges, hotBlocksOf } from './backfill.ts'
import { finalElsewhere, growsElsewhere, parentMissing, tooFarAhead } from './follow-failures.ts'
import { Genesis } from './genesis.ts'
import { Unclaimed } from './unclaimed.ts'

/** Usually; a reorg may be under way until then. */
export const shorterBranchPatienceMs = 30_000

export type FollowPace = {
  /** How long another branch may stay shorter than ours before it is believed anyway. */
  shorterBranchPatienceMs: number
  /** Blocks above the final one that are followed: more than a day of the fastest chain takes 75 MB here. */
  hotBlocksMax: number
  /** What recent blocks may take in each process that answers: days of a large chain. */
  recentBytesMax: number
  /** A longer branch is not held in memory until it is whole, once the chain is final on another one. */
  replacedBlocksMax: number
}

export type FollowOptions = FollowPace & {
  chain: ChainId
  chainName: string
  source: ChainSource
  finality: Finality
  store: Store
  /** What the followed blocks are complete for. */
  scope: WholeScope | 'watched'
  /** The first block of interest: nothing below it is stored. */
  from: number
  /** Blocks per fetch: a long absence is caught up in pieces. */
  rangeSize: RangeSize
  now: () => number
  /** Called after ranges were stored. */
  onStored?: (ranges: readonly DecodedRange[]) => void
}

export type FollowStep =
  | { kind: 'idle' }
  /** The node knows less than is stored: it lags or syncs. */
  | { kind: 'behind'; head: number; stored: number }
  | { kind: 'advanced'; blocks: number; caughtUp: boolean }
  | { kind: 'reorganised'; ancestor: number; depth: number; caughtUp: boolean }

/** What the rest of the indexer sees of the head. */
export type FollowedHead = Omit<{ [Name in keyof Follower]: Follower[Name] }, 'latest'> & {
  readonly latest: Block | undefined
  /** Takes back what the head was named by, where that is gone. */
  settle?(signal: AbortSignal): Promise<void>
}

export class Follower implements FollowedHead {
  readonly #options: FollowOptions
  readonly #genesis: Genesis
  readonly #unclaimed: Unclaimed
  /** The stored hot blocks, lowest first. */
  #hot: Block[] = []
  #recentBytes = 0
  /** What the store says of the head: it may be above what is stored. */
  #storedHead: Hash | undefined
  #finalized = -1
  /** The hash of the final block, if known: every branch must grow from it. */
  #finalHash: Hash | undefined
  #started = false
  #shorterBranchSince: number | undefined
  #finalOnChain = -1
  #branches = 0
  #latest: Header | undefined

  constructor(options: FollowOptions) {
    this.#options = options
    this.#genesis = new Genesis(options)
    this.#unclaimed = new Unclaimed(options)
  }

  get latest(): Header | undefined {
    return this.#latest
  }

  /** The highest final block; backfill fills from here downwards. */
  get finalized(): number {
    return this.#finalized
  }

  /**
   * The highest block that the chain itself calls final. It is below `finalized` if the first block of interest is
   * above it: blocks in between are never followed, but may still change.
   */
  get finalOnChain(): number {
    return this.#finalOnChain
  }

  /** The final block that every branch grows from. Undefined while unknown or disputed: nothing may be claimed. */
  get finalHeader(): { number: number; hash: Hash } | undefined {
    if (this.#finalHash === undefined || this.#disputed) return undefined
    return { number: this.#finalized, hash: this.#finalHash }
  }

  get #disputed(): boolean {
    return this.#options.finality.dispute !== undefined
  }

  /** Changes whenever stored hot blocks are replaced, even by blocks that were stored before. */
  get branches(): number {
    return this.#branches
  }

  get tip(): Block | undefined {
    return this.#hot.at(-1)
  }

  /** The stored blocks that are not final, lowest first. */
  get hot(): readonly Block[] {
    return this.#hot
  }

  async step(signal: AbortSignal): Promise<FollowStep> {
    if (!this.#started) await this.#load()
    const isEmpty = this.#finalized < 0 && this.tip === undefined
    const keeps = isEmpty ? this.#genesis.keep(signal) : undefined
    const [report] = await Promise.all([this.#head(signal), keeps])
    if (report.latest.number < this.#finalized) await this.#genesis.check(signal)
    this.#latest = report.latest
    const stored = { tip: this.tip?.number, final: this.#finalized }
    const final = await this.#options.finality.look(report, stored, signal)
    // Without a final block it is unknown where to begin.
    if (this.#disputed && isEmpty) return { kind: 'idle' }
    this.#finalOnChain = Math.max(this.#finalOnChain, final?.number ?? -1)
    await this.#settle(final, report.latest)
    // After a dispute: what was stored meanwhile is the chain's if it leads through the block that is agreed on.
    if (this.#hot.some(({ hash }) => hash === final?.hash)) await this.#unclaimed.claim()
    const step = this.#isFull ? undefined : await this.#advance(report.latest, signal)
    if (final !== undefined) await this.#finalize(final)
    if (this.#isFull) throw tooFarAhead(this.#options.chainName, this.#hot.length, this.#finalized)
    return step ?? { kind: 'idle' }
  }

  /** Nodes can make up blocks for ever, and name none that is final. */
  get #isFull(): boolean {
    const { hotBlocksMax, recentBytesMax } = this.#options
    return this.#hot.length >= hotBlocksMax || (this.#hot.length > 0 && this.#recentBytes >= recentBytesMax)
  }

  /** Where no other endpoint answers, one that lagged may have caught up; only a head can tell. */
  async #head(signal: AbortSignal): Promise<HeadReport> {
    const { source, finality } = this.#options
    const { lagging } = finality
    return await source.head(signal, lagging).catch(error => {
      if (lagging.size === 0 || signal.aborted) throw error
      return source.head(signal)
    })
  }

  async #load(): Promise<void> {
    const { store, chain } = this.#options
    this.#hot = await store.hotBlocks(chain)
    const state = await store.chainState(chain)
    this.#storedHead = state?.head.hash
    this.#finalized = state?.finalized ?? -1
    await this.#weigh()
    const [number, hash] = (await store.checkpoint(this.#finalName))?.split(' ') ?? []
    if (Number(number) === this.#finalized) this.#finalHash = hash as Hash
    await this.#unclaimed.load(this.tip?.number ?? -1)
    await this.#genesis.load()
    this.#started = true
  }

  /**
   * Brings the stored state to where following can go on: the first start begins above the final block. Hot blocks that
   * the final one left behind, in a long absence or on a long branch that was not the chain's, go, and the backfill
   * reads them again: it connects what it reads to the final block, where the word of an endpoint could keep a block
   * that the chain has no more.
   */
  async #settle(final: Header | undefined, latest: Header): Promise<void> {
    const { store, chain, from } = this.#options
    const start = Math.max(final?.number ?? -1, from - 1)
    const isBehind = start > (this.tip?.number ?? this.#finalized)
    if (!(isBehind || this.#isLost(final)) || latest.number < start) return
    if (this.tip !== undefined) {
      await store.commitHot({ chain, ancestor: this.#finalized, blocks: [], head: latest })
      this.#storedHead = latest.hash
      await this.#unclaimed.keepUpTo(this.#finalized)
      this.#branches++
    }
    await this.#settleAt(start, start === final?.number ? final.hash : undefined)
  }

  /** Whether the final block is on another branch than ours, which is too long to be replaced at once. */
  #isLost(final: Header | undefined): boolean {
    if (final === undefined || this.#hot.length <= this.#options.replacedBlocksMax) return false
    return this.#hot.some(({ number, hash }) => number === final.number && hash !== final.hash)
  }

  async #settleAt(upTo: number, hash: Hash | undefined): Promise<void> {
    const { store, chain } = this.#options
    await store.putChainState(chain, { finalized: upTo })
    if (hash !== undefined) await store.putCheckpoint(this.#finalName, `${upTo} ${hash}`)
    this.#finalized = upTo
    this.#finalHash = hash
    this.#hot = this.#hot.filter(block => block.number > upTo)
    await this.#weigh()
  }

  async #weigh(): Promise<void> {
    const { store, chain } = this.#options
    this.#recentBytes = (await store.chainState(chain))?.recentBytes ?? 0
  }

  get #finalName(): string {
    return finalCheckpoint(this.#options.chain)
  }

  async #advance(latest: Header, signal: AbortSignal): Promise<FollowStep> {
    const tip = this.tip
    const floor = Math.max(tip?.number ?? this.#finalized, this.#options.from - 1)
    if (tip?.hash === latest.hash || (tip === undefined && latest.number <= floor)) {
      this.#shorterBranchSince = undefined
      if (tip?.hash === latest.hash) await this.#keepHead(latest)
      return { kind: 'idle' }
    }
    if (latest.number < floor && !(await this.#isShorterBranch(latest, signal))) {
      return { kind: 'behind', head: latest.number, stored: tip?.number ?? floor }
    }
    if (latest.number <= floor) return this.#replace(latest, latest, signal)
    const to = Math.min(latest.number, floor + this.#options.rangeSize.blocks)
    const range = await this.#fetch({ from: floor + 1, to }, signal)
    const [lowest = latest] = range.headers
    if (tip !== undefined && lowest.parentHash !== tip.hash) return this.#replace(latest, lowest, signal)
    if (floor === this.#finalized) this.#checkGrowsFromFinal(lowest)
    await this.#commit(floor, range, latest)
    this.#options.onStored?.([range])
    return { kind: 'advanced', blocks: to - floor, caughtUp: to === latest.number }
  }

  /** The chain may have lost blocks above our tip that were told of and never stored. */
  async #keepHead(latest: Header): Promise<void> {
    if (this.#storedHead === latest.hash) return
    const { store, chain } = this.#options
    await store.putChainState(chain, { head: blockOf(latest) })
    this.#storedHead = latest.hash
  }

  /**
   * A lower head is a lagging node, unless it shows another branch for a while and has forgotten ours. Endpoints that
   * balance over lagging nodes never pass: they still know our tip, or agree with us at that height.
   */
  async #isShorterBranch(latest: Header, signal: AbortSignal): Promise<boolean> {
    const { now, shorterBranchPatienceMs, source } = this.#options
    const tip = this.tip
    const ours = this.#hot.find(block => block.number === latest.number)
    if (tip === undefined || ours === undefined || ours.hash === latest.hash) {
      this.#shorterBranchSince = undefined
      return false
    }
    this.#shorterBranchSince ??= now()
    if (now() - this.#shorterBranchSince < shorterBranchPatienceMs) return false
    return (await source.headerOf(tip, signal)) === undefined
  }

  /**
   * Finds where another branch leaves ours, fetches it until it is longer or whole, and replaces our blocks in one
   * transaction. `lowest` is the lowest block of it that is known.
   */
  async #replace(latest: Header, lowest: RangeHeader, signal: AbortSignal): Promise<FollowStep> {
    // While it is disputed which branch is right, ours stays.
    if (this.#disputed) return { kind: 'idle' }
    const oldTip = this.tip?.number ?? this.#finalized
    const ancestor = Math.min(oldTip, await this.#ancestorOf(lowest, signal))
    const end = Math.min(latest.number, oldTip + this.#options.rangeSize.blocks)
    const pieces: DecodedRange[] = []
    for (let from = ancestor + 1; from <= end; ) {
      const to = Math.min(end, from + this.#options.rangeSize.blocks - 1)
      pieces.push(await this.#fetch({ from, to }, signal))
      from = to + 1
    }
    const branch = concatRanges(pieces)
    const parent = this.#hot.find(block => block.number === ancestor)
    const isWhole = branch !== undefined && (end < latest.number || branch.headers.at(-1)?.hash === latest.hash)
    // The chain may have moved again, or become disputed, while the branch was fetched; the next step looks again.
    if (this.#disputed || !isWhole || (parent !== undefined && branch.headers[0]?.parentHash !== parent.hash))
      return { kind: 'idle' }
    if (ancestor === this.#finalized) this.#checkGrowsFromFinal(branch.headers[0])
    await this.#commit(ancestor, branch, latest)
    this.#options.onStored?.(pieces)
    this.#shorterBranchSince = undefined
    const caughtUp = end === latest.number
    if (ancestor === oldTip) return { kind: 'advanced', blocks: end - oldTip, caughtUp }
    return { kind: 'reorganised', ancestor, depth: oldTip - ancestor, caughtUp }
  }

  /** Walks the new branch down by parent hashes until it meets a stored block. */
  async #ancestorOf(lowest: RangeHeader, signal: AbortSignal): Promise<number> {
    const { chainName, source } = this.#options
    const byNumber = new Map(this.#hot.map(block => [block.number, block.hash]))
    let header = lowest
    while (header.number > this.#finalized + 1) {
      const [number, hash] = [header.number - 1, header.parentHash]
      if (byNumber.get(number) === hash) return number
      const parent = hash && (await source.headerOf({ number, hash }, signal))
      if (!parent) throw parentMissing(chainName, header)
      header = parent
    }
    this.#checkGrowsFromFinal(header)
    return this.#finalized
  }

  #checkGrowsFromFinal(header: RangeHeader | undefined): void {
    if (header === undefined || this.#finalHash === undefined || header.number !== this.#finalized + 1) return
    if (header.parentHash !== this.#finalHash) throw growsElsewhere(this.#options.chainName, header, this.#finalHash)
  }

  async #fetch(interval: Interval, signal: AbortSignal): Promise<DecodedRange> {
    const { source, rangeSize } = this.#options
    const blocks = interval.to - interval.from + 1
    try {
      const range = await source.range(interval, 'block', signal)
      rangeSize.learn({ kind: 'answered', blocks, bytes: range.bytes })
      return range
    } catch (error) {
      if (error instanceof RangeRefused) rangeSize.learn(refusedOutcome(error, blocks))
      throw error
    }
  }

  async #commit(ancestor: number, range: DecodedRange, latest: Header): Promise<void> {
    const { store, chain, scope } = this.#options
    const covered = { scope, from: ancestor + 1, evidence: range.evidence }
    const claims = !this.#disputed
    await this.#unclaimed.keepUpTo(ancestor)
    if (!claims) await this.#unclaimed.add({ ...range.interval, evidence: range.evidence })
    // A new head may have come while the range was fetched; then what is stored decides.
    const head = blockOf(range.interval.to === latest.number ? (range.headers.at(-1) ?? latest) : latest)
    await store.commitHot({ chain, ancestor, blocks: hotBlocksOf(range), ...(claims ? { covered } : {}), head })
    this.#storedHead = head.hash
    if ((this.tip?.number ?? ancestor) > ancestor) this.#branches++
    this.#hot = [...this.#hot.filter(block => block.number <= ancestor), ...range.headers.map(blockOf)]
    await this.#weigh()
  }

  async #finalize(final: Header): Promise<void> {
    const { number } = final
    // After a `sync` up to this block, or a process that ended in between, its hash is not known.
    if (number === this.#finalized && this.#finalHash === undefined) await this.#settleAt(number, final.hash)
    // A tip below the final block was not compared with it: no endpoint had that height. The next step compares.
    if (number <= this.#finalized || (this.tip !== undefined && this.tip.number < number)) return
    const stored = this.#hot.find(block => block.number === final.number)
    if (stored !== undefined && stored.hash !== final.hash)
      throw finalElsewhere(this.#options.chainName, final, stored.hash)
    await this.#settleAt(number, final.hash)
  }
}

function blockOf({ number, hash, timestamp }: Block): Block {
  return { number, hash, timestamp }
}
