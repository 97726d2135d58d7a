// What answers show of contracts, for rows of many of them: read once for each state of the store. No HTTP.
import { LRUCache } from 'lru-cache'
import { type ShownFacts, shownFacts } from '../annotate/shown-facts.ts'
import type { Address, ChainId } from '../model.ts'
import type { Store } from '../store/store.ts'

const contractsMax = 20_000

export type FactsByContract = ReadonlyMap<Address, ShownFacts | undefined>

export class ShownContracts {
  readonly #store: Pick<Store, 'contractFacts' | 'marksOf'>
  readonly #revision: () => number
  /** `revision` is from before the facts were read, so that a commit in between voids them. */
  readonly #known = new LRUCache<string, { revision: number; facts: ShownFacts | undefined }>({ max: contractsMax })

  constructor(store: Pick<Store, 'contractFacts' | 'marksOf' | 'revision'>, revision = () => store.revision()) {
    this.#store = store
    this.#revision = revision
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
        const [facts, marks] = await Promise.all([
          this.#store.contractFacts(chain, contract),
          this.#store.marksOf(chain, contract),
        ])
        const read = shownFacts(facts, marks)
        this.#known.set(`${chain} ${contract}`, { revision, facts: read })
        shown.set(contract, read)
      }),
    )
    return shown
  }
}
