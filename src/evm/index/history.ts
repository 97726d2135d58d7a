// Fills what is missing of one chain's history: whole blocks or, on demand, what followed and listed contracts lack. It
// rests while the control holds it, and then only looks what is left.
import { blockCount, intervalsFrom, missingIntervals } from '../../coverage.ts'
import type { Address } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'
import type { ContractAnnotator } from '../facts/contract-annotator.ts'
import { lowestFloor, outOfReach } from '../rpc/history-floors.ts'
import type { RpcPort } from '../rpc/port.ts'
import { FullSource } from '../source/full-source.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { dropLostRanges, linkedClaims } from './anchors.ts'
import { type BackfillOptions, fill } from './backfill.ts'
import type { BackfillControl } from './backfill-control.ts'
import type { ChainStats } from './chain-stats.ts'
import type { StatusOptions } from './chain-status.ts'
import type { Follower } from './follow.ts'
import type { ContractJobs } from './on-demand.ts'
import type { Recheck } from './recheck.ts'
import { type WholeBlocks, wholeBlocks } from './whole-blocks.ts'

export type HistoryOptions = {
  setup: StatusOptions['setup'] & { contracts: readonly Address[] }
  store: Store
  rpc: RpcPort
  source: FullSource | WatchedSource
  follower: Follower
  stats: ChainStats
  control: BackfillControl
  backfill: () => Omit<BackfillOptions, 'chain' | 'store' | 'scope' | 'fetchRange'>
  annotator?: ContractAnnotator | undefined
  /** Both absent where the chain is indexed in full. */
  contracts: ContractJobs | undefined
  recheck: Recheck | undefined
}

export class History {
  readonly #options: HistoryOptions
  /** Whether nothing was left at the last look. */
  isDone = false
  #isResting = false

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /**
   * Returns when nothing is missing, when history is held, or when the signal says stop. Fails when the rest is out of
   * reach.
   */
  async round(signal: AbortSignal): Promise<void> {
    const { control, store, rpc, setup } = this.#options
    await control.look()
    if (!control.isHeld) await dropLostRanges({ chain: setup.chain, store, rpc }, signal)
    const isDone = control.isHeld ? await this.#isFilled() : await control.run(open => this.#fillMissing(open), signal)
    if (signal.aborted) return
    const isLacking = isDone && lowestFloor(rpc.status()) > setup.from && !(await this.#isFilled())
    this.isDone = isDone && !isLacking
    if (isDone || control.isHeld) this.#rest()
    if (isLacking) throw outOfReach(setup.chain.name, rpc.status())
  }

  /** Contracts are read and judged while history rests. */
  #rest(): void {
    if (this.#isResting) return
    this.#isResting = true
    this.#options.annotator?.historyEnded()
  }

  async #isFilled(): Promise<boolean> {
    const { setup, store, source, contracts, follower } = this.#options
    if (source instanceof FullSource) return (await this.#missingBlocks(source)).missing.length === 0
    const watched = await store.coverage(setup.chain.id, 'watched')
    const from = watched[0]?.from
    if (from !== undefined && missingIntervals(watched, { from, to: follower.finalized }).length > 0) return false
    return (await contracts?.areComplete(setup.contracts)) ?? true
  }

  async #missingBlocks({ scope }: FullSource): Promise<WholeBlocks> {
    const { setup, store, follower, stats } = this.#options
    const wanted = { from: setup.from, to: follower.finalized }
    const found = await wholeBlocks(store, { chain: setup.chain.id, scope, wanted })
    stats.blocksLeft = blockCount(found.missing)
    return found
  }

  async #fillMissing(signal: AbortSignal): Promise<void> {
    const { setup, store, rpc, source, follower, annotator, contracts, recheck } = this.#options
    const { chain } = setup
    const { finalized: to, finalHeader: final } = follower
    if (source instanceof FullSource) {
      const { covered, missing: all, stored } = await this.#missingBlocks(source)
      const missing = intervalsFrom(all, rpc.historyFrom)
      if (missing.length === 0) return
      this.isDone = false
      this.#isResting = false
      annotator?.historyBegan()
      const links = await linkedClaims(missing, { chain, store, rpc, source, covered, final }, signal)
      return await fill(missing, { ...this.#backfillOf(source.scope), stored, links }, signal)
    }
    // What the followed contracts missed while the service was down.
    const covered = await store.coverage(chain.id, 'watched')
    const start = covered[0]?.from
    if (start !== undefined)
      await fill(missingIntervals(covered, { from: start, to }), this.#backfillOf('watched'), signal)
    await recheck?.next(signal)
    await contracts?.ensureListed(setup.contracts, signal)
  }

  #backfillOf(scope: WholeScope | 'watched'): BackfillOptions {
    const { setup, store, source, control, backfill } = this.#options
    return {
      ...backfill(),
      chain: setup.chain.id,
      store,
      rate: control.rate,
      scope,
      fetchRange: (interval, signal, lastHash) => source.range(interval, 'range', signal, lastHash),
    }
  }
}
