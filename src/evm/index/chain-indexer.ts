// Indexes one chain: follows its head, fills its history, and indexes contracts and wallets on demand. Whatever nodes
// do, it keeps trying and reports why it cannot go on.
import { pause } from '../../abort.ts'
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { headAge, usualBlockTime } from '../../head-age.ts'
import { ledgerName, ledgerOf } from '../../ledgers.ts'
import type { Log } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { Address } from '../../model.ts'
import { Mutex } from '../../once.ts'
import type { TokenLedgerStatus } from '../../status.ts'
import { finishForgetting } from '../../store/forget.ts'
import { StoreRoom } from '../../store/room.ts'
import type { Store } from '../../store/store.ts'
import { type KeptView, wholeScopeOf } from '../../views.ts'
import { changeTrackingStore } from '../facts/change-tracking-store.ts'
import type { ContractAnnotator } from '../facts/contract-annotator.ts'
import { RangeRefused, type RpcPort } from '../rpc/port.ts'
import { BulkSources } from '../source/bulk-sources.ts'
import type { Decoder } from '../source/decode-pool.ts'
import { Finality } from '../source/finality.ts'
import { FullSource } from '../source/full-source.ts'
import { type HistorySize, historySizes, RangeSize } from '../source/range-size.ts'
import { WatchedSource } from '../source/watched-source.ts'
import { ArchiveHead } from './archive-head.ts'
import { type BackfillOptions, historyPace, reasonOf } from './backfill.ts'
import { BackfillControl, type BackfillSettings } from './backfill-control.ts'
import { ChainStats, type Part, type StallPace, usualStallPace } from './chain-stats.ts'
import {
  chainStatus,
  type IndexingState,
  isFarBehind,
  lagSeconds,
  type StatusOptions,
  whyUnheard,
} from './chain-status.ts'
import { ContractJobs } from './contract-jobs.ts'
import { type FollowedHead, Follower, type FollowPace } from './follow.ts'
import { HeadPause } from './head-pause.ts'
import { History } from './history.ts'
import { IndexFiller } from './index-filler.ts'
import { type Asker, operator, waitFor } from './job-queue.ts'
import { Recheck } from './recheck.ts'
import { Retention, type RetentionDays, type WatchedContracts } from './retention.ts'
import { WalletJobs } from './wallet-jobs.ts'

export type ChainSetup = {
  chain: Chain
  index: 'full' | 'on-demand'
  /** What is kept; absent: every view, and the indexes that the store has of the chain. */
  views?: readonly KeptView[] | undefined
  from: number
  contracts: readonly Address[]
  pollMs: number
  /** When history is filled, and how fast; absent: always, as fast as the endpoints answer. */
  backfill?: BackfillSettings | undefined
  /** When contracts and wallets without requests are dropped; absent: never. */
  retention?: RetentionDays | undefined
  /** The sender of one transaction in this many is recovered; absent or 0: of none. */
  senderSample?: number | undefined
}

export type ChainIndexerOptions = ChainSetup & {
  /** Without an endpoint where the chain has no node. */
  rpc: RpcPort
  /** Files and portals; absent: nodes give all history. */
  bulk?: BulkSources | undefined
  store: Store
  /** Of all chains on the store; absent: one that knows only what writes of this chain find. */
  room?: StoreRoom | undefined
  log: Log
  metrics: EvmMetrics
  /** The largest page that a request may ask for. */
  pageSizeMax: number
  /** Absent: this thread decodes. */
  decoder?: Decoder
  pace?: Partial<ChainPace> | undefined
  /** Calls back when the head may have moved, so that it is polled at once. */
  onNews?: (look: () => void) => () => void
  /** Reads and judges the indexed contracts; it lives as long as the indexer. */
  annotator?: ContractAnnotator | undefined
}

export type ChainPace = FollowPace &
  StallPace & {
    retryDelayMs: { first: number; max: number }
    /** How often it looks for missing history. */
    historyCheckMs: number
    /** How often it drops what is no longer asked for. */
    sweepMs: number
    /** For how long an address without code is not asked about again. */
    codelessMs: number
    /** How many transfers of a token count as one contract against `index_per_day`. */
    transfersPerTarget: number
  }

const usualPace: ChainPace = {
  retryDelayMs: historyPace.retryDelayMs,
  historyCheckMs: 2_000,
  sweepMs: 3_600_000,
  codelessMs: 10_000,
  transfersPerTarget: 20_000,
  ...usualStallPace,
  hotBlocksMax: 400_000,
  recentBytesMax: 256 * 2 ** 20,
  replacedBlocksMax: 1_000,
}
const factsWaitMsMax = 400
/** Asking every endpoint costs more than a look at the head. */
const pollsPerVote = 10

