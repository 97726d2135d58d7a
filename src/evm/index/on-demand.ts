// Indexes contracts and wallets that requests ask for, on a chain that is not indexed in full, a few at a time.
// Requests for the same contract or wallet share one job.
import { LRUCache } from 'lru-cache'
import { pause } from '../../abort.ts'
import { atMost } from '../../at-most.ts'
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals } from '../../coverage.ts'
import { AlmanacError, isUsedUp } from '../../errors.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Address, ChainId, Interval } from '../../model.ts'
import type { QueueStatus } from '../../status.ts'
import { packActivity } from '../../store/packed-activity.ts'
import type { StoreRoom } from '../../store/room.ts'
import { putSizeEstimate, type SizeEstimate, sizeEstimate } from '../../store/size-estimates.ts'
import type { Store } from '../../store/store.ts'
import { paidBy, RangeRefused, type RpcPort } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { deploymentOf, lacksCode } from '../source/deployment.ts'
import { refusedOutcome } from '../source/range-size.ts'
import { WalletLookup, type WalletState } from '../source/wallet-lookup.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import { type BackfillOptions, fill, hotBlocksOf, reasonOf } from './backfill.ts'
import type { FollowedHead } from './follow.ts'
import { type Asker, JobQueue, operator, payerOf } from './job-queue.ts'
import { TokenSize } from './token-size.ts'
import { WorkList } from './work-list.ts'

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
  /** So many transfers of a token count as one contract against `index_per_day`. */
  transfersPerTarget: number
  /** Whether logs below a deployment are asked for at once: it can be too much for some nodes. */
  looksBelow: boolean
  /** Called with the block of a contract's deployment. */
  onDeployed?: ((contract: Address, block: number) => void) | undefined
  /** Called after rows were added to hot blocks; the backfill reports history. */
  onStored: (range: DecodedRange) => void
}

const codelessMax = 100_000
/** In the status; all of them are in the store. */
const heldShown = 20

/** Each contract gets its own backfill, newest first, and is followed at the head from then on. */
export class ContractJobs {
  readonly #options: ContractJobsOptions
  readonly #jobs = new Map<Address, Job>()
  readonly #queue: JobQueue
  readonly #listed: ReadonlySet<Address>
  /** Addresses that had no code at the head: nothing is watched and nothing claimed for them. */
  readonly #codeless: LRUCache<Address, true>

  /** What is left of them no endpoint has. */
  readonly #outOfReach = new Set<Address>()
  /** Tokens of which no key that asked may have all read, the latest last. */
  readonly #held = new Map<Address, SizeEstimate>()

  constructor(options: ContractJobsOptions) {
    this.#options = options
    this.#codeless = new LRUCache<Address, true>({ ...atMost(codelessMax), ttl: options.codelessMs })
    this.#listed = new Set(options.listed)
    this.#queue = new JobQueue({ runningMax: options.parallel, waitingMax: options.waitingMax })
  }

  get queue(): QueueStatus {
    return this.#queue.status
  }

  get underWay(): number {
    return this.#jobs.size
  }

