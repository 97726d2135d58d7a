// Fills what is missing of one chain's history: whole blocks, each part by the source that is best at it, or, on
// demand, what followed and listed contracts lack. It rests while the control holds it, and then only looks what is
// left.
import { followSignals, pause } from '../../abort.ts'
import { blockCount, intervalsFrom, isCovered, joinIntervals, missingIntervals } from '../../coverage.ts'
import type { Log } from '../../log.ts'
import { type Address, chainScopes, type Hash, type Interval } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'
import type { ContractAnnotator } from '../facts/contract-annotator.ts'
import { type Lack, lowestFloor, outOfReach } from '../rpc/history-floors.ts'
import type { RpcPort } from '../rpc/port.ts'
import { type BulkSource, SourceLost } from '../source/bulk-source.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import { codelessAmong } from '../source/deployment.ts'
import { findStored } from '../source/find-stored.ts'
import { FullSource } from '../source/full-source.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { dropLostRanges, linkedClaims } from './anchors.ts'
import { doNotJoin, inNoSource, misnamed, sourceReasons } from './archive-failures.ts'
import { type BackfillOptions, fill, Unfounded } from './backfill.ts'
import type { BackfillControl } from './backfill-control.ts'
import type { ChainStats } from './chain-stats.ts'
import type { StatusOptions } from './chain-status.ts'
import type { ContractJobs } from './contract-jobs.ts'
import type { FollowedHead } from './follow.ts'
import { partsOf, type WholeBlocks, wholeBlocks } from './missing-blocks.ts'
import { mayRise, raiseClaims } from './raise.ts'
import type { Recheck } from './recheck.ts'

export type HistoryOptions = {
  setup: StatusOptions['setup'] & { contracts: readonly Address[] }
  store: Store
  log: Log
  /** Without an endpoint where the chain has no node. */
  rpc: RpcPort
  source: FullSource | WatchedSource
  bulk: BulkSources
  follower: FollowedHead
  stats: ChainStats
  control: BackfillControl
  backfill: () => Omit<BackfillOptions, 'chain' | 'store' | 'scope' | 'fetchRange'>
  annotator?: ContractAnnotator | undefined
  /** Both absent where the chain is indexed in full. */
  contracts: ContractJobs | undefined
  recheck: Recheck | undefined
}

/** How long nodes fill what no bulk source has before the sources are looked at again. */
const turnMs = 600_000

const codelessShown = 10

/** Asked for what no bulk source has. */
type Nodes = { kind: 'nodes'; holds: readonly Interval[] }

/** What one source fills at once, and what for. */
type Job = WholeBlocks & { source: BulkSource | Nodes; scope: WholeScope }

export class History {
  readonly #options: HistoryOptions
  /** Whether nothing that a source has was left at the last look. */
  isDone = false
  #isResting = false
  #isCodeLookedFor = false
  /** Blocks that could not be connected to what is stored of them or beside them, in this round, and why. */
  #unconnected: (Interval & { error: unknown })[] = []
  /** The block that the operator names, found among those that are stored; and for which it was looked in vain. */
  #stored: Hash | undefined
  #missing: string | undefined
  /** What there was when claims were last looked at for what can rise. */
  #raised: { claims: string; sources: readonly BulkSource[] } | undefined

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /**
   * Returns when nothing is missing, when history is held, or when the signal says stop. Fails when the endpoints do
   * not have the rest.
   */
  async round(signal: AbortSignal): Promise<void> {
    const { control, store, rpc, setup, bulk, follower, stats } = this.#options
    await control.look()
    await bulk.look(signal)
    await follower.settle?.(signal)
    stats.refused(bulk.all)
    if (!control.isHeld) await dropLostRanges({ chain: setup.chain, store, rpc, bulk }, signal)
    const isDone = control.isHeld ? await this.#isFilled() : await control.run(open => this.#fillMissing(open), signal)
    if (signal.aborted) return
    const lack = isDone ? await this.#lack() : undefined
    this.isDone = isDone && lack === undefined && !bulk.replaced.aborted
    if (isDone || control.isHeld) this.#rest()
    if (isDone && rpc.endpoints.length === 0) await this.#requireNamed(signal)
    if (lack === undefined) return
    throw rpc.endpoints.length === 0
      ? inNoSource(setup.chain.name, lack)
      : outOfReach(setup.chain.name, rpc.status(), lack)
  }

