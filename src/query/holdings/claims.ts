// What may be claimed of an answer, read once for each revision of the store: coverage is read before rows, so a commit
// in between can only make an answer claim less than it holds.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import type { ChainTable } from '../../chains.ts'
import { isCovered, weakestEvidence } from '../../coverage.ts'
import type { Address, ChainId, CoveredInterval } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import type { IndexName } from '../../store/runs/view.ts'
import type { ChainState, Store } from '../../store/store.ts'
import { type KeptIndexes, keptAndFilled, requireIndex } from '../kept-index.ts'
import type { Completeness } from './questions.ts'

const contractsMax = 10_000
const chainsMax = 100

type ChainView = KeptIndexes & {
  revision: number
  state: ChainState | undefined
  whole: CoveredInterval[]
  /** From before anything else was read: what is claimed holds for rows while this stays. */
  takenBack: number
}
type ContractView = { revision: number; coverage: readonly CoveredInterval[] }

export type ClaimStore = Pick<Store, 'chainState' | 'contractCoverage'>

export class Claims {
  readonly #store: ClaimStore
  readonly #indexes: IndexReader
  readonly #revision: () => number
  readonly #table: ChainTable | undefined
  readonly #chains = new LRUCache<ChainId, ChainView>({ max: chainsMax })
  readonly #contracts = new LRUCache<string, ContractView>(atMost(contractsMax))

  constructor(store: ClaimStore, indexes: IndexReader, revision: () => number, table?: ChainTable) {
    this.#store = store
    this.#indexes = indexes
    this.#revision = revision
    this.#table = table
  }

  async chain(chain: ChainId): Promise<ChainView> {
    const revision = this.#revision()
    const known = this.#chains.get(chain)
    if (known?.revision === revision) return known
    const { takenBack, indexes } = await this.#indexes.rowState(chain)
    const [state, whole] = await Promise.all([
      this.#store.chainState(chain),
      this.#store.contractCoverage(chain, 'every'),
    ])
    const view = { revision, state, whole, takenBack, ...keptAndFilled(indexes) }
    this.#chains.set(chain, view)
    return view
  }

  /** Of one contract up to a block. */
  async ofContract(chain: ChainId, contract: Address, block: number): Promise<Completeness> {
    const { filled, state } = await this.#keeping('by_token', chain)
    const coverage = await this.#coverage(chain, contract)
    return judge(coverage, { from: 0, to: block }, { isFilled: filled.has('by_token'), state })
  }

  /** Of all contracts in an interval. */
  async ofChain(chain: ChainId, blocks: { from: number; to: number }, index: IndexName): Promise<Completeness> {
    const { whole, filled, state } = await this.#keeping(index, chain)
    return judge(whole, blocks, { isFilled: filled.has(index), state })
  }

  async #keeping(index: IndexName, chain: ChainId): Promise<ChainView> {
    const view = await this.chain(chain)
    requireIndex(index, { chain, chains: this.#table }, { ...view, coverage: view.whole })
    return view
  }

  async #coverage(chain: ChainId, contract: Address): Promise<readonly CoveredInterval[]> {
    // From before it is read, so that a commit in between voids it.
    const revision = this.#revision()
    const key = `${chain} ${contract}`
    const known = this.#contracts.get(key)
    if (known?.revision === revision) return known.coverage
    const coverage = await this.#store.contractCoverage(chain, contract)
    this.#contracts.set(key, { revision, coverage })
    return coverage
  }
}

function judge(
  coverage: readonly CoveredInterval[],
  blocks: { from: number; to: number },
  { isFilled, state }: { isFilled: boolean; state: ChainState | undefined },
): Completeness {
  // Before the first block of a chain there is nothing to index.
  if (blocks.to < 0) return { block: blocks.to, complete: isFilled && state !== undefined, evidence: undefined }
  const complete = isFilled && isCovered(coverage, blocks)
  return { block: blocks.to, complete, evidence: complete ? weakestEvidence(coverage, blocks) : undefined }
}