export class ChainIndexer {
  readonly setup: ChainSetup
  readonly #options: ChainIndexerOptions
  readonly #pace: ChainPace
  readonly #source: FullSource | WatchedSource
  readonly #finality: Finality
  readonly #follower: FollowedHead
  readonly #bulk: BulkSources
  readonly #mutex = new Mutex()
  readonly #stats: ChainStats
  readonly #control: BackfillControl
  readonly #contracts: ContractJobs | undefined
  readonly #wallets: WalletJobs | undefined
  readonly #history: History
  readonly #retention: Retention | undefined
  readonly #indexes: IndexFiller
  readonly #told: StatusOptions
  readonly #stopping = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  readonly #headPause: HeadPause
  #caughtUp = false
  #lastContactMs = Date.now()
  #followingSinceMs: number | undefined
  /** Why the last wallet look-up failed. The chain does not stall then. */
  #walletFailure: string | undefined

  constructor(options: ChainIndexerOptions) {
    const { chain, rpc, from, annotator, retention: days } = options
    const { room = new StoreRoom({ store: options.store, log: options.log }) } = options
    const guarded = room.guarded(options.store)
    const store =
      annotator === undefined ? guarded : changeTrackingStore(guarded, contracts => annotator.changed(contracts))
    this.#options = { ...options, store }
    this.setup = options
    this.#pace = { ...usualPace, ...options.pace }
    // In metrics and lines of the log; hints name the chain as settings do.
    const shown = { id: chain.id, name: ledgerName(chain.name, ledgerOf(chain.id).ledger) }
    this.#stats = new ChainStats(shown.name, { ...options, pace: this.#pace })
    const { progress } = this.#stats
    this.#control = new BackfillControl({
      ...{ chain: shown, store, log: options.log, metrics: options.metrics, settings: options.backfill },
      measuredRate: () => progress.rates()?.blocks_per_second,
      onChange: () => progress.restart(),
    })
    const scope = options.index === 'full' ? wholeScopeOf(options.views) : 'watched'
    this.#source =
      scope === 'watched'
        ? new WatchedSource(chain, rpc, options.decoder)
        : new FullSource(chain, rpc, options.decoder, { senderSample: options.senderSample, scope })
    this.#headPause = new HeadPause(options.pollMs / 4)
    this.#finality = new Finality({ chain, rpc, voteEveryMs: pollsPerVote * options.pollMs })
    this.#bulk = options.bulk ?? new BulkSources()
    const followed = { chain: chain.id, chainName: chain.name, store, source: this.#source, scope, from } as const
    this.#follower =
      rpc.endpoints.length === 0
        ? new ArchiveHead({ ...followed, bulk: this.#bulk, log: options.log })
        : new Follower({
            ...followed,
            finality: this.#finality,
            rangeSize: new RangeSize({ ...historySizes.full, blocksInitial: 8, blocksMax: 200 }),
            ...this.#pace,
            now: () => performance.now(),
            onStored: ranges => this.#stats.stored(ranges),
          })
    const [source, finality, follower, stats] = [this.#source, this.#finality, this.#follower, this.#stats]
    const [bulk, isArchive] = [this.#bulk, follower instanceof ArchiveHead]
    this.#told = { setup: options, store, room, rpc, bulk, source, finality, follower, stats, control: this.#control }
    const [shared, mutex] = [{ store, rpc, room, follower }, this.#mutex]
    if (scope !== 'full' && !isArchive) this.#wallets = new WalletJobs({ ...shared, chain })
    let watched: WatchedContracts | undefined
    let recheck: Recheck | undefined
    if (source instanceof WatchedSource) {
      this.#contracts = new ContractJobs({
        ...{ ...shared, mutex, chain: chain.id, source, from },
        ...{ listed: options.contracts, backfill: this.#backfillOptions(historySizes.contract) },
        onStored: range => this.#stats.stored([range]),
        ...{
          parallel: 4,
          waitingMax: 1_000,
          codelessMs: this.#pace.codelessMs,
          transfersPerTarget: this.#pace.transfersPerTarget,
        },
        looksBelow: chain.quirks.receiptsMayBeMissing !== true,
        onDeployed: (contract, block) => annotator?.created(contract, block),
      })
      recheck = new Recheck({
        ...{ ...shared, chain: chain.id, source, contracts: this.#contracts },
        rangeSize: new RangeSize(historySizes.contract),
        mayClaim: () => finality.dispute === undefined,
      })
      watched = { source, jobs: this.#contracts, mutex, listed: options.contracts }
    }
    this.#history = new History({
      ...{ setup: options, store, rpc, bulk, source, follower, stats, annotator, recheck, log: options.log },
      ...{
        control: this.#control,
        contracts: this.#contracts,
        backfill: () => this.#backfillOptions(historySizes.full),
      },
    })
    const { views, log } = options
    this.#indexes = new IndexFiller({ chain, store, log, views, idleMs: this.#pace.sweepMs })
    if (days !== undefined && this.#wallets !== undefined)
      this.#retention = new Retention({ ...shared, chain, contracts: watched, days, everyMs: this.#pace.sweepMs })
  }

  start(): void {
    const { signal } = this.#stopping
    const stopNews = this.#options.onNews?.(() => this.#headPause.end())
    const parts = [
      this.#rounds('head', () => this.#followOnce(signal), signal),
      this.#rounds('history', () => this.#fillOnce(signal), signal),
      this.#rounds('indexes', () => this.#indexOnce(), signal),
    ]
    this.#options.annotator?.start()
    this.#control.start()
    this.#running = Promise.all(parts).finally(() => stopNews?.())
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#control.stop()
    await Promise.allSettled([this.#running, this.#options.annotator?.stop()])
  }

  /** Takes what another reading of the configuration says. */
  configure({ pollMs, backfill }: Pick<ChainSetup, 'pollMs' | 'backfill'>): void {
    this.setup.pollMs = pollMs
    this.#finality.voteEveryMs = pollsPerVote * pollMs
    this.#control.configure(backfill)
    // Sources may be others.
    this.#headPause.end()
  }

  /**
   * Returns when the contract is complete or `waitMs` have passed; fails if too many wait already. A long
   * history is not waited for: after a third of the time a correct first page is enough.
   */
  async ensureContract(contract: Address, waitMs: number, asker: Asker = operator): Promise<void> {
    const contracts = this.#contracts
    if (contracts === undefined || !this.#canIndex) return
    waitMs = this.#isStalled ? 0 : waitMs
    const enough = new AbortController()
    const complete = this.#afterFirstStep().then(() => contracts.ensure(contract, this.#stopping.signal, asker))
    const hasPage = async (): Promise<void> => {
      await pause(waitMs / 3, enough.signal)
      // One more row shows that there is a next page.
      const rows = this.#options.pageSizeMax + 1
      while (!enough.signal.aborted && !(await contracts.hasNewest(contract, rows))) await pause(50, enough.signal)
    }
    const startedMs = performance.now()
    await waitFor(Promise.race([complete, hasPage()]), waitMs)
    enough.abort()
    // An address without code has no name: nothing is asked of one until its code was looked for.
    if (!contracts.isWatched(contract)) return
    // The first answer shows name and verdict if they are found quickly: they are read after the history.
    const leftMs = Math.max(0, waitMs - (performance.now() - startedMs))
    await this.#options.annotator?.ensure(contract, Math.min(leftMs, factsWaitMsMax))
  }

  async ensureWallet(wallet: Address, waitMs: number, asker: Asker = operator): Promise<void> {
    if (this.#wallets === undefined || !this.#canIndex) return
    const work = this.#afterFirstStep().then(() => this.#wallets?.ensure(wallet, this.#stopping.signal, asker))
    work.then(
      () => (this.#walletFailure = undefined),
      error => (this.#walletFailure = reasonOf(error)),
    )
    await waitFor(work, this.#isStalled ? 0 : waitMs)
  }

  /** Whether the nodes do not answer for the head: no request waits for them then; work goes on once they do. */
  get #isStalled(): boolean {
    return this.#stats.failures.isLasting('head') || whyUnheard(this.#told) !== undefined
  }

  /** Nothing can be begun without a head while no node answers, or without room. */
  get #canIndex(): boolean {
    return this.#told.room.full === undefined && !(this.#isStalled && this.#follower.latest === undefined)
  }

  async #afterFirstStep(): Promise<void> {
    while (this.#follower.latest === undefined && !this.#stopping.signal.aborted) await pause(20, this.#stopping.signal)
    // The step under way brings the final block.
    await this.#mutex.run(async () => {})
  }

  /** Tokens that are too large for the keys that asked for them. */
  get heldTokens(): NonNullable<TokenLedgerStatus['too_large']> {
    const held = [...(this.#contracts?.held ?? [])]
    return held.map(([contract, { transfers, targets, seconds }]) => ({ contract, transfers, targets, seconds }))
  }

  status() {
    return chainStatus(this.#told, this.#indexing)
  }

  get #indexing(): IndexingState {
    return {
      caughtUp: this.#caughtUp,
      historyDone: this.#history.isDone,
      lastContactMs: this.#lastContactMs,
      followingSeconds: (performance.now() - (this.#followingSinceMs ?? performance.now())) / 1_000,
      contractsUnderWay: this.#contracts?.underWay ?? 0,
      queue: this.#contracts?.queue,
      outOfReach: this.#contracts?.outOfReach ?? 0,
      walletFailure: this.#walletFailure,
    }
  }

  /** Reads the clock: what was set with the last block would stay young, and without lag. */
  measure(): void {
    const { chain } = this.setup
    if (chain.retired || this.#follower instanceof ArchiveHead) return
    const { latest: head, hot } = this.#follower
    const blockTimeSeconds = usualBlockTime(chain, hot)
    const indexing = this.#indexing
    const { head_age_seconds } = headAge(chain, { ...indexing, head, blockTimeSeconds })
    this.#stats.measured({
      ...{ headAgeSeconds: head_age_seconds, blockTimeSeconds, lagSeconds: lagSeconds(this.#told, indexing) },
    })
  }

  /** Repeats one part of the work until the stop. A failure of a node or the store is reported and retried. */
  async #rounds(part: Part, round: () => Promise<number>, signal: AbortSignal): Promise<void> {
    const { retryDelayMs } = this.#pace
    let delayMs = retryDelayMs.first
    while (await this.#told.room.available(signal)) {
      try {
        const restMs = await round()
        // A step at the head tells the statistics itself.
        if (part !== 'head') this.#stats.failures.succeeded(part)
        delayMs = retryDelayMs.first
        if (restMs > 0) await this.#rest(part, restMs, signal)
      } catch (error) {
        if (signal.aborted) return
        // A node's failure shows in the status; a defect must be logged.
        if (!(error instanceof AlmanacError || error instanceof RangeRefused))
          this.#options.log.error({ err: error, chain: this.setup.chain.name, part }, 'Indexing failed; retrying')
        this.#stats.failed(part, reasonOf(error))
        if (this.#told.room.failed(error)) continue
        await this.#rest(part, delayMs, signal)
        delayMs = Math.min(delayMs * 2, retryDelayMs.max)
      }
    }
  }

  #rest(part: Part, ms: number, signal: AbortSignal): Promise<void> {
    return part === 'head' ? this.#headPause.wait(ms, signal) : pause(ms, signal)
  }

  /** Returns how long to rest. */
  async #followOnce(signal: AbortSignal): Promise<number> {
    if (this.#follower.latest === undefined)
      await finishForgetting(this.#options.store, this.setup.chain.id, { signal })
    if (this.#source instanceof WatchedSource && this.#follower.latest === undefined) {
      const watched = await this.#options.store.watchedContracts(this.setup.chain.id)
      for (const { contract } of watched) this.#source.watched.add(contract)
    }
    const step = await this.#mutex.run(() => this.#follower.step(signal))
    this.#lastContactMs = Date.now()
    this.#followingSinceMs ??= performance.now()
    const isAtHead = step.kind === 'idle' || ('caughtUp' in step && step.caughtUp)
    this.#caughtUp = isAtHead || (this.#caughtUp && !isFarBehind(this.#told, this.#indexing))
    this.#stats.disputed(this.#finality.dispute)
    this.#stats.hashed(this.#source.newFields)
    this.#stats.looked(this.#options.rpc.status())
    this.#stats.stepped(step, {
      head: this.#follower.latest?.number ?? 0,
      lagSeconds: lagSeconds(this.#told, this.#indexing),
    })
    return 'caughtUp' in step && !step.caughtUp ? 0 : this.setup.pollMs
  }

  async #fillOnce(signal: AbortSignal): Promise<number> {
    await this.#afterFirstStep()
    // What is fetched now could not be claimed.
    if (this.#finality.dispute !== undefined) return this.#pace.historyCheckMs
    await this.#retention?.sweepIfDue()
    await this.#history.round(signal)
    return this.#pace.historyCheckMs
  }

  async #indexOnce(): Promise<number> {
    await this.#afterFirstStep()
    return await this.#indexes.round()
  }

  #backfillOptions(size: HistorySize): Omit<BackfillOptions, 'chain' | 'store' | 'scope' | 'fetchRange'> {
    return {
      ...historyPace,
      mayClaim: () => this.#finality.dispute === undefined,
      lowest: () => this.#options.rpc.historyFrom,
      parallel: size.parallel,
      retryDelayMs: this.#pace.retryDelayMs,
      rangeSize: new RangeSize(size),
      onProgress: progress => this.#stats.filled(progress),
      onFailure: reason =>
        reason === undefined ? this.#stats.failures.succeeded('history') : this.#stats.failed('history', reason),
    }
  }
}
