// Contracts that are indexed because somebody asked for them: each gets its own backfill, newest first, and is followed at the
// head from then on. Several requests for one contract share one job.

import { missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId, CoveredInterval, Interval } from '../../model.ts'
import { pause } from '../../pause.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import { RangeRefused } from '../rpc/range-refused.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { deploymentBlock } from '../source/deployment.ts'
import { refusedOutcome } from '../source/range-size.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { type BackfillOptions, fill } from './backfill.ts'
import type { Follower } from './follow.ts'
import { Line } from './line.ts'
import { hotBlocksOf } from './range-commit.ts'
import { reasonOf } from './trouble.ts'
import type { Turns } from './turns.ts'
import { WorkList } from './work-list.ts'

export type ContractJobsOptions = {
  chain: ChainId
  store: Store
  source: WatchedSource
  rpc: RpcPort
  follower: Follower
  /** Shared with following: a contract is added between two steps, never within one. */
  turns: Turns
  from: number
  backfill: Omit<BackfillOptions, 'chain' | 'store' | 'scope' | 'fetchRange'>
  /** Contracts indexed at once; more wait in line. */
  parallel: number
  waitingMax: number
  /** Told where a contract was found to begin. */
  onDeployed?: ((contract: Address, block: number) => void) | undefined
  /** Told of what was added to hot blocks; history is told by the backfill. */
  onStored: (range: DecodedRange) => void
}

export class ContractJobs {
  readonly #options: ContractJobsOptions
  readonly #jobs = new Map<Address, Promise<void>>()
  readonly #line: Line

  constructor(options: ContractJobsOptions) {
    this.#options = options
    this.#line = new Line({ placesMax: options.parallel, waitingMax: options.waitingMax })
  }

  get underWay(): number {
    return this.#jobs.size
  }

  /** Resolves when the contract is complete to the head, or the signal says stop; fails only when the line is full. */
  ensure(contract: Address, signal: AbortSignal): Promise<void> {
    const known = this.#jobs.get(contract)
    if (known !== undefined) return known
    const job = this.#line
      .run('contracts', () => this.#index(contract, signal))
      .finally(() => this.#jobs.delete(contract))
    this.#jobs.set(contract, job)
    return job
  }

  /** Whether the newest `rows` transfers are all there, so that a first page is right while older ones are still missing. */
  async hasNewest(contract: Address, rows: number): Promise<boolean> {
    const { chain, store, follower } = this.#options
    const covered = await store.contractCoverage(chain, contract)
    let fromBlock = (follower.tip?.number ?? follower.finalized) + 1
    for (const { from, to } of covered.toReversed()) if (to >= fromBlock - 1) fromBlock = Math.min(fromBlock, from)
    return (await store.transferCount({ chain, contract, fromBlock })) >= rows
  }

  async #index(contract: Address, signal: AbortSignal): Promise<void> {
    const { chain, store, source, backfill } = this.#options
    let delayMs = backfill.retryDelayMs.first
    while (!signal.aborted) {
      try {
        await this.#watch(contract, signal)
        if ((await this.#missing(contract)).length > 0) await this.#skipBeforeDeployment(contract, signal)
        const missing = await this.#missing(contract)
        const fetchRange: BackfillOptions['fetchRange'] = (interval, abort) =>
          source.contractRange(contract, interval, abort)
        await fill(missing, { ...backfill, chain, store, scope: contract, fetchRange }, signal)
        return
      } catch (error) {
        if (signal.aborted) return
        // Endpoints may be repaired or added, a full disk may be emptied: only a defect ends the job.
        if (!(error instanceof AlmanacError || error instanceof RangeRefused)) throw error
        backfill.onTrouble?.(reasonOf(error))
        await pause(delayMs, signal)
        delayMs = Math.min(delayMs * 2, backfill.retryDelayMs.max)
      }
    }
  }

  async #missing(contract: Address): Promise<Interval[]> {
    const { chain, store, follower, from } = this.#options
    return missingIntervals(await store.contractCoverage(chain, contract), { from, to: follower.finalized })
  }

  /** Follows the contract from the next block on, and adds its rows to the hot blocks that are stored already. */
  async #watch(contract: Address, signal: AbortSignal): Promise<void> {
    const { chain, store, source, follower, turns, from } = this.#options
    await turns.take(async () => {
      if (source.watched.has(contract)) return
      await store.watchContract(chain, contract, (follower.tip?.number ?? follower.finalized) + 1)
      source.watched.add(contract)
    })
    const hot = { from: Math.max(follower.finalized + 1, from), to: follower.tip?.number ?? follower.finalized }
    const missing = missingIntervals(await store.contractCoverage(chain, contract), hot)
    await this.#addToHot(contract, missing, signal)
  }

  /** The head goes on meanwhile: the store refuses rows of a block that is another one, or final, by then. */
  async #addToHot(contract: Address, missing: readonly Interval[], signal: AbortSignal): Promise<void> {
    const { chain, store, source, backfill, onStored } = this.#options
    const { rangeSize } = backfill
    const work = new WorkList(missing)
    for (let interval = work.take(rangeSize.blocks); interval; interval = work.take(rangeSize.blocks)) {
      const blocks = interval.to - interval.from + 1
      try {
        const range = await source.hotContractRange(contract, interval, signal)
        await store.addToHot(chain, hotBlocksOf(range), [{ ...interval, evidence: range.evidence, scope: contract }])
        onStored(range)
      } catch (error) {
        if (!(error instanceof RangeRefused) || blocks === 1) throw error
        rangeSize.learn(refusedOutcome(error, blocks))
        work.add(interval)
      }
    }
  }

  /** Blocks below the deployment hold no log of the contract. A node without old state cannot say; then all are read. */
  async #skipBeforeDeployment(contract: Address, signal: AbortSignal): Promise<void> {
    const { chain, store, rpc, follower } = this.#options
    const covered = await store.coverage(chain, contract)
    if (covered[0]?.from === 0 || follower.finalized < 1) return
    const deployed = await deploymentBlock(contract, { rpc, upTo: follower.finalized }, signal)
    if (deployed === undefined || deployed === 0) return
    this.#options.onDeployed?.(contract, deployed)
    const below: CoveredInterval = { from: 0, to: deployed - 1, evidence: 'one-endpoint' }
    await store.addCoverage(chain, contract, below)
  }
}
