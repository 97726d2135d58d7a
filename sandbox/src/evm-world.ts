// One local EVM chain with collections and a few hours of history. Its owner asks for each further block and
// reorganisation.
import type { Address } from 'ox/Address'
import type { CompiledCollections } from './collections.ts'
import { Draws } from './draws.ts'
import { developmentAccount } from './evm-accounts.ts'
import { type Collection, type Kind, nextTransaction, type Ownership, payment } from './evm-collections.ts'
import type { EvmNode } from './evm-node.ts'
import { deployment, signed, type Transaction } from './evm-transactions.ts'

export type EvmWorldOptions = {
  node: EvmNode
  compiled: CompiledCollections
  seed: string
  /** The collections of this chain. */
  kinds: readonly Kind[]
  genesisTimestamp: number
  /** Blocks between the deployment and now. */
  historyBlocks?: number
  /** Called as the history grows. */
  progress?: (mined: number, all: number) => void
}

const historyBlocksDefault = 600
/** One block in so many has transactions. */
const busyEvery = 10
const walletCount = 8
/** Wallets that are empty until they receive a payment. */
const strangerCount = 6
/** Tokens that the ERC721A collection mints with one ERC-2309 event. */
const rangeLength = 40

const names: Readonly<Record<Kind, string>> = {
  ERC721: 'Harbour Lights',
  ERC721A: 'Night Trains',
  ERC1155: 'Field Notes',
  airdrop: 'Free Reward',
}

export class EvmWorld {
  readonly wallets = Array.from({ length: walletCount }, (_, index) => developmentAccount(index + 1))
  readonly #strangers = Array.from({ length: strangerCount }, (_, index) => developmentAccount(index + 30).address)
  readonly #node: EvmNode
  readonly #draws: Draws
  readonly #genesisTimestamp: number
  #collections: Collection[] = []
  #held = new Map<Address, Ownership>()

  constructor({ node, seed, genesisTimestamp }: EvmWorldOptions) {
    this.#node = node
    this.#draws = new Draws(seed, `chain ${node.chainId}`)
    this.#genesisTimestamp = genesisTimestamp
  }

  static async create(options: EvmWorldOptions): Promise<EvmWorld> {
    const world = new EvmWorld(options)
    await world.#deploy(options.compiled, options.kinds)
    await world.#playHistory(options)
    return world
  }

  get collections(): readonly Collection[] {
    return this.#collections
  }

  /** Mines a block with a few transactions, now. */
  async mineBlock(): Promise<void> {
    const before = structuredClone(this.#held)
    const count = this.#draws.between(1, 3)
    try {
      await this.#mine(Array.from({ length: count }, () => this.#next()))
    } catch (error) {
      this.#held = before
      throw error
    }
  }

  /** Mines a few blocks, reverts them, and mines a branch that is one block longer. */
  async reorganise(): Promise<void> {
    const depth = this.#draws.between(1, 3)
    const before = structuredClone(this.#held)
    const snapshot = await this.#node.ask('evm_snapshot')
    for (let block = 0; block < depth; block++) await this.mineBlock()
    await this.#settle()
    if ((await this.#node.ask('evm_revert', snapshot)) !== true) throw new Error('the node could not revert blocks')
    this.#held = before
    for (let block = 0; block <= depth; block++) await this.mineBlock()
  }

  /** Gives the indexer time to see the blocks before they are reverted. */
  #settle(): Promise<void> {
    return new Promise(resolve => setTimeout(resolve, 1_500).unref())
  }

  async #deploy(compiled: CompiledCollections, kinds: readonly Kind[]): Promise<void> {
    const from = this.wallets[0]!
    const first = this.wallets[1]!.address
    const created = kinds.map((kind, nonce) => {
      const args = {
        ERC721: [names.ERC721, 'LIGHT'],
        ERC721A: [names.ERC721A, 'TRAIN', first, BigInt(rangeLength)],
        ERC1155: [names.ERC1155],
        airdrop: [names.airdrop],
      }[kind]
      const contract = {
        ERC721: 'Collection721',
        ERC721A: 'Collection721A',
        ERC1155: 'Collection1155',
        airdrop: 'Collection1155',
      } as const
      return { kind, from, ...deployment(compiled[contract[kind]], { from, nonce, args }) }
    })
    await this.#node.mine(
      await signed(
        this.#node,
        created.map(({ data }) => ({ from, data })),
      ),
      this.#genesisTimestamp + 12,
    )
    this.#collections = created.map(({ kind, contract }) => ({ kind, name: names[kind], contract }))
    for (const { kind, contract } of this.#collections) {
      const range = kind === 'ERC721A' ? Array.from({ length: rangeLength }, (_, id) => [id, 1] as const) : []
      // The ERC721A library counts from 0; the other collections here from 1.
      const nextId = kind === 'ERC721A' ? rangeLength : 1
      this.#held.set(contract.address, { nextId, owners: new Map(range), balances: new Map() })
    }
  }

  /** Mines mostly empty blocks up to the present, so an indexer has some history to read. */
  async #playHistory({ historyBlocks = historyBlocksDefault, progress }: EvmWorldOptions): Promise<void> {
    const seconds = Math.floor(Date.now() / 1_000) - this.#genesisTimestamp
    // The last one is of now: a whole number of seconds for each would leave it minutes in the past.
    const momentOf = (block: number): number =>
      this.#genesisTimestamp + Math.floor((block * seconds) / (historyBlocks + 1))
    for (let block = 2; block <= historyBlocks; block += busyEvery) {
      progress?.(block - 2, historyBlocks)
      await this.#node.mineEmpty(Array.from({ length: busyEvery - 1 }, (_, index) => momentOf(block + index)))
      const transactions = Array.from({ length: this.#draws.between(1, 4) }, () => this.#next())
      await this.#node.mine(await signed(this.#node, transactions), momentOf(block + busyEvery - 1))
    }
  }

  #next(): Transaction {
    if (this.#draws.chance(10)) return payment(this.wallets, this.#draws.oneOf(this.#strangers), this.#draws)
    const collection = this.#draws.oneOf(this.#collections)
    const held = this.#held.get(collection.contract.address)!
    return nextTransaction({ collection, held, wallets: this.wallets, draws: this.#draws })
  }

  async #mine(transactions: readonly Transaction[]): Promise<void> {
    const head = (await this.#node.ask('eth_getBlockByNumber', 'latest', false)) as { timestamp: string }
    const timestamp = Math.max(Math.floor(Date.now() / 1_000), Number(head.timestamp) + 1)
    await this.#node.mine(await signed(this.#node, transactions), timestamp)
  }
}
