// Contracts that are indexed because somebody asked for them: each gets its own backfill, newest first, and is followed at the
// head from then on. Several requests for one contract share one job.

import { pause } from '../../abort.ts'
import type { Chain } from '../../chains.ts'
import { missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId, CoveredInterval, Interval } from '../../model.ts'
import { packActivity } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import { RangeRefused } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { refusedOutcome } from '../source/range-size.ts'
import { deploymentBlock, WalletLookup, type WalletState } from '../source/wallet-lookup.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { type BackfillOptions, fill, hotBlocksOf, WorkList } from './backfill.ts'
import type { Follower } from './follow.ts'
import { reasonOf } from './progress.ts'

export type ContractJobsOptions = {
  chain: ChainId
  store: Store
  source: WatchedSource
  rpc: RpcPort
  follower: Follower
  /** Shared with following: a contract is added between two steps, never within one. */
  mutex: Mutex
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
  readonly #queue: JobQueue

  constructor(options: ContractJobsOptions) {
    this.#options = options
    this.#queue = new JobQueue({ runningMax: options.parallel, waitingMax: options.waitingMax })
  }

  get underWay(): number {
    return this.#jobs.size
  }

  /** Resolves when the contract is complete to the head, or the signal says stop; fails only when the queue is full. */
  ensure(contract: Address, signal: AbortSignal): Promise<void> {
    const known = this.#jobs.get(contract)
    if (known !== undefined) return known
    const job = this.#queue
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
        backfill.onFailure?.(reasonOf(error))
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
    const { chain, store, source, follower, mutex, from } = this.#options
    await mutex.run(async () => {
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

// Wallets that were asked for on a chain that is not indexed in full: looked up from the node, kept in the store, and looked at again
// when they are asked for later. Only what the wallet sent, and its first funding, is found this way. What stands in blocks that
// are neither final nor followed is not told yet: nothing could take it back.

export type WalletJobsOptions = { chain: Chain; store: Store; rpc: RpcPort; follower: Follower }

// How many wallets are remembered as fresh up to a certain head; the store keeps them all.
const freshMax = 10_000

export class WalletJobs {
  readonly #options: WalletJobsOptions
  readonly #lookup: WalletLookup
  readonly #jobs = new Map<Address, Promise<void>>()
  readonly #queue = new JobQueue({ runningMax: 8, waitingMax: 1_000 })
  /** The head, and the branch, at which each wallet was last looked up. */
  readonly #fresh = new Map<Address, string>()

  constructor(options: WalletJobsOptions) {
    this.#options = options
    this.#lookup = new WalletLookup(options.chain, options.rpc)
  }

  /** Resolves when the wallet is known up to the head that was stored when its look-up began. */
  ensure(wallet: Address, signal: AbortSignal): Promise<void> {
    const { tip, finalOnChain, branches } = this.#options.follower
    const head = `${tip?.hash ?? finalOnChain} ${branches}`
    if (this.#fresh.get(wallet) === head) return Promise.resolve()
    const known = this.#jobs.get(wallet)
    if (known !== undefined) return known
    const job = this.#queue
      .run('wallets', () => this.#find(wallet, signal))
      .then(() => this.#remember(wallet, head))
      .finally(() => this.#jobs.delete(wallet))
    this.#jobs.set(wallet, job)
    return job
  }

  #remember(wallet: Address, head: string): void {
    this.#fresh.delete(wallet)
    this.#fresh.set(wallet, head)
    const [oldest] = this.#fresh.keys()
    if (this.#fresh.size > freshMax && oldest !== undefined) this.#fresh.delete(oldest)
  }

  async #find(wallet: Address, signal: AbortSignal): Promise<void> {
    const { chain, store, follower } = this.#options
    const name = `wallet/${chain.id}/${wallet}`
    const stored = await store.checkpoint(name)
    let state = stored === undefined ? undefined : (JSON.parse(stored) as WalletState)
    const final = follower.finalOnChain
    if (final > (state?.block ?? -1)) {
      const found = await this.#lookup.find(wallet, final, state, signal)
      if (found.activity !== undefined) {
        await store.commitCold({
          chain: chain.id,
          covered: [],
          blocks: [],
          transfers: [],
          activity: packActivity([found.activity]),
        })
      }
      await store.putCheckpoint(name, JSON.stringify(found.state))
      state = found.state
    }
    // A young chain has no final block, and all that the wallet did is hot.
    if (state !== undefined || final < 0) await this.#findHot(wallet, state, signal)
  }

  /** Transactions above the final block go to the hot block they stand in, so that a reorganisation takes them along. */
  async #findHot(wallet: Address, state: WalletState | undefined, signal: AbortSignal): Promise<void> {
    const { chain, store, follower } = this.#options
    const tip = follower.tip
    if (tip === undefined) return
    const { activity, blockHashes } = await this.#lookup.find(wallet, tip.number, state, signal)
    if (activity === undefined) return
    const { first, last } = activity
    const found =
      first.block === last.block ? [activity] : [first, last].map(ref => ({ address: wallet, first: ref, last: ref }))
    const rows = found.filter(row => row.first.block > follower.finalized)
    // The store refuses a block that is another one by then: the wallet is looked up again when it is asked for again.
    const blocks = rows.map(row => {
      const { block: number, timestamp } = row.first
      return {
        number,
        timestamp,
        hash: blockHashes.get(number) ?? tip.hash,
        transfers: [],
        activity: packActivity([row]),
      }
    })
    await store.addToHot(chain.id, blocks, [])
  }
}

// A line in front of work that endpoints pay for: so many at once, so many waiting, and a refusal beyond that.

export class JobQueue {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor({ runningMax, waitingMax }: { runningMax: number; waitingMax: number }) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Runs the work when its turn comes. `what` names it in a refusal. */
  async run<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#taken < this.#runningMax) this.#taken++
    else {
      if (this.#waiting.length >= this.#waitingMax) {
        throw new AlmanacError('overloaded', `${this.#waiting.length} ${what} wait to be indexed already.`, {
          retryable: true,
          hint: 'ask again later.',
        })
      }
      // Whoever leaves hands the place over, so that nobody can slip in between.
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }
}

// One at a time: work that must not interleave, such as following the head and adding a contract to what is followed.

export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work, work)
    // A failed turn is its caller's matter; the next one starts all the same.
    this.#last = turn.catch(() => {})
    return turn
  }
}
