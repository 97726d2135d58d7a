// Indexes one chain: follows its head, fills its history, and indexes contracts and wallets on demand. Whatever nodes
// do, it keeps trying and reports why it cannot go on.
import { pause } from '../../abort.ts'
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { Address, ChainId } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import { earlyCollectionsVersion } from '../decode/token-events.ts'
import { changeTrackingStore } from '../facts/change-tracking-store.ts'
import type { ContractAnnotator } from '../facts/contract-annotator.ts'
import { RangeRefused, type RpcPort } from '../rpc/port.ts'
import type { Decoder } from '../source/decode-pool.ts'
import { FullSource } from '../source/full-source.ts'
import { type HistorySize, historySizes, RangeSize } from '../source/range-size.ts'
import { WatchedSource } from '../source/watched-source.ts'
import { type BackfillOptions, backfill, fill, historyPace, reasonOf } from './backfill.ts'
import { ChainStats, type Part } from './chain-stats.ts'
import { Follower } from './follow.ts'
import { ContractJobs, Mutex, WalletJobs } from './on-demand.ts'

export type ChainSetup = {
  chain: Chain
  index: 'full' | 'on-demand'
  from: number
  contracts: readonly Address[]
  pollMs: number
}

export type ChainIndexerOptions = ChainSetup & {
  rpc: RpcPort
  store: Store
  log: Log
  metrics: EvmMetrics
  /** The largest page that a request may ask for. */
  pageSizeMax: number
  /** Absent: this thread decodes. */
  decoder?: Decoder
  pace?: Partial<ChainPace>
  /** Calls back when the head may have moved, so that it is polled at once. */
  onNews?: (look: () => void) => () => void
  /** Reads and judges the indexed contracts; it lives as long as the indexer. */
  annotator?: ContractAnnotator | undefined
}

export type ChainPace = {
  retryDelayMs: { first: number; max: number }
  /** How often it looks for missing history. */
  historyCheckMs: number
  /** How long another branch may stay shorter than ours before it is believed anyway. */
  shorterBranchPatienceMs: number
}

const usualPace: ChainPace = {
  retryDelayMs: historyPace.retryDelayMs,
  historyCheckMs: 2_000,
  shorterBranchPatienceMs: 30_000,
}
const contractsWaitingMax = 1_000
const contractsAtOnce = 4
const factsWaitMsMax = 400

export class ChainIndexer {
  readonly setup: ChainSetup
  readonly #options: ChainIndexerOptions
  readonly #pace: ChainPace
  readonly #source: FullSource | WatchedSource
  readonly #follower: Follower
  readonly #mutex = new Mutex()
  readonly #stats: ChainStats
  readonly #contracts: ContractJobs | undefined
  readonly #wallets: WalletJobs | undefined
  readonly #stopping = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #wake: () => void = () => {}
  #caughtUp = false
  #historyDone = false
  #lastContactMs = Date.now()
  /** Why the last wallet look-up failed. The chain does not stall then. */
  #walletFailure: string | undefined

