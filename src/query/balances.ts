// The rules of the balance operations: whose balance is asked of a node, and how long it is kept. No HTTP and no JSON.
import type { Chain } from '../chains.ts'
import type { Address, NodeBalances } from '../model.ts'
import type { Store } from '../store/store.ts'
import type { Freshen, IndexingKey } from './freshen.ts'
import { noNode, ReadsAtBlock } from './lookups/reads-at-block.ts'

export type BalancesQuestion = { chain: Chain; wallets: readonly Address[]; toBlock: number | undefined }
type Options = { key: IndexingKey; freshen: Freshen | undefined }

const keptMax = 10_000

export class Balances {
  readonly #store: Pick<Store, 'chainState'>
  readonly #reads = new ReadsAtBlock<string>(keptMax)

  constructor(store: Pick<Store, 'chainState'>) {
    this.#store = store
  }

  /** At the head of the index, as all other answers; where there is none yet, at that of a node. */
  async answer({ chain, wallets, toBlock }: BalancesQuestion, { freshen, key }: Options): Promise<NodeBalances> {
    const state = await this.#store.chainState(chain.id)
    const names = wallets.map(wallet => `${chain.id}/${wallet}`)
    const read = await this.#reads.answer({ names, toBlock, state }, async (place, missing) => {
      if (freshen?.balances === undefined) throw noNode(chain.name)
      const asked = { chain: chain.id, ...place, wallets: missing.map(at => wallets[at]!) }
      const { balances, ...rest } = await freshen.balances(asked, key)
      return { ...rest, values: balances }
    })
    const { block, hash, timestamp = 0, values: balances } = read
    return { block, ...(hash === undefined ? {} : { hash }), timestamp, balances }
  }
}
