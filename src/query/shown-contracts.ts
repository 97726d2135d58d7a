// What answers show of contracts, for rows of many of them: read once for each state of the store. No HTTP.
import { LRUCache } from 'lru-cache'
import { type ShownFacts, shownFacts } from '../annotate/shown-facts.ts'
import { atMost } from '../at-most.ts'
import { ledgerOf } from '../ledgers.ts'
import type { Address, ChainId } from '../model.ts'
import type { Store } from '../store/store.ts'

const contractsMax = 20_000

export type FactsStore = Pick<Store, 'revision' | 'annotationsOf'>
export type FactsByContract = ReadonlyMap<Address, ShownFacts | undefined>

export class ShownContracts {
  readonly #store: FactsStore
  readonly #revision: () => number
  /** `revision` is from before the facts were read, so that a commit in between voids them. */
  readonly #known = new LRUCache<string, { revision: number; facts: ShownFacts | undefined }>(atMost(contractsMax))

  constructor(store: FactsStore, revision = () => store.revision()) {
    this.#store = store
    this.#revision = revision
  }

  async ofOne(chain: ChainId, contract: Address): Promise<ShownFacts | undefined> {
    const known = this.#known.get(`${chain} ${contract}`)
    if (known?.revision === this.#revision()) return known.facts
    return (await this.of(chain, [contract])).get(contract)
  }

  async of(chain: ChainId, contracts: readonly Address[]): Promise<FactsByContract> {
    const revision = this.#revision()
    const shown = new Map<Address, ShownFacts | undefined>()
    const missing: Address[] = []
    for (const contract of new Set(contracts)) {
      const known = this.#known.get(`${chain} ${contract}`)
      if (known?.revision === revision) shown.set(contract, known.facts)
      else missing.push(contract)
    }
    await Promise.all(
      missing.map(async contract => {
        const read = await this.#read(chain, contract)
        this.#known.set(`${chain} ${contract}`, { revision, facts: read })
        shown.set(contract, read)
      }),
    )
    return shown
  }

  /** What a token says of itself is of the ledger, and marks are of the chain. */
  async #read(id: ChainId, contract: Address): Promise<ShownFacts | undefined> {
    const { chain } = ledgerOf(id)
    const { facts, marks } = await this.#store.annotationsOf(id, contract)
    const ofChain = chain === id ? marks : (await this.#store.annotationsOf(chain, contract)).marks
    return shownFacts(facts, ofChain)
  }
}
