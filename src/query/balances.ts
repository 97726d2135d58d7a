// The rules of the balance operations: at which block a balance is read, how long it is kept, and what cannot be read.
// No HTTP and no JSON.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import type { Chain } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { Address, Block, Hash, NodeBalances } from '../model.ts'
import type { ChainState, Store } from '../store/store.ts'
import type { Freshen, IndexingKey } from './freshen.ts'

export type AskedWallets = { chain: Chain; wallets: readonly Address[]; toBlock: number | undefined }
type Options = { key: IndexingKey; freshen: Freshen | undefined }

const keptMax = 10_000

/** A wallet's balance with the block that it was read after. */
type Kept = { balance: string; hash: Hash | undefined; timestamp: number }
/** A block whose balances stay: every final one, and others while the head of the index is the same. */
type Stays = {
  block: number
  name: string
  head?: Block
  isEarlier: boolean
  /** Neither final nor the head: the node may have changed its branch between two readings. */
  mayDiffer?: true
}

export class Balances {
  readonly #store: Pick<Store, 'chainState'>
  /** By chain, block and wallet. The head goes by its hash: a new head, or another one, asks again. */
  readonly #kept = new LRUCache<string, Kept>(atMost(keptMax))

  constructor(store: Pick<Store, 'chainState'>) {
    this.#store = store
  }

  /** At the head of the index, as all other answers; where there is none yet, at that of a node. */
  async answer({ chain, wallets, toBlock }: AskedWallets, { freshen, key }: Options): Promise<NodeBalances> {
    const state = await this.#store.chainState(chain.id)
    const head = state?.head
    if (toBlock !== undefined && head !== undefined && toBlock > head.number) throw aboveHead(toBlock, head.number)
    const ask = freshen?.balances
    if (ask === undefined) throw noNode(chain.name)
    const stays = staysAt(toBlock, state)
    const asked = { chain: chain.id, block: toBlock, isEarlier: toBlock !== undefined, wallets }
    if (stays === undefined) return await ask(asked, key)
    return await this.#staying({ chain, wallets, stays }, missing =>
      ask({ ...asked, block: stays.block, isEarlier: stays.isEarlier, wallets: missing }, key),
    )
  }

  /** Asks for what is not kept of them. */
  async #staying(
    { chain, wallets, stays }: { chain: Chain; wallets: readonly Address[]; stays: Stays },
    ask: (missing: readonly Address[]) => Promise<NodeBalances>,
  ): Promise<NodeBalances> {
    const { block, head } = stays
    const nameOf = (wallet: Address) => `${chain.id}/${stays.name}/${wallet}`
    const known = new Map(wallets.map(wallet => [wallet, this.#kept.get(nameOf(wallet))]))
    const isMixed = stays.mayDiffer && new Set([...known.values()].map(read => read?.hash)).size > 1
    const missing = isMixed ? wallets : wallets.filter(wallet => known.get(wallet) === undefined)
    if (missing.length > 0) {
      const { balances, hash, timestamp } = await ask(missing)
      for (const [at, wallet] of missing.entries()) {
        const read: Kept = { balance: balances[at]!, hash, timestamp }
        known.set(wallet, read)
        // The node may be on another branch at the height of the head.
        if (head === undefined || hash === head.hash) this.#kept.set(nameOf(wallet), read)
      }
    }
    const { hash, timestamp } = head ?? known.get(wallets[0]!)!
    const balances = wallets.map(wallet => known.get(wallet)!.balance)
    return { block, ...(hash === undefined ? {} : { hash }), timestamp, balances }
  }
}

function staysAt(toBlock: number | undefined, state: ChainState | undefined): Stays | undefined {
  if (state === undefined) return undefined
  const { head, finalized } = state
  const block = toBlock ?? head.number
  if (block === head.number) return { block, name: head.hash, head, isEarlier: false }
  if (block <= finalized) return { block, name: `${block}`, isEarlier: true }
  // Until the next head, or another one.
  return { block, name: `${block} below ${head.hash}`, isEarlier: true, mayDiffer: true }
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
