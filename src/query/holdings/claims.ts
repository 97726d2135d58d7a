// What may be claimed of an answer, and what is known of contracts, read once for each revision of the store:
// coverage is read before rows, so a commit in between can only make an answer claim less than it holds.
import { LRUCache } from 'lru-cache'
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import { isCovered, weakestEvidence, wholeCoverage } from '../../coverage.ts'
import type { Address, ChainId, CoveredInterval } from '../../model.ts'
import { chainCoverage } from '../../store/chain-coverage.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import type { IndexName } from '../../store/indexes/index-view.ts'
import type { ChainState, Store } from '../../store/store.ts'
import { ShownContracts } from '../shown-contracts.ts'
import type { Completeness } from './questions.ts'

const contractsMax = 10_000
const chainsMax = 100

type ChainView = { revision: number; state: ChainState | undefined; whole: CoveredInterval[]; filled: Set<IndexName> }
type ContractView = { revision: number; coverage: readonly CoveredInterval[] }

export type ClaimStore = Pick<
  Store,
  'revision' | 'chainState' | 'coverage' | 'contractCoverage' | 'contractFacts' | 'marksOf'
>

export class Claims {
  readonly #store: ClaimStore
  readonly #indexes: IndexReader
  readonly #revision: () => number
  readonly #chains = new LRUCache<ChainId, ChainView>({ max: chainsMax })
  readonly #coverage = new LRUCache<string, ContractView>({ max: contractsMax })
  readonly #contracts: ShownContracts

  constructor(store: ClaimStore, indexes: IndexReader, revision: () => number) {
    this.#store = store
    this.#indexes = indexes
    this.#revision = revision
    this.#contracts = new ShownContracts(store, revision)
  }

  async chain(chain: ChainId): Promise<ChainView> {
    const revision = this.#revision()
    const known = this.#chains.get(chain)
    if (known?.revision === revision) return known
    const [state, covered, states] = await Promise.all([
      this.#store.chainState(chain),
      chainCoverage(this.#store, chain),
      this.#indexes.indexStates(chain),
    ])
    const filled = new Set(states.filter(each => each.filled).map(each => each.index))
    const view = { revision, state, whole: wholeCoverage(covered, 'transfers'), filled }
    this.#chains.set(chain, view)
    return view
  }

  /** Of one contract up to a block. */
  async ofContract(chain: ChainId, contract: Address, block: number): Promise<Completeness> {
    const { filled } = await this.chain(chain)
    const coverage = await this.#contractCoverage(chain, contract)
    return judge(coverage, { from: 0, to: block }, filled.has('by_token'))
  }

  /** Of all contracts in an interval. */
  async ofChain(chain: ChainId, blocks: { from: number; to: number }, index: IndexName): Promise<Completeness> {
    const { whole, filled } = await this.chain(chain)
    return judge(whole, blocks, filled.has(index))
  }

  async facts(chain: ChainId, contract: Address): Promise<ShownFacts | undefined> {
    return (await this.#contracts.of(chain, [contract])).get(contract)
  }

  async #contractCoverage(chain: ChainId, contract: Address): Promise<readonly CoveredInterval[]> {
    // From before it is read, so that a commit in between voids it.
    const revision = this.#revision()
    const name = `${chain} ${contract}`
    const known = this.#coverage.get(name)
    if (known?.revision === revision) return known.coverage
    const coverage = await this.#store.contractCoverage(chain, contract)
    this.#coverage.set(name, { revision, coverage })
    return coverage
  }
}

function judge(
  coverage: readonly CoveredInterval[],
  blocks: { from: number; to: number },
  isFilled: boolean,
): Completeness {
  const complete = blocks.to >= 0 && isFilled && isCovered(coverage, blocks)
  return { block: blocks.to, complete, evidence: complete ? weakestEvidence(coverage, blocks) : undefined }
}