  get outOfReach(): number {
    return [...this.#outOfReach].filter(contract => this.#options.source.watched.has(contract)).length
  }

  /** Tokens that are too large for the keys that asked for them. */
  get held(): ReadonlyMap<Address, SizeEstimate> {
    return this.#held
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
    const known = this.#jobs.get(contract)
    if (known !== undefined) return sharedJob(known, asker, signal, () => this.ensure(contract, signal, asker))
    if (this.#codeless.has(contract)) return Promise.resolve()
    const done = this.#queue
      .run('contracts', asker, turn => this.#index(contract, { stopping: signal, turn, asker }))
      .finally(() => this.#jobs.delete(contract))
    this.#jobs.set(contract, { done, asker })
    return done
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
        const size = await this.#sizeOf(contract, missing, asker)
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
        if (!signal.aborted && !isShort) await this.#forgetSize(contract)
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

  /** The whole history of an address that nobody deployed anything to would be read for nothing. */
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

  /**
   * What bounds how much of a token is read; undefined for NFTs. Fails where the key of the request may not have it
   * read, by what is known of its size.
   */
  async #sizeOf(contract: Address, missing: readonly Interval[], asker: Asker): Promise<TokenSize | undefined> {
    const { chain, store, transfersPerTarget } = this.#options
    if (ledgerOf(chain).ledger === 'nft') return undefined
    const stored = await store.transferCount({ chain, contract })
    const onEstimate = (estimate: SizeEstimate): void => this.#noteSize(contract, estimate)
    const history = { blocks: blockCount(missing), stored, transfersPerTarget, onEstimate }
    const size = new TokenSize({ store, ledger: chain, token: contract, ...history, asker })
    const known = await sizeEstimate(store, chain, contract)
    if (known?.held && missing.length > 0) await size.resume(known)
    return size
  }

  #noteSize(contract: Address, estimate: SizeEstimate | undefined): void {
    this.#held.delete(contract)
    if (estimate?.held !== true) return
    this.#held.set(contract, estimate)
    const [oldest] = this.#held.keys()
    if (this.#held.size > heldShown && oldest !== undefined) this.#held.delete(oldest)
  }

  /** Of a token that is indexed whole. */
  async #forgetSize(contract: Address): Promise<void> {
    const { chain, store } = this.#options
    if (ledgerOf(chain).ledger === 'nft' || (await sizeEstimate(store, chain, contract)) === undefined) return
    await putSizeEstimate(store, { ledger: chain, contract }, undefined)
    this.#noteSize(contract, undefined)
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

/** Work under way, and the key that pays for it. */
type Job = { done: Promise<void>; asker: Asker }

/** The outcome of a job of another request. */
function sharedJob({ done, asker: payer }: Job, asker: Asker, signal: AbortSignal, again: () => Promise<void>) {
  if (payer.id === asker.id) return done
  return done.catch(error => {
    // The other key has used up its share; this one may have something left of its own.
    if (isUsedUp(error) && !signal.aborted) return again()
    throw error
  })
}

type Turn = { stopping: AbortSignal; turn: AbortSignal; asker: Asker }
type ContractReader = ReturnType<WatchedSource['paidBy']>

export type WalletJobsOptions = { chain: Chain; store: Store; rpc: RpcPort; follower: FollowedHead }

// How many wallets are remembered as fresh at a head; the store keeps them all.
const freshMax = 10_000

/**
 * Looks wallets up from the node, keeps them in the store, and looks again at a later request. It finds only what a
 * wallet sent and its first funding, and skips blocks that are neither final nor followed: nothing could take those
 * back.
 */
export class WalletJobs {
  readonly #options: WalletJobsOptions
  readonly #jobs = new Map<Address, Job>()
  readonly #queue = new JobQueue({ runningMax: 8, waitingMax: 1_000 })
  /** The head and branch at which each wallet was last looked up. */
  readonly #fresh = new Map<Address, string>()

  constructor(options: WalletJobsOptions) {
    this.#options = options
  }

  /** Resolves when the wallet is known up to the head at the start of its look-up. */
  ensure(wallet: Address, signal: AbortSignal, asker: Asker = operator): Promise<void> {
    const { tip, finalOnChain, branches } = this.#options.follower
    const head = `${tip?.hash ?? finalOnChain} ${branches}`
    if (this.#fresh.get(wallet) === head) return Promise.resolve()
    const known = this.#jobs.get(wallet)
    if (known !== undefined) return sharedJob(known, asker, signal, () => this.ensure(wallet, signal, asker))
    const done = this.#queue
      .run('wallets', asker, async () => {
        const { chain, rpc } = this.#options
        await this.#find(wallet, new WalletLookup(chain, paidBy(rpc, payerOf(asker))), signal)
        return true
      })
      .then(() => {
        this.#fresh.delete(wallet)
        this.#fresh.set(wallet, head)
        const [oldest] = this.#fresh.keys()
        if (this.#fresh.size > freshMax && oldest !== undefined) this.#fresh.delete(oldest)
      })
      .finally(() => this.#jobs.delete(wallet))
    this.#jobs.set(wallet, { done, asker })
    return done
  }

  async #find(wallet: Address, lookup: WalletLookup, signal: AbortSignal): Promise<void> {
    const { chain, store, follower } = this.#options
    const name = `wallet/${chain.id}/${wallet}`
    const stored = await store.checkpoint(name)
    let state = stored === undefined ? undefined : (JSON.parse(stored) as WalletState)
    const final = follower.finalOnChain
    if (final > (state?.block ?? -1)) {
      const found = await lookup.find(wallet, final, state, signal)
      if (found.activity !== undefined) {
        const activity = packActivity([found.activity])
        await store.commitCold({ chain: chain.id, covered: [], blocks: [], transfers: [], activity })
      }
      await store.putCheckpoint(name, JSON.stringify(found.state))
      state = found.state
    }
    // On a young chain without a final block, everything is hot.
    if (state !== undefined || final < 0) await this.#findHot(wallet, lookup, state, signal)
  }

  /** Transactions above the final block go to their hot block, so that a reorganisation removes them with it. */
  async #findHot(
    wallet: Address,
    lookup: WalletLookup,
    state: WalletState | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { chain, store, follower } = this.#options
    const tip = follower.tip
    if (tip === undefined) return
    const { activity, blockHashes } = await lookup.find(wallet, tip.number, state, signal)
    if (activity === undefined) return
    const { first, last } = activity
    const found =
      first.block === last.block ? [activity] : [first, last].map(ref => ({ address: wallet, first: ref, last: ref }))
    const rows = found.filter(row => row.first.block > follower.finalized)
    // The store refuses a block that was replaced meanwhile; the next request looks the wallet up again.
    const blocks = rows.map(row => {
      const { block: number, timestamp } = row.first
      const hash = blockHashes.get(number) ?? tip.hash
      return { number, timestamp, hash, transfers: [], activity: packActivity([row]) }
    })
    await store.addToHot(chain.id, blocks, [])
  }
}

/** Runs one piece of work at a time. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => {})
    return result
  }
}
