// Wallets that were asked for on a chain that is not indexed in full: looked up from the node, kept in the store, and looked at again
// when they are asked for later. Only what the wallet sent, and its first funding, is found this way. What stands in blocks that
// are neither final nor followed is not told yet: nothing could take it back.
import type { Chain } from '../../chains.ts'
import type { Address } from '../../model.ts'
import { packActivity } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import { WalletLookup, type WalletState } from '../source/wallet-lookup.ts'
import type { Follower } from './follow.ts'
import { Line } from './line.ts'

export type WalletJobsOptions = { chain: Chain; store: Store; rpc: RpcPort; follower: Follower }

// How many wallets are remembered as fresh up to a certain head; the store keeps them all.
const freshMax = 10_000

export class WalletJobs {
  readonly #options: WalletJobsOptions
  readonly #lookup: WalletLookup
  readonly #jobs = new Map<Address, Promise<void>>()
  readonly #line = new Line({ placesMax: 8, waitingMax: 1_000 })
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
    const job = this.#line
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
