// The rules of the wallet chains operation: which chains are answered, in which order, and which are complete. No HTTP.
import type { Chain, ChainTable } from '../chains.ts'
import { weakestEvidence, weakestOf } from '../coverage.ts'
import type { ActivityRow, Address, CoveredInterval, Evidence, Interval } from '../model.ts'
import { activityGaps } from '../store/activity-gaps.ts'
import type { Store } from '../store/store.ts'
import type { FreshenOptions } from './freshen.ts'

export type WalletChainsQuestion = {
  wallet: Address
  /** Undefined: every chain that is indexed or configured. */
  chains: readonly Chain[] | undefined
}

export type WalletChainsAnswer = {
  wallet: Address
  /** Asked chains in the order of the request, otherwise active chains in the order of the chain table. */
  chains: readonly { chain: Chain; activity: ActivityRow | undefined }[]
  /** Chains with missing history: their first and last transactions are those known so far. */
  incomplete: readonly Chain[]
  /** The weakest of the chains considered; undefined where one is incomplete. */
  evidence: Evidence | undefined
}

type IndexedChains = {
  revision: number
  indexed: ReadonlySet<Chain>
  /** With the evidence of each. */
  complete: ReadonlyMap<Chain, Evidence>
}

export class WalletChains {
  readonly #store: Store
  readonly #table: ChainTable
  /** Never silently left out, also where no node has answered yet. */
  readonly #configured: ReadonlySet<Chain>
  /** Holds until the next commit. */
  #indexed: IndexedChains | undefined

  constructor(store: Store, table: ChainTable) {
    this.#store = store
    this.#table = table
    this.#configured = new Set(table.configured)
  }

  async answer(question: WalletChainsQuestion, options: FreshenOptions): Promise<WalletChainsAnswer> {
    // Completeness is read before activity: a commit in between can only make the answer claim less than it holds.
    let { indexed, complete } = await this.#indexedChains()
    const considered =
      question.chains ?? this.#table.all.filter(chain => indexed.has(chain) || this.#configured.has(chain))
    // A chain without a head cannot be waited for: its node may be down.
    const lacking = (question.chains ?? [...indexed]).filter(chain => !complete.has(chain))
    if (lacking.length > 0 && options.freshen?.wallet !== undefined) {
      const ids = lacking.map(chain => chain.id)
      await options.freshen.wallet(ids, question.wallet, options.freshenWaitMs, options.key)
      ;({ complete } = await this.#indexedChains())
    }
    const activity = await this.#store.activityOf(question.wallet)
    const evidences = considered.map(chain => complete.get(chain))
    // Read after the activity: a repair sets the mark before it takes activity back.
    const gaps = await activityGaps(this.#store, question.wallet)
    const chains = considered.map(chain => ({ chain, activity: activity.get(chain.id) }))
    return {
      wallet: question.wallet,
      chains: question.chains === undefined ? chains.filter(entry => entry.activity !== undefined) : chains,
      incomplete: considered.filter(
        chain => !complete.has(chain) || (gaps.get(chain.id) ?? -1) >= (activity.get(chain.id)?.last.block ?? 0),
      ),
      evidence: evidences.reduce(
        (a, b) => (a === undefined || b === undefined ? undefined : weakestOf(a, b)),
        evidences[0],
      ),
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
        const whole = { from: 0, to: state.head.number }
        return { chain, evidence: activityEvidence(full, whole) }
      }),
    )
    const indexed = states.filter(state => state !== undefined)
    this.#indexed = {
      revision,
      indexed: new Set(indexed.map(({ chain }) => chain)),
      complete: new Map(indexed.flatMap(({ chain, evidence }) => (evidence === undefined ? [] : [[chain, evidence]]))),
    }
    return this.#indexed
  }
}

/** No root covers the sender of a transaction: where its logs are proven, the sender is still one endpoint's word. */
function activityEvidence(covered: readonly CoveredInterval[], whole: Interval): Evidence | undefined {
  const ofSenders = (evidence: Evidence): Evidence => (evidence === 'two-endpoints' ? evidence : 'one-endpoint')
  return weakestEvidence(
    covered.map(interval => ({ ...interval, evidence: ofSenders(interval.evidence) })),
    whole,
  )
}
