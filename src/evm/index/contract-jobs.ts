// Indexes contracts that requests ask for, on a chain that is not indexed in full, a few at a time.
import { LRUCache } from 'lru-cache'
import { pause } from '../../abort.ts'
import { atMost } from '../../at-most.ts'
import { missingIntervals } from '../../coverage.ts'
import { AlmanacError, isUsedUp } from '../../errors.ts'
import type { Address, ChainId, Interval } from '../../model.ts'
import type { Mutex } from '../../once.ts'
import type { QueueStatus } from '../../status.ts'
import type { StoreRoom } from '../../store/room.ts'
import type { SizeEstimate } from '../../store/size-estimates.ts'
import type { Store } from '../../store/store.ts'
import { paidBy, RangeRefused, type RpcPort } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { deploymentOf, lacksCode } from '../source/deployment.ts'
import { refusedOutcome } from '../source/range-size.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { type BackfillOptions, fill, hotBlocksOf, reasonOf } from './backfill.ts'
import type { FollowedHead } from './follow.ts'
import { type Asker, operator, payerOf, SharedJobs } from './job-queue.ts'
import { WorkList } from './missing-blocks.ts'
import { TokenSizes } from './token-size.ts'

export type ContractJobsOptions = {
  chain: ChainId
  store: Store
  source: WatchedSource
  rpc: RpcPort
  follower: FollowedHead
  /** Held while following: a contract is added between two steps, never within one. */
  mutex: Mutex
  room: StoreRoom
  from: number
  /** Those of the configuration, which are indexed whether they have code or not. */
  listed: readonly Address[]
  backfill: Omit<BackfillOptions, 'chain' | 'store' | 'scope' | 'fetchRange'>
  /** Contracts indexed at once; more wait in the queue. */
  parallel: number
  waitingMax: number
  /** How long an address had no code: one may be deployed, or the head was that of a node that was behind. */
  codelessMs: number
  /** How many transfers of a token count as one contract against `index_per_day`. */
  transfersPerTarget: number
  /** Whether logs below a deployment are asked for at once: it can be too much for some nodes. */
  looksBelow: boolean
  /** Called with the block of a contract's deployment. */
  onDeployed?: ((contract: Address, block: number) => void) | undefined
  /** Called after rows were added to hot blocks; the backfill reports history. */
  onStored: (range: DecodedRange) => void
}

const codelessMax = 100_000

/** Each contract gets its own backfill, newest first, and is followed at the head from then on. */
export class ContractJobs {
  readonly #options: ContractJobsOptions
  readonly #jobs: SharedJobs
  readonly #sizes: TokenSizes
  readonly #listed: ReadonlySet<Address>
  /** Addresses that had no code at the head: nothing is watched and nothing claimed for them. */
  readonly #codeless: LRUCache<Address, true>
  /** What is left of them no endpoint has. */
  readonly #outOfReach = new Set<Address>()

  constructor(options: ContractJobsOptions) {
    this.#options = options
    this.#codeless = new LRUCache<Address, true>({ ...atMost(codelessMax), ttl: options.codelessMs })
    this.#listed = new Set(options.listed)
    this.#jobs = new SharedJobs('contracts', { runningMax: options.parallel, waitingMax: options.waitingMax })
    this.#sizes = new TokenSizes(options)
  }

  get queue(): QueueStatus {
    return this.#jobs.status
  }

  get underWay(): number {
    return this.#jobs.size
  }