  /** What the operator names must be there: nothing else of an archive says which chain it is. */
  async #requireNamed(signal: AbortSignal): Promise<void> {
    const { setup, store, bulk, follower } = this.#options
    const { chain, from } = setup
    const hash = bulk.misnamed
    if (hash === undefined || hash === this.#stored) return
    const within = { from, to: follower.finalized }
    const searched = `${hash} ${within.to}`
    // What was read before it was named, or by a source that is gone.
    const number = searched === this.#missing ? undefined : await findStored({ store, chain, hash }, within, signal)
    if (number === undefined) {
      this.#missing = searched
      throw misnamed(chain.name, hash)
    }
    this.#stored = hash
  }

  /** Contracts are read and judged while history rests. */
  #rest(): void {
    if (this.#isResting) return
    this.#isResting = true
    this.#options.annotator?.historyEnded()
  }

  /** What is missing because the endpoints have dropped it, or there are none, and no other source has it. */
  async #lack(): Promise<Lack | undefined> {
    const { setup, rpc, source, bulk, contracts } = this.#options
    const floor = rpc.endpoints.length === 0 ? Number.POSITIVE_INFINITY : lowestFloor(rpc.status())
    if (floor <= setup.from) return undefined
    const sources = sourceReasons(bulk)
    if (!(source instanceof FullSource)) {
      if ((await contracts?.areComplete(setup.contracts)) ?? true) return undefined
      return { missing: [{ from: setup.from, to: floor - 1 }], covered: [], sources }
    }
    const { missing, covered } = await this.#wholeBlocks(source.scope)
    const lacked = unheld(missing, bulk.all).filter(({ from }) => from < floor)
    return lacked.length === 0 ? undefined : { missing: lacked, covered, sources }
  }

  async #isFilled(): Promise<boolean> {
    const { setup, store, source, contracts, follower } = this.#options
    if (source instanceof FullSource) return (await this.#nextJob(source)) === undefined
    const watched = await store.coverage(setup.chain.id, 'watched')
    const from = watched[0]?.from
    if (from !== undefined && missingIntervals(watched, { from, to: follower.finalized }).length > 0) return false
    return (await contracts?.areComplete(setup.contracts)) ?? true
  }

  async #fillMissing(signal: AbortSignal): Promise<void> {
    const { setup, store, source, follower, contracts, recheck, bulk } = this.#options
    if (source instanceof FullSource) {
      const { replaced } = bulk
      using linked = followSignals(signal, replaced)
      return await this.#fillWhole(source, linked.signal).catch(error => {
        // A failure of work whose sources were replaced does not count.
        if (signal.aborted || !replaced.aborted) throw error
      })
    }
    // What the followed contracts missed while the service was down.
    const covered = await store.coverage(setup.chain.id, 'watched')
    const start = covered[0]?.from
    const fetchRange: BackfillOptions['fetchRange'] = (interval, stop) => source.range(interval, 'range', stop)
    if (start !== undefined)
      await fill(
        missingIntervals(covered, { from: start, to: follower.finalized }),
        this.#backfillOf({ scope: 'watched', fetchRange }),
        signal,
      )
    await recheck?.next(signal)
    await this.#warnOfCodeless(signal)
    await contracts?.ensureListed(setup.contracts, signal)
  }

  /** Once: it is a slip of the operator, and the contract may still be deployed. */
  async #warnOfCodeless(signal: AbortSignal): Promise<void> {
    const { setup, rpc, log } = this.#options
    if (this.#isCodeLookedFor) return
    this.#isCodeLookedFor = true
    const codeless = await codelessAmong(setup.contracts, rpc, signal)
    if (codeless.length === 0) return
    const facts = { chain: setup.chain.name, count: codeless.length, contracts: codeless.slice(0, codelessShown) }
    log.warn(facts, 'Listed addresses have no code: not contracts')
  }

  async #fillWhole(source: FullSource, signal: AbortSignal): Promise<void> {
    const { annotator, stats, bulk, follower } = this.#options
    this.#unconnected = []
    for (;;) {
      await this.#raise(source, signal)
      const job = await this.#nextJob(source)
      if (signal.aborted) return
      if (job === undefined && this.#unconnected.length > 0) throw this.#unconnected[0]!.error
      if (job === undefined) return
      this.isDone = false
      this.#isResting = false
      annotator?.historyBegan()
      // Nodes give all that is missing at once. What a bulk source had to leave to them it may have again later.
      if (bulk.all.length === 0) return await this.#fillJob(job, source, signal)
      using turn = followSignals(signal, AbortSignal.timeout(turnMs))
      try {
        await this.#fillJob(job, source, job.source.kind === 'nodes' ? turn.signal : signal)
      } catch (error) {
        if (!turn.signal.aborted || signal.aborted) throw error
      }
      stats.refused(bulk.all)
      if (signal.aborted) return
      // All parts may take days: a portal that was away, or new files, are not left until then.
      await bulk.look(signal)
      await follower.settle?.(signal)
    }
  }

  /**
   * What is to be filled next. Bulk sources give transfers first, newest first, and then the activity of wallets, for
   * which every sender is recovered: requests for transfers need not wait for that.
   */
  async #nextJob({ scope }: FullSource): Promise<Job | undefined> {
    const { bulk, rpc, stats } = this.#options
    const nodes: Nodes = { kind: 'nodes', holds: [{ from: rpc.historyFrom, to: Number.MAX_SAFE_INTEGER }] }
    const whole = await this.#wholeBlocks(scope)
    if (bulk.all.length === 0) {
      stats.blocksLeft = blockCount(whole.missing)
      stats.blocksLacking = 0
      const missing = intervalsFrom(whole.missing, rpc.historyFrom)
      return missing.length === 0 ? undefined : { ...whole, missing, source: nodes, scope }
    }
    const sources = [...bulk.all, ...(rpc.endpoints.length === 0 ? [] : [nodes])]
    const transfers = scope === 'transfers' ? whole : await this.#wholeBlocks('transfers')
    const open = (missing: readonly Interval[]) => missing.flatMap(each => missingIntervals(this.#unconnected, each))
    const parts = partsOf(open(transfers.missing), sources)
    const later = scope === 'transfers' ? [] : partsOf(open(whole.missing), sources)
    // Nodes give both at once. What a bulk source gives is read twice, and counts twice.
    const early = scope === 'transfers' ? parts : parts.filter(({ source }) => source.kind !== 'nodes')
    stats.blocksLeft = blockCount([...early, ...later, ...this.#unconnected])
    stats.blocksLacking = blockCount(open(unheld(whole.missing, sources)))
    const next = parts[0] ?? later[0]
    if (next === undefined) return undefined
    const { source, ...part } = next
    const found = { missing: [part], source }
    if (parts.length === 0) return { ...whole, ...found, scope }
    return { ...transfers, ...found, scope: source.kind === 'nodes' ? scope : 'transfers' }
  }

  #wholeBlocks(scope: WholeScope): Promise<WholeBlocks> {
    const { setup, store, follower } = this.#options
    return wholeBlocks(store, { chain: setup.chain.id, scope, wanted: { from: setup.from, to: follower.finalized } })
  }

  async #fillJob({ covered, missing, stored, source, scope }: Job, full: FullSource, signal: AbortSignal) {
    const { setup, store, rpc, bulk, follower, stats, log } = this.#options
    const { chain } = setup
    const known = { chain, store, rpc, source: full, bulk, covered, stored, final: follower.finalHeader }
    // What is read again must be the blocks whose transfers are stored: it is never taken without a link to them.
    const isReadAgain = source.kind !== 'nodes' && stored !== undefined && isCovered(stored, missing[0]!)
    const mayFloat = source.kind !== 'nodes'
    const links = await linkedClaims(missing, { ...known, mayFloat }, signal).catch(error => {
      if (!mayFloat || signal.aborted) throw error
      // Without its highest block, which is beside others, the part may float.
      const { from, to } = missing[0]!
      this.#unconnected.push({ from: isReadAgain ? from : to, to, error })
    })
    if (links === undefined) return
    const { retryDelayMs, ...given } = this.#backfillOf({
      scope,
      fetchRange: (interval, stop, lastHash) => full.range(interval, 'range', stop, lastHash),
    })
    const job = { ...given, retryDelayMs, stored, links }
    if (source.kind === 'nodes') return await fill(missing, job, signal)
    try {
      const ofBulk: Partial<BackfillOptions> = {
        fetchRange: async (interval, stop, lastHash) => {
          const range = await source.range(interval, { scope, lastHash }, stop)
          if (range.doubt !== undefined) full.doubt = range.doubt.reason
          return range
        },
        blocksAt: to => source.blocksAt(to, scope),
        endsUnfounded: true,
        lowest: undefined,
        onProgress: progress => {
          given.onProgress?.(progress)
          stats.gave(source, progress.blocks)
        },
      }
      await fill(missing, { ...job, ...ofBulk }, signal)
    } catch (error) {
      // Without its lowest block, which is beside others, the part is stored apart from them.
      if (error instanceof Unfounded)
        return void this.#unconnected.push({ from: error.block, to: error.block, error: doNotJoin(chain.name, error) })
      if (!(error instanceof SourceLost)) throw error
      const { from, to } = missing[0]!
      log.warn({ chain: chain.name, source: source.name, from, to, reason: error.message }, 'Source of history lost')
      await pause(retryDelayMs.first, signal)
    }
  }

  /** Looks again only if something changed. */
  async #raise(source: FullSource, signal: AbortSignal): Promise<void> {
    const { setup, store, rpc, bulk, log } = this.#options
    const claims = await store.coverage(setup.chain.id, chainScopes)
    // What hangs on something rises by proofs alone, which nodes do not give.
    if (!claims.some(each => mayRise(each) && (each.evidence === 'unanchored' || bulk.all.length > 0))) return
    // It grows with the head all the time, and by that nothing is proven of it.
    const apart = claims.map(({ evidence, to, ...each }) => [each, evidence, evidence === 'receipts-root' ? 0 : to])
    const now = {
      claims: JSON.stringify([apart, bulk.all.map(({ holds, proofs }) => [holds, proofs])]),
      sources: bulk.all,
    }
    if (now.claims === this.#raised?.claims && now.sources === this.#raised.sources) return
    const onDropped = (dropped: Interval & { reason: string }): void =>
      log.warn({ chain: setup.chain.name, ...dropped }, 'Blocks of another chain dropped; they are read again')
    try {
      await raiseClaims({ chain: setup.chain, store, rpc, source, bulk, onDropped }, signal)
      this.#raised = now
    } catch (error) {
      // Nodes that fail do not keep other sources from filling; it is tried again before the next part.
      if (signal.aborted || rpcFailureOf(error) === undefined) throw error
    }
  }

  #backfillOf(job: Pick<BackfillOptions, 'scope' | 'fetchRange'>): BackfillOptions {
    const { setup, store, control, backfill } = this.#options
    return { ...backfill(), chain: setup.chain.id, store, rate: control.rate, ...job }
  }
}

/** What no source holds. */
function unheld(missing: readonly Interval[], sources: readonly Pick<BulkSource, 'holds'>[]): Interval[] {
  const held = joinIntervals(sources.flatMap(({ holds }) => holds))
  return missing.flatMap(interval => missingIntervals(held, interval))
}
