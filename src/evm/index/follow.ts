// Follows the head of one chain: appends new blocks, replaces hot blocks once it has another branch whole, and moves
// final blocks to the cold tables. It deletes nothing because a node merely lags.
import { AlmanacError } from '../../errors.ts'
import type { Block, ChainId, CoverageScope, Hash, Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import { RangeRefused } from '../rpc/port.ts'
import type { ChainSource, DecodedRange, Header, RangeHeader } from '../source/chain-source.ts'
import { type FinalityRule, finalHeaderOf } from '../source/chain-source.ts'
import { type RangeSize, refusedOutcome } from '../source/range-size.ts'
import { concatRanges, hotBlocksOf } from './backfill.ts'

export type FollowOptions = FinalityRule & {
  chain: ChainId
  chainName: string
  source: ChainSource
  store: Store
  /** What the followed blocks are complete for. */
  scope: Extract<CoverageScope, 'full' | 'watched'>
  /** The first block of interest: nothing below it is stored. */
  from: number
  /** Blocks per fetch: a long absence is caught up in pieces. */
  rangeSize: RangeSize
  /** How long another branch may stay shorter than ours before it is believed anyway. */
  shorterBranchPatienceMs: number
  now: () => number
  /** Called after ranges were stored. */
  onStored?: (ranges: readonly DecodedRange[]) => void
}

export type FollowStep =
  | { kind: 'idle' }
  /** The node knows less than is stored: it lags or syncs. */
  | { kind: 'behind'; head: number }
  | { kind: 'advanced'; blocks: number; caughtUp: boolean }
  | { kind: 'reorganised'; ancestor: number; depth: number; blocks: number }

export class Follower {
  readonly #options: FollowOptions
  /** The stored hot blocks, lowest first. */
  #hot: Block[] = []
  #finalized = -1
  /** The hash of the final block, if known: every branch must grow from it. */
  #finalHash: Hash | undefined
  /** The hash of block 0, if the nodes have it: what is stored grew from it. */
  #genesisHash: Hash | undefined
  #started = false
  #shorterBranchSince: number | undefined
  #finalOnChain = -1
  #branches = 0
  #latest: Header | undefined

  constructor(options: FollowOptions) {
    this.#options = options
  }

  get latest(): Header | undefined {
    return this.#latest
  }

  /** The highest final block; backfill fills from here downwards. */
  get finalized(): number {
    return this.#finalized
  }

  /** The highest final block with its hash, if that is known. */
  get final(): Pick<Block, 'number' | 'hash'> | undefined {
    return this.#finalHash === undefined ? undefined : { number: this.#finalized, hash: this.#finalHash }
  }

  /**
   * The highest block that the chain itself calls final. It is below `finalized` if the first block of interest is
   * above it: blocks in between are never followed, but may still change.
   */
  get finalOnChain(): number {
    return this.#finalOnChain
  }

  /** Changes whenever stored hot blocks are replaced, even by blocks that were stored before. */
  get branches(): number {
    return this.#branches
  }

  get tip(): Block | undefined {
    return this.#hot.at(-1)
  }

  async step(signal: AbortSignal): Promise<FollowStep> {
    if (!this.#started) await this.#load()
    const [report] = await Promise.all([this.#options.source.head(signal), this.#keepGenesis(signal)])
    if (report.latest.number < this.#finalized) await this.#checkGenesis(signal)
    this.#latest = report.latest
    const final = await finalHeaderOf(report, this.#options, this.#options.source, signal)
    this.#finalOnChain = Math.max(this.#finalOnChain, final?.number ?? -1)
    await this.#settle(final, report.latest, signal)
    const step = await this.#advance(report.latest, signal)
    if (final !== undefined) await this.#finalize(final)
    return step
  }

  async #load(): Promise<void> {
    const { store, chain } = this.#options
    this.#hot = await store.hotBlocks(chain)
    this.#finalized = (await store.chainState(chain))?.finalized ?? -1
    const [number, hash] = (await store.checkpoint(this.#finalName))?.split(' ') ?? []
    if (Number(number) === this.#finalized) this.#finalHash = hash as Hash
    this.#genesisHash = (await store.checkpoint(this.#genesisName)) as Hash | undefined
    this.#started = true
  }

  /**
   * Brings the stored state to where following can go on: the first start begins above the final block; after a long
   * absence old hot blocks become cold if the chain still has them, and go if not. The backfill fills what is in
   * between.
   */
  async #settle(final: Header | undefined, latest: Header, signal: AbortSignal): Promise<void> {
    const { store, chain, source, from } = this.#options
    const start = Math.max(final?.number ?? -1, from - 1)
    if (start <= (this.tip?.number ?? this.#finalized) || latest.number < start) return
    if (this.tip !== undefined) {
      const now = await source.headerByNumber(this.tip.number, signal)
      if (now === undefined) return
      if (now.hash !== this.tip.hash) {
        const ancestor = (await survivingBlock(this.#hot, source, signal))?.number ?? this.#finalized
        await store.commitHot({ chain, ancestor, blocks: [], head: latest })
        this.#branches++
      }
    }
    await this.#settleAt(start, start === final?.number ? final.hash : undefined)
  }

  async #settleAt(upTo: number, hash: Hash | undefined): Promise<void> {
    const { store, chain } = this.#options
    await store.finalize(chain, upTo)
    if (hash !== undefined) await store.putCheckpoint(this.#finalName, `${upTo} ${hash}`)
    this.#finalized = upTo
    this.#finalHash = hash
    this.#hot = this.#hot.filter(block => block.number > upTo)
  }

  /** Keeps the hash of block 0 while nothing is stored: later nothing could confirm it. */
  async #keepGenesis(signal: AbortSignal): Promise<void> {
    const { source, store } = this.#options
    if (this.#genesisHash !== undefined || this.#finalized >= 0 || this.tip !== undefined) return
    const genesis = await source.headerByNumber(0, signal).catch(() => undefined)
    if (genesis === undefined) return
    await store.putCheckpoint(this.#genesisName, genesis.hash)
    this.#genesisHash = genesis.hash
  }

  /**
   * A head below the final block is a node that lags, or another chain with the same id, which block 0 shows. A
   * development node makes a new block 0 at every start.
   */
  async #checkGenesis(signal: AbortSignal): Promise<void> {
    const { source, chainName } = this.#options
    if (this.#genesisHash === undefined) return
    const genesis = await source.headerByNumber(0, signal).catch(() => undefined)
    if (genesis === undefined || genesis.hash === this.#genesisHash) return
    throw new AlmanacError(
      'upstream_invalid',
      `${chainName} block 0 is ${genesis.hash}, but the stored blocks grew from ${this.#genesisHash}: this is another chain, or a development node that was restarted.`,
      {
        retryable: true,
        hint: `set store to a new file for the new chain, or set chains.${chainName}.rpc to nodes of the old one.`,
      },
    )
  }

  get #genesisName(): string {
    return `genesis/${this.#options.chain}`
  }

  get #finalName(): string {
    return `final/${this.#options.chain}`
  }

  async #advance(latest: Header, signal: AbortSignal): Promise<FollowStep> {
    const tip = this.tip
    const floor = Math.max(tip?.number ?? this.#finalized, this.#options.from - 1)
    if (tip?.hash === latest.hash || (tip === undefined && latest.number <= floor)) {
      this.#shorterBranchSince = undefined
      return { kind: 'idle' }
    }
    if (latest.number < floor && !(await this.#isShorterBranch(latest, signal))) {
      return { kind: 'behind', head: latest.number }
    }
    if (latest.number <= floor) return this.#replace(latest, signal)
    const to = Math.min(latest.number, floor + this.#options.rangeSize.blocks)
    const range = await this.#fetch({ from: floor + 1, to }, signal)
    if (tip !== undefined && range.headers[0]?.parentHash !== tip.hash) return this.#replace(latest, signal)
    if (floor === this.#finalized) this.#checkGrowsFromFinal(range.headers[0])
    await this.#commit(floor, range, latest)
    this.#options.onStored?.([range])
    return { kind: 'advanced', blocks: to - floor, caughtUp: to === latest.number }
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
    return (await source.headerByHash(tip.hash, signal)) === undefined
  }

  /** Finds where another branch leaves ours, fetches it whole, and replaces our blocks in one transaction. */
  async #replace(latest: Header, signal: AbortSignal): Promise<FollowStep> {
    const oldTip = this.tip?.number ?? this.#finalized
    const ancestor = await this.#ancestorOf(latest, signal)
    const pieces: DecodedRange[] = []
    for (let from = ancestor + 1; from <= latest.number; ) {
      const to = Math.min(latest.number, from + this.#options.rangeSize.blocks - 1)
      pieces.push(await this.#fetch({ from, to }, signal))
      from = to + 1
    }
    const branch = concatRanges(pieces)
    const parent = this.#hot.find(block => block.number === ancestor)
    const isWhole = branch !== undefined && branch.headers.at(-1)?.hash === latest.hash
    // The chain may have moved again while the branch was fetched; the next step looks again.
    if (!isWhole || (parent !== undefined && branch.headers[0]?.parentHash !== parent.hash)) return { kind: 'idle' }
    await this.#commit(ancestor, branch, latest)
    this.#options.onStored?.(pieces)
    this.#shorterBranchSince = undefined
    return { kind: 'reorganised', ancestor, depth: oldTip - ancestor, blocks: latest.number - ancestor }
  }

  /** Walks the new branch down by parent hashes until it meets a stored block. */
  async #ancestorOf(latest: Header, signal: AbortSignal): Promise<number> {
    const { chainName, source } = this.#options
    const byNumber = new Map(this.#hot.map(block => [block.number, block.hash]))
    let header: Header = latest
    while (header.number > this.#finalized + 1) {
      if (byNumber.get(header.number - 1) === header.parentHash) return header.number - 1
      const parent = await source.headerByHash(header.parentHash, signal)
      if (parent === undefined) {
        throw new AlmanacError(
          'upstream_failed',
          `No ${chainName} endpoint has block ${header.parentHash}, the parent of block ${header.number}.`,
          {
            retryable: true,
            hint: 'wait for the node to finish its reorganisation, or add a second endpoint.',
          },
        )
      }
      header = parent
    }
    this.#checkGrowsFromFinal(header)
    return this.#finalized
  }

  /** A branch that leaves the chain below its final block is not followed: a person has to decide. */
  #checkGrowsFromFinal(header: RangeHeader | undefined): void {
    if (header === undefined || this.#finalHash === undefined || header.number !== this.#finalized + 1) return
    if (header.parentHash === this.#finalHash) return
    const { chainName } = this.#options
    throw new AlmanacError(
      'upstream_invalid',
      `${chainName} block ${header.number} grows from ${header.parentHash}, but block ${this.#finalized} was final as ${this.#finalHash}.`,
      {
        retryable: true,
        hint: `check that the endpoints serve ${chainName}; if the chain really reorganised that deep, stop the service, set chains.${chainName}.finality to more blocks and run almanac verify --chain ${chainName} --from ${Math.max(0, this.#finalized - 100)} --to ${this.#finalized} --repair.`,
      },
    )
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
    await store.commitHot({
      chain,
      ancestor,
      blocks: hotBlocksOf(range),
      covered: { scope, from: ancestor + 1, evidence: range.evidence },
      // A new head may have come while the range was fetched; then what is stored decides.
      head: blockOf(range.interval.to === latest.number ? (range.headers.at(-1) ?? latest) : latest),
    })
    if ((this.tip?.number ?? ancestor) > ancestor) this.#branches++
    this.#hot = [...this.#hot.filter(block => block.number <= ancestor), ...range.headers.map(blockOf)]
  }

  async #finalize(final: Header): Promise<void> {
    const { chainName } = this.#options
    const { number } = final
    // A tip below the final block was not compared with it: no endpoint had that height. The next step compares.
    if (number <= this.#finalized || (this.tip !== undefined && this.tip.number < number)) return
    const stored = this.#hot.find(block => block.number === final.number)
    if (stored !== undefined && stored.hash !== final.hash) {
      throw new AlmanacError(
        'upstream_invalid',
        `${chainName} endpoint calls block ${final.number} ${final.hash} final, but ${stored.hash} is stored.`,
        {
          retryable: true,
          hint: 'wait: the branches meet again when the endpoint has settled; if it lasts, check the endpoint.',
        },
      )
    }
    await this.#settleAt(number, final.hash)
  }
}

function blockOf({ number, hash, timestamp }: Block): Block {
  return { number, hash, timestamp }
}

/** The highest hot block that the chain still has, after an absence. `hot` is lowest first. */
export async function survivingBlock(
  hot: readonly Block[],
  source: Pick<ChainSource, 'headerByNumber'>,
  signal: AbortSignal,
): Promise<Block | undefined> {
  for (const block of hot.toReversed()) {
    const now = await source.headerByNumber(block.number, signal)
    if (now?.hash === block.hash) return block
  }
  return undefined
}