  constructor(options: ChainIndexerOptions) {
    const { chain, rpc, from, annotator } = options
    const store =
      annotator === undefined
        ? options.store
        : changeTrackingStore(options.store, contracts => annotator.changed(contracts))
    this.#options = { ...options, store }
    this.setup = options
    this.#stats = new ChainStats(options.chain.name, options)
    this.#pace = { ...usualPace, ...options.pace }
    const full = options.index === 'full'
    this.#source = full ? new FullSource(chain, rpc, options.decoder) : new WatchedSource(chain, rpc, options.decoder)
    this.#follower = new Follower({
      chain: chain.id,
      chainName: chain.name,
      source: this.#source,
      store,
      scope: full ? 'full' : 'watched',
      from,
      finalityDepth: chain.finalityDepth,
      finalizedTag: chain.finalizedTag,
      rangeSize: new RangeSize({ ...historySizes.full, blocksMax: 200 }),
      shorterBranchPatienceMs: this.#pace.shorterBranchPatienceMs,
      now: Date.now,
      onStored: ranges => this.#stats.stored(ranges),
    })
    if (this.#source instanceof WatchedSource) {
      const shared = { store, rpc, follower: this.#follower }
      this.#wallets = new WalletJobs({ ...shared, chain })
      this.#contracts = new ContractJobs({
        ...shared,
        mutex: this.#mutex,
        chain: chain.id,
        source: this.#source,
        from,
        backfill: this.#backfillOptions(historySizes.contract),
        onStored: range => this.#stats.stored([range]),
        parallel: contractsAtOnce,
        waitingMax: contractsWaitingMax,
        onDeployed: (contract, block) => annotator?.created(contract, block),
      })
    }
  }

  start(): void {
    const { signal } = this.#stopping
    const stopNews = this.#options.onNews?.(() => this.#wake())
    const parts = [
      this.#rounds('head', () => this.#followOnce(signal), signal),
      this.#rounds('history', () => this.#fillOnce(signal), signal),
    ]
    this.#options.annotator?.start()
    this.#running = Promise.all(parts).finally(() => stopNews?.())
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    await Promise.allSettled([this.#running, this.#options.annotator?.stop()])
  }

  /**
   * Returns when the contract is complete or `waitMs` have passed. A long history is not waited for: after a third of
   * the time a correct first page is enough.
   */
  async ensureContract(contract: Address, waitMs: number): Promise<void> {
    const contracts = this.#contracts
    if (contracts === undefined) return
    const enough = new AbortController()
    const complete = this.#afterFirstStep().then(() => contracts.ensure(contract, this.#stopping.signal))
    const hasPage = async (): Promise<void> => {
      await pause(waitMs / 3, enough.signal)
      // One more row shows that there is a next page.
      const rows = this.#options.pageSizeMax + 1
      while (!enough.signal.aborted && !(await contracts.hasNewest(contract, rows))) await pause(50, enough.signal)
    }
    const startedMs = performance.now()
    await within(waitMs, Promise.race([complete, hasPage()]))
    enough.abort()
    // The first answer shows name and verdict if they are found quickly: they are read after the history.
    const leftMs = Math.max(0, waitMs - (performance.now() - startedMs))
    await this.#options.annotator?.ensure(contract, Math.min(leftMs, factsWaitMsMax))
  }

  async ensureWallet(wallet: Address, waitMs: number): Promise<void> {
    if (this.#wallets === undefined) return
    const work = this.#afterFirstStep().then(() => this.#wallets?.ensure(wallet, this.#stopping.signal))
    work.then(
      () => (this.#walletFailure = undefined),
      error => (this.#walletFailure = reasonOf(error)),
    )
    await within(waitMs, work)
  }

  async #afterFirstStep(): Promise<void> {
    while (this.#follower.latest === undefined && !this.#stopping.signal.aborted) await pause(20, this.#stopping.signal)
    // The step under way brings the final block.
    await this.#mutex.run(async () => {})
  }

  async status() {
    const { chain, from, index } = this.setup
    const { store } = this.#options
    const covered = await coverageReport(store, chain.id)
    const head = this.#follower.latest?.number ?? (await store.chainState(chain.id))?.head.number ?? -1
    const missing = missingIntervals(
      covered.filter(({ scope }) => scope === 'full'),
      { from, to: head },
    )
    // Until the head is known, nothing is known to be complete.
    const nothingLeft = index === 'full' ? missing.length === 0 : (this.#contracts?.underWay ?? 0) === 0
    const complete = nothingLeft && head >= from
    const reason = this.#stats.failures.stalledBy ?? this.#whyUnheard()
    return {
      state: reason !== undefined ? 'stalled' : this.#caughtUp && this.#historyDone ? 'live' : 'backfilling',
      ...(reason === undefined ? {} : { reason }),
      ...(this.#walletFailure === undefined ? {} : { wallet_trouble: this.#walletFailure }),
      head,
      finalized: this.#follower.finalized,
      lag_seconds: this.#lagSeconds(),
      covered,
      complete,
      eta_seconds: this.#stats.progress.secondsFor(this.#stats.blocksLeft) ?? null,
      rates: this.#stats.pace.rates() ?? null,
      blocks_left: this.#stats.blocksLeft,
      index,
      from,
      early_collections: earlyCollectionsVersion,
      rpc: this.#options.rpc.status(),
    } as const
  }

  /** Until the first head is known: what every endpoint failed with. A question is given up after several tries. */
  #whyUnheard(): string | undefined {
    if (this.#follower.latest !== undefined) return undefined
    const reasons = this.#options.rpc.status().map(({ reason }) => reason)
    return reasons.includes(undefined) ? undefined : reasons.join('; ')
  }

  #lagSeconds(): number {
    const { latest, tip } = this.#follower
    const silentSeconds = (Date.now() - this.#lastContactMs - 3 * this.setup.pollMs) / 1_000
    const behind = latest === undefined || tip === undefined ? 0 : latest.timestamp - tip.timestamp
    return Math.max(0, Math.round(behind), Math.round(silentSeconds))
  }

  /** Repeats one part of the work until the stop. A failure of a node or the store is reported and retried. */
  async #rounds(part: Part, round: () => Promise<number>, signal: AbortSignal): Promise<void> {
    const { retryDelayMs } = this.#pace
    let delayMs = retryDelayMs.first
    while (!signal.aborted) {
      try {
        const restMs = await round()
        this.#stats.failures.succeeded(part)
        delayMs = retryDelayMs.first
        if (restMs > 0) await this.#sleep(part, restMs, signal)
      } catch (error) {
        if (signal.aborted) return
        // A node's failure shows in the status; a defect must be logged.
        const isExpected = error instanceof AlmanacError || error instanceof RangeRefused
        if (!isExpected)
          this.#options.log.error({ err: error, chain: this.setup.chain.name, part }, 'Indexing failed; retrying')
        this.#stats.failed(part, reasonOf(error))
        await this.#sleep(part, delayMs, signal)
        delayMs = Math.min(delayMs * 2, retryDelayMs.max)
      }
    }
  }

  /** Returns how long to rest. */
  async #followOnce(signal: AbortSignal): Promise<number> {
    if (this.#source instanceof WatchedSource && this.#follower.latest === undefined) {
      const watched = await this.#options.store.watchedContracts(this.setup.chain.id)
      for (const { contract } of watched) this.#source.watched.add(contract)
    }
    const step = await this.#mutex.run(() => this.#follower.step(signal))
    this.#lastContactMs = Date.now()
    this.#caughtUp = step.kind === 'idle' || step.kind === 'reorganised' || (step.kind === 'advanced' && step.caughtUp)
    this.#stats.stepped(step, { head: this.#follower.latest?.number ?? 0, lagSeconds: this.#lagSeconds() })
    return step.kind === 'advanced' && !step.caughtUp ? 0 : this.setup.pollMs
  }

  async #fillOnce(signal: AbortSignal): Promise<number> {
    await this.#afterFirstStep()
    await this.#fillMissing(signal)
    if (!signal.aborted && !this.#historyDone) {
      this.#historyDone = true
      this.#options.annotator?.historyEnded()
    }
    return this.#pace.historyCheckMs
  }

  async #fillMissing(signal: AbortSignal): Promise<void> {
    const { chain, store } = this.#options
    const { from, contracts } = this.setup
    const to = this.#follower.finalized
    if (this.#source instanceof FullSource) {
      this.#stats.blocksLeft = blockCount(missingIntervals(await store.coverage(chain.id, 'full'), { from, to }))
      if (this.#stats.blocksLeft === 0) return
      this.#historyDone = false
      this.#options.annotator?.historyBegan()
      await backfill({ from, to }, this.#historyOptions('full'), signal)
      return
    }
    // What the followed contracts missed while the service was down.
    const covered = await store.coverage(chain.id, 'watched')
    const start = covered[0]?.from
    if (start !== undefined)
      await fill(missingIntervals(covered, { from: start, to }), this.#historyOptions('watched'), signal)
    const listed = [...contracts]
    await Promise.all(Array.from({ length: contractsAtOnce }, () => this.#ensureListed(listed, signal)))
  }

  /** Takes contracts from the list until it is empty. */
  async #ensureListed(listed: Address[], signal: AbortSignal): Promise<void> {
    const { chain, store } = this.#options
    for (let contract = listed.shift(); contract !== undefined && !signal.aborted; contract = listed.shift()) {
      const wanted = { from: this.setup.from, to: this.#follower.tip?.number ?? this.#follower.finalized }
      if (missingIntervals(await store.contractCoverage(chain.id, contract), wanted).length === 0) continue
      try {
        await this.#contracts?.ensure(contract, signal)
      } catch (error) {
        // The queue is full of contracts that clients asked for; the next round tries again.
        if (!(error instanceof AlmanacError && error.code === 'overloaded')) throw error
      }
    }
  }

  #historyOptions(scope: 'full' | 'watched'): BackfillOptions {
    const { chain, store } = this.#options
    return {
      ...this.#backfillOptions(historySizes.full),
      chain: chain.id,
      store,
      scope,
      fetchRange: (interval, signal) => this.#source.range(interval, 'range', signal),
    }
  }

  #backfillOptions(size: HistorySize): Omit<BackfillOptions, 'chain' | 'store' | 'scope' | 'fetchRange'> {
    return {
      ...historyPace,
      parallel: size.parallel,
      retryDelayMs: this.#pace.retryDelayMs,
      rangeSize: new RangeSize(size),
      onProgress: progress => this.#stats.filled(progress),
      onFailure: reason =>
        reason === undefined ? this.#stats.failures.succeeded('history') : this.#stats.failed('history', reason),
    }
  }

  /** News end the pause of the head. */
  #sleep(part: Part, ms: number, signal: AbortSignal): Promise<void> {
    if (part === 'history') return pause(ms, signal)
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    return pause(ms, AbortSignal.any([signal, woken.signal]))
  }
}

/** The covered intervals of all scopes, as the status shows them. */
export async function coverageReport(store: Store, chain: ChainId) {
  const scopes = await store.coverageByScope(chain)
  return scopes.flatMap(({ scope, intervals }) => intervals.map(interval => ({ ...interval, scope })))
}

async function within(waitMs: number, work: Promise<unknown>): Promise<void> {
  const waited = new AbortController()
  // Work that goes on after the wait no longer concerns the request, nor does its failure: the status shows it.
  await Promise.race([work.catch(() => {}), pause(waitMs, waited.signal)])
  waited.abort()
}
