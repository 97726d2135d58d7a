// The rules of the wallet chains operation: which chains are answered, in which order, and which are complete. No HTTP.
import type { Chain, ChainTable } from '../chains.ts'
import { isCovered } from '../coverage.ts'
import type { ActivityRow, Address } from '../model.ts'
import { activityGaps } from '../store/activity-gaps.ts'
import type { Store } from '../store/store.ts'
import type { Freshen, IndexingKey } from './freshen.ts'

export type WalletChainsQuestion = {
  wallet: Address
  /** Undefined: every indexed chain. */
  chains: readonly Chain[] | undefined
}

export type WalletChainsAnswer = {
  wallet: Address
  /** Asked chains in the order of the request, otherwise active chains in the order of the chain table. */
  chains: readonly { chain: Chain; activity: ActivityRow | undefined }[]
  /** Chains with missing history: their first and last transactions are those known so far. */
  incomplete: readonly Chain[]
}

export type WalletChainsOptions = { key: IndexingKey; freshen: Freshen | undefined; freshenWaitMs: number }

type IndexedChains = { revision: number; indexed: readonly Chain[]; complete: ReadonlySet<Chain> }

export class WalletChains {
  readonly #store: Store
  readonly #table: ChainTable
  /** Holds until the next commit. */
  #indexed: IndexedChains | undefined

  constructor(store: Store, table: ChainTable) {
    this.#store = store
    this.#table = table
  }

  async answer(question: WalletChainsQuestion, options: WalletChainsOptions): Promise<WalletChainsAnswer> {
    // Completeness is read before activity: a commit in between can only make the answer claim less than it holds.
    let { indexed, complete } = await this.#indexedChains()
    const considered = question.chains ?? indexed
    const lacking = considered.filter(chain => !complete.has(chain))
    if (lacking.length > 0 && options.freshen?.wallet !== undefined) {
      const ids = lacking.map(chain => chain.id)
      await options.freshen.wallet(ids, question.wallet, options.freshenWaitMs, options.key)
      complete = (await this.#indexedChains()).complete
    }
    const activity = await this.#store.activityOf(question.wallet)
    // Read after the activity: a repair sets the mark before it takes activity back.
    const gaps = await activityGaps(this.#store, question.wallet)
    const chains = considered.map(chain => ({ chain, activity: activity.get(chain.id) }))
    return {
      wallet: question.wallet,
      chains: question.chains === undefined ? chains.filter(entry => entry.activity !== undefined) : chains,
      incomplete: considered.filter(chain => !complete.has(chain) || gaps.has(chain.id)),
    }
  }

  /** A chain without a head was never indexed; a complete one is covered from its first block to its head. */
  async #indexedChains(): Promise<IndexedChains> {
    const revision = this.#store.revision()
    if (this.#indexed?.revision === revision) return this.#indexed
    const states = await Promise.all(
      this.#table.all.map(async chain => {
        const state = await this.#store.chainState(chain.id)
        if (state === undefined) return undefined
        const full = await this.#store.coverage(chain.id, 'full')
        return { chain, complete: isCovered(full, { from: 0, to: state.head.number }) }
      }),
    )
    const indexed = states.filter(state => state !== undefined)
    this.#indexed = {
      revision,
      indexed: indexed.map(({ chain }) => chain),
      complete: new Set(indexed.filter(({ complete }) => complete).map(({ chain }) => chain)),
    }
    return this.#indexed
  }
}