  get outOfReach(): number {
    return [...this.#outOfReach].filter(contract => this.#options.source.watched.has(contract)).length
  }

  /** Tokens that are too large for the keys that asked for them. */
  get held(): ReadonlyMap<Address, SizeEstimate> {
    return this.#sizes.held
  }

  isUnderWay(contract: Address): boolean {
    return this.#jobs.has(contract)
  }

  /** Whether it is followed, as what has code is. */
  isWatched(contract: Address): boolean {
    return this.#options.source.watched.has(contract)
  }

  /**
   * Resolves when the contract is complete to the head, or as far down as the endpoints have blocks, when it has no
   * code, or when the signal says stop; fails only if the queue is full, or the key may have nodes asked no more.
   */
  ensure(contract: Address, signal: AbortSignal, asker: Asker = operator): Promise<void> {
    if (this.#codeless.has(contract)) return Promise.resolve()
    return this.#jobs.run(contract, asker, signal, turn => this.#index(contract, { stopping: signal, turn, asker }))
  }

  /** Completes the configured contracts, a few at a time. */
  async ensureListed(contracts: readonly Address[], signal: AbortSignal): Promise<void> {
    const listed = [...contracts]
    await Promise.all(Array.from({ length: this.#options.parallel }, () => this.#ensureEach(listed, signal)))
  }

  async areComplete(contracts: readonly Address[]): Promise<boolean> {
    for (const contract of contracts) if (!(await this.#isComplete(contract))) return false
    return true
  }

  async #isComplete(contract: Address): Promise<boolean> {
    const { chain, store, follower, from } = this.#options
    const wanted = { from, to: follower.tip?.number ?? follower.finalized }
    return missingIntervals(await store.contractCoverage(chain, contract), wanted).length === 0
  }

  /** Takes contracts from the list until it is empty. */
  async #ensureEach(listed: Address[], signal: AbortSignal): Promise<void> {
    for (let contract = listed.shift(); contract !== undefined && !signal.aborted; contract = listed.shift()) {
      if ((await this.#isComplete(contract)) || (await this.#isOutOfReach(contract))) continue
      try {
        await this.ensure(contract, signal)
      } catch (error) {
        // The queue is full of contracts that clients asked for; the next round tries again.
        if (!(error instanceof AlmanacError && error.code === 'overloaded')) throw error
      }
    }
  }

  /** Whether the newest `rows` transfers are stored, so that a first page is right while older ones are missing. */
  async hasNewest(contract: Address, rows: number): Promise<boolean> {
    const { chain, store, follower } = this.#options
    const covered = await store.contractCoverage(chain, contract)
    let fromBlock = (follower.tip?.number ?? follower.finalized) + 1
    for (const { from, to } of covered.toReversed()) if (to >= fromBlock - 1) fromBlock = Math.min(fromBlock, from)
    return (await store.transferCount({ chain, contract, fromBlock })) >= rows
  }

  /** False if its turn was over before it was complete. */
  async #index(contract: Address, { stopping, turn, asker }: Turn): Promise<boolean> {
    const { chain, store, room, backfill } = this.#options
    const payer = payerOf(asker)
    const rpc = paidBy(this.#options.rpc, payer)
    const source = this.#options.source.paidBy(payer)
    const signal = AbortSignal.any([stopping, turn])
    let delayMs = backfill.retryDelayMs.first
    while (await room.available(signal)) {
      try {
        if (await this.#hasNoCode(contract, rpc, signal)) {
          this.#codeless.set(contract, true)
          return true
        }
        await this.#watch(contract, source, signal)
        if (await this.#isOutOfReach(contract)) return true
        const isSkipped = (await store.coverage(chain, contract))[0]?.from === 0
        if (!isSkipped && (await this.#missing(contract)).length > 0)
          await this.skipBeforeDeployment(contract, signal, rpc)
        const missing = await this.#missing(contract)
        const size = await this.#sizes.of(contract, missing, asker)
        const fetchRange: BackfillOptions['fetchRange'] = async (interval, abort) => {
          const range = await source.contractRange(contract, interval, abort)
          await size?.read(range)
          return range
        }
        const bounded = size === undefined ? signal : AbortSignal.any([signal, size.refused])
        await fill(missing, { ...backfill, chain, store, scope: contract, fetchRange }, bounded)
        size?.refused.throwIfAborted()
        const isShort = !signal.aborted && (await this.#missing(contract)).length > 0
        if (isShort) this.#outOfReach.add(contract)
        else this.#outOfReach.delete(contract)
        if (!signal.aborted && !isShort) await this.#sizes.forget(contract)
        return stopping.aborted || !turn.aborted
      } catch (error) {
        if (signal.aborted) break
        if (isUsedUp(error)) throw error
        // Endpoints and a full disk may recover: only a defect ends the job.
        if (!(error instanceof AlmanacError || error instanceof RangeRefused)) throw error
        backfill.onFailure?.(reasonOf(error))
        if (room.failed(error)) continue
        await pause(delayMs, signal)
        delayMs = Math.min(delayMs * 2, backfill.retryDelayMs.max)
      }
    }
    return stopping.aborted
  }

  /** The whole history of an address without code would be read for nothing. */
  async #hasNoCode(contract: Address, rpc: RpcPort, signal: AbortSignal): Promise<boolean> {
    const { chain, store, source, follower } = this.#options
    if (this.#listed.has(contract) || source.watched.has(contract) || follower.latest === undefined) return false
    if ((await store.coverage(chain, contract)).length > 0) return false
    return await lacksCode(contract, { rpc, at: follower.latest.number }, signal)
  }

  async #missing(contract: Address): Promise<Interval[]> {
    const { chain, store, follower, from } = this.#options
    return missingIntervals(await store.contractCoverage(chain, contract), { from, to: follower.finalized })
  }

  /** Whether no endpoint has what its last job left: there is nothing to ask until that changes. */
  async #isOutOfReach(contract: Address): Promise<boolean> {
    if (!this.#outOfReach.has(contract)) return false
    const { historyFrom } = this.#options.rpc
    return (await this.#missing(contract)).every(({ to }) => to < historyFrom)
  }

  /** Follows the contract from the next block on, and adds its rows to the hot blocks that are stored already. */
  async #watch(contract: Address, reader: ContractReader, signal: AbortSignal): Promise<void> {
    const { chain, store, source, follower, mutex, from } = this.#options
    await mutex.run(async () => {
      if (source.watched.has(contract)) return
      await store.watchContract(chain, contract, { from: (follower.tip?.number ?? follower.finalized) + 1 })
      source.watched.add(contract)
    })
    const hot = { from: Math.max(follower.finalized + 1, from), to: follower.tip?.number ?? follower.finalized }
    const missing = missingIntervals(await store.contractCoverage(chain, contract), hot)
    await this.#addToHot(contract, missing, reader, signal)
  }

  /** The head moves meanwhile: the store refuses rows of a block that was replaced or became final. */
  async #addToHot(
    contract: Address,
    missing: readonly Interval[],
    reader: ContractReader,
    signal: AbortSignal,
  ): Promise<void> {
    const { chain, store, backfill, onStored } = this.#options
    const { rangeSize } = backfill
    const work = new WorkList(missing)
    for (let interval = work.take(rangeSize.blocks); interval; interval = work.take(rangeSize.blocks)) {
      const blocks = interval.to - interval.from + 1
      try {
        const range = await reader.hotContractRange(contract, interval, signal)
        await store.addToHot(chain, hotBlocksOf(range), [{ ...interval, evidence: range.evidence, scope: contract }])
        onStored(range)
      } catch (error) {
        if (!(error instanceof RangeRefused) || blocks === 1) throw error
        rangeSize.learn(refusedOutcome(error, blocks))
        work.add(interval)
      }
    }
  }

  /** Blocks below the deployment hold no log of the contract. Without old state it is unknown, and all are read. */
  async skipBeforeDeployment(contract: Address, signal: AbortSignal, rpc = this.#options.rpc): Promise<void> {
    const { chain, store, follower, looksBelow, backfill } = this.#options
    if (follower.finalized < 1) return
    const deployed = await deploymentOf(contract, { rpc, upTo: follower.finalized, looksBelow }, signal)
    if (deployed === undefined || deployed.block === 0 || backfill.mayClaim?.() === false) return
    const { block, evidence } = deployed
    this.#options.onDeployed?.(contract, block)
    await store.addCoverage(chain, contract, { from: 0, to: block - 1, evidence })
  }
}

type Turn = { stopping: AbortSignal; turn: AbortSignal; asker: Asker }
type ContractReader = ReturnType<WatchedSource['paidBy']>
