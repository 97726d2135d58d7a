// Looks up wallets that requests ask for, on a chain whose wallets are not indexed: what a wallet sent and its first
// funding. It skips blocks that are neither final nor followed: nothing could take those back.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import type { Chain } from '../../chains.ts'
import type { Address } from '../../model.ts'
import { walletCheckpoint } from '../../store/checkpoint-names.ts'
import { packActivity } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import { paidBy, type RpcPort } from '../rpc/port.ts'
import { WalletLookup, type WalletState } from '../source/wallet-lookup.ts'
import type { FollowedHead } from './follow.ts'
import { type Asker, operator, payerOf, SharedJobs } from './job-queue.ts'

export type WalletJobsOptions = { chain: Chain; store: Store; rpc: RpcPort; follower: FollowedHead }

// How many wallets are remembered as fresh at a head; the store keeps them all.
const freshMax = 10_000

/** Keeps what it finds in the store, and looks again at a later request. */
export class WalletJobs {
  readonly #options: WalletJobsOptions
  readonly #jobs = new SharedJobs('wallets', { runningMax: 8, waitingMax: 1_000 })
  /** The head and branch at which each wallet was last looked up. */
  readonly #fresh = new LRUCache<Address, string>(atMost(freshMax))

  constructor(options: WalletJobsOptions) {
    this.#options = options
  }

  /** Resolves when the wallet is known up to the head at the start of its look-up. */
  ensure(wallet: Address, signal: AbortSignal, asker: Asker = operator): Promise<void> {
    const { tip, finalOnChain, branches } = this.#options.follower
    const head = `${tip?.hash ?? finalOnChain} ${branches}`
    if (this.#fresh.get(wallet) === head) return Promise.resolve()
    return this.#jobs.run(wallet, asker, signal, async () => {
      const { chain, rpc } = this.#options
      await this.#find(wallet, new WalletLookup(chain, paidBy(rpc, payerOf(asker))), signal)
      this.#fresh.set(wallet, head)
      return true
    })
  }

  async #find(wallet: Address, lookup: WalletLookup, signal: AbortSignal): Promise<void> {
    const { chain, store, follower } = this.#options
    const name = walletCheckpoint(chain.id, wallet)
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
