// Asks again for what one endpoint alone vouched for, once an endpoint of another host is back: the evidence rises, and
// what the first one added or left out is put right. It works in the background, one contract at a time.
import type { Address, ChainId, Interval, TransferRow } from '../../model.ts'
import { hostOf } from '../../rpc/endpoint-address.ts'
import type { TransferPage } from '../../store/index-reader.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import { type RangeSize, readPieces } from '../source/range-size.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import type { ContractJobs } from './contract-jobs.ts'
import type { FollowedHead } from './follow.ts'

export type RecheckOptions = {
  chain: ChainId
  store: Store
  source: WatchedSource
  rpc: RpcPort
  follower: FollowedHead
  contracts: ContractJobs
  rangeSize: RangeSize
  mayClaim: () => boolean
}

/** A contract that cannot be confirmed waits longer each time. */
const delaysMs = { first: 5_000, max: 86_400_000 }

export class Recheck {
  readonly #options: RecheckOptions
  readonly #waiting = new Map<Address, { untilMs: number; delayMs: number }>()
  #turn: IterableIterator<Address> | undefined

  constructor(options: RecheckOptions) {
    this.#options = options
  }

  /** Looks at the next watched contract, whose turn it is. */
  async next(signal: AbortSignal): Promise<void> {
    const { rpc, source, contracts, mayClaim } = this.#options
    const hosts = rpc.status().flatMap(({ endpoint, healthy }) => (healthy ? [hostOf(endpoint)] : []))
    if (new Set(hosts).size < 2 || !mayClaim()) return
    this.#turn ??= source.watched.values()
    const { value: contract } = this.#turn.next()
    if (contract === undefined) this.#turn = undefined
    if (contract === undefined || contracts.isUnderWay(contract) || this.#waits(contract)) return
    if ((await this.#weak(contract)).length === 0) return
    await contracts.skipBeforeDeployment(contract, signal)
    const confirmed = await this.#confirm(contract, signal).catch(() => false)
    if (confirmed) return void this.#waiting.delete(contract)
    const delayMs = Math.min(delaysMs.max, 2 * (this.#waiting.get(contract)?.delayMs ?? delaysMs.first / 2))
    this.#waiting.set(contract, { untilMs: performance.now() + delayMs, delayMs })
  }

  #waits(contract: Address): boolean {
    return performance.now() < (this.#waiting.get(contract)?.untilMs ?? 0)
  }

  /** The final blocks for which one endpoint alone vouches. */
  async #weak(contract: Address): Promise<Interval[]> {
    const { chain, store, follower } = this.#options
    return (await store.contractCoverage(chain, contract))
      .map(interval => ({ ...interval, to: Math.min(interval.to, follower.finalized) }))
      .filter(({ from, to, evidence }) => evidence === 'one-endpoint' && from <= to)
  }

  /** False if anything is still the word of one endpoint. */
  async #confirm(contract: Address, signal: AbortSignal): Promise<boolean> {
    const { chain, store, source, rangeSize, mayClaim } = this.#options
    const fetchRange = (piece: Interval, abort: AbortSignal) => source.contractRange(contract, piece, abort)
    for (const interval of await this.#weak(contract)) {
      for await (const range of readPieces(interval, { fetchRange, rangeSize }, signal)) {
        const { interval: piece, evidence, headers, transfers, activity } = range
        if (evidence === 'one-endpoint' || !mayClaim()) return false
        const within = { chain, contract, fromBlock: piece.from, toBlock: piece.to }
        const page = await store.transferPage({ ...within, order: 'asc', limit: transfers.length + 1 })
        if (!isSame(page, transfers)) await store.dropRange(chain, contract, piece)
        const covered = [{ ...piece, evidence, scope: contract }]
        await store.commitCold({ chain, covered, blocks: headers, transfers, activity })
      }
    }
    return true
  }
}

function isSame(page: TransferPage, rows: readonly TransferRow[]): boolean {
  return (
    page.length === rows.length &&
    rows.every(
      ({ block, transactionIndex, logIndex, batchIndex }, at) =>
        page.blocks[at] === block &&
        page.transactionIndexes[at] === transactionIndex &&
        page.logIndexes[at] === logIndex &&
        page.batchIndexes[at] === batchIndex,
    ) &&
    Buffer.concat(rows.map(({ payload }) => payload)).equals(page.payloads)
  )
}
