// The rules of the balance operations: at which block a balance is read, how long it is kept, and what cannot be read.
// No HTTP and no JSON.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import type { Chain } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { Address, Block, NodeBalances } from '../model.ts'
import type { Store } from '../store/store.ts'
import type { Freshen, IndexingKey } from './freshen.ts'

export type AskedWallets = { chain: Chain; wallets: readonly Address[]; toBlock: number | undefined }
type Options = { key: IndexingKey; freshen: Freshen | undefined }

const keptMax = 10_000

export class Balances {
  readonly #store: Pick<Store, 'chainState'>
  /** At the head, by chain, hash of the head and wallet: a new head, or another one, asks again. */
  readonly #kept = new LRUCache<string, string>(atMost(keptMax))

  constructor(store: Pick<Store, 'chainState'>) {
    this.#store = store
  }

  /** At the head of the index, as all other answers; where there is none yet, at that of a node. */
  async answer({ chain, wallets, toBlock }: AskedWallets, options: Options): Promise<NodeBalances> {
    const head = (await this.#store.chainState(chain.id))?.head
    if (toBlock !== undefined && head !== undefined && toBlock > head.number) throw aboveHead(toBlock, head.number)
    const { freshen, key } = options
    if (freshen?.balances === undefined) throw noNode(chain.name)
    if (head !== undefined && (toBlock ?? head.number) === head.number)
      return await this.#atHead({ chain, wallets, head }, options)
    return await freshen.balances({ chain: chain.id, block: toBlock, wallets }, key)
  }

  async #atHead(
    { chain, wallets, head }: { chain: Chain; wallets: readonly Address[]; head: Block },
    { freshen, key }: Options,
  ): Promise<NodeBalances> {
    const nameOf = (wallet: Address) => `${chain.id}/${head.hash}/${wallet}`
    const known = new Map(wallets.map(wallet => [wallet, this.#kept.get(nameOf(wallet))]))
    const missing = wallets.filter(wallet => known.get(wallet) === undefined)
    if (missing.length > 0) {
      const asked = { chain: chain.id, block: head.number, wallets: missing }
      const { balances, hash } = await freshen!.balances!(asked, key)
      for (const [at, wallet] of missing.entries()) {
        known.set(wallet, balances[at]!)
        // The node may be on another branch at this height.
        if (hash === head.hash) this.#kept.set(nameOf(wallet), balances[at]!)
      }
    }
    const { number: block, hash, timestamp } = head
    return { block, hash, timestamp, balances: wallets.map(wallet => known.get(wallet)!) }
  }
}

function aboveHead(toBlock: number, head: number): AlmanacError {
  return new AlmanacError('bad_request', `to_block must not be above the head of the chain, ${head}, not ${toBlock}`, {
    details: { parameter: 'to_block', given: `${toBlock}`, accepted: `a block up to ${head}` },
  })
}

function noNode(chain: string): AlmanacError {
  return new AlmanacError(
    'not_configured',
    `No process with a node of ${chain} runs: one needs chains.${chain}.rpc and a start without --only api.`,
  )
}
