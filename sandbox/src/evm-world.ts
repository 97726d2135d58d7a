// One local EVM chain with collections, a token and a few hours of history. Its owner asks for each further block and
// reorganisation.
import type { Address } from 'ox/Address'
import type { CompiledCollections } from './collections.ts'
import { Draws } from './draws.ts'
import { developmentAccount, fundedAccounts } from './evm-accounts.ts'
import { type CoinBalances, coinBeginning, coinNames, nextCoinTransfer } from './evm-coin.ts'
import { type Collection, type Kind, nextTransaction, type Ownership, payment } from './evm-collections.ts'
import type { EvmNode } from './evm-node.ts'
import { type Deployed, deployment, signed, type Transaction } from './evm-transactions.ts'

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
/** Of so many blocks with transactions in a hundred, the last one moves the token. */
const coinPercent = 40

const names: Readonly<Record<Kind, string>> = {
  ERC721: 'Harbour Lights',
  ERC721A: 'Night Trains',
  ERC1155: 'Field Notes',
  airdrop: 'Free Reward',
}

type Coin = { contract: Deployed; balances: CoinBalances }
type Owned = { held: Map<Address, Ownership>; coin: Coin | undefined }

export class EvmWorld {
  readonly wallets = Array.from({ length: walletCount }, (_, index) => developmentAccount(index + 1))
  readonly #strangers = Array.from({ length: strangerCount }, (_, index) => developmentAccount(index + 30).address)
  readonly #node: EvmNode
  readonly #draws: Draws
  /** Of its own, so that the collections are the same with the token as without. */
  readonly #coinDraws: Draws
  readonly #genesisTimestamp: number
  #collections: Collection[] = []
  #held = new Map<Address, Ownership>()
  #coin: Coin | undefined

  constructor({ node, seed, genesisTimestamp }: EvmWorldOptions) {
    this.#node = node
    this.#draws = new Draws(seed, `chain ${node.chainId}`)
    this.#coinDraws = new Draws(seed, `coin ${node.chainId}`)
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

  get coin(): Deployed {
    return this.#coin!.contract
  }

  /** Mines a block with a few transactions, now. */
  async mineBlock(): Promise<void> {
    const before = this.#owned()
    const count = this.#draws.between(1, 3)
    try {
      await this.#mine(this.#several(count))
    } catch (error) {
      this.#goBack(before)
      throw error
    }
  }

  /** Mines a few blocks, reverts them, and mines a branch that is one block longer. */
  async reorganise(): Promise<void> {
    const depth = this.#draws.between(1, 3)
    const before = this.#owned()
    const snapshot = await this.#node.ask('evm_snapshot')
    for (let block = 0; block < depth; block++) await this.mineBlock()
    await this.#settle()
    if ((await this.#node.ask('evm_revert', snapshot)) !== true) throw new Error('the node could not revert blocks')
    this.#goBack(before)
    for (let block = 0; block <= depth; block++) await this.mineBlock()
  }

  #owned(): Owned {
    // Balances of the token are replaced and never changed.
    return { held: structuredClone(this.#held), coin: this.#coin }
  }

  #goBack({ held, coin }: Owned): void {
    this.#held = held
    this.#coin = coin
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
    const collections = created.map(({ data }) => ({ from, data }))
    const transactions = [...collections, ...this.#beginCoin(compiled)]
    await this.#node.mine(await signed(this.#node, transactions), this.#genesisTimestamp + 12)
    this.#collections = created.map(({ kind, contract }) => ({ kind, name: names[kind], contract }))
    for (const { kind, contract } of this.#collections) {
      const range = kind === 'ERC721A' ? Array.from({ length: rangeLength }, (_, id) => [id, 1] as const) : []
      // The ERC721A library counts from 0; the other collections here from 1.
      const nextId = kind === 'ERC721A' ? rangeLength : 1
      this.#held.set(contract.address, { nextId, owners: new Map(range), balances: new Map() })
    }
  }

  /** What creates the token and hands it out. */
  #beginCoin(compiled: CompiledCollections): Transaction[] {
    // An account that does nothing else: the token has the same address on all chains.
    const from = developmentAccount(fundedAccounts - 1)
    const args = [coinNames.name, coinNames.symbol, this.wallets[0]!.address]
    const { data, contract } = deployment(compiled.Coin, { from, nonce: 0, args })
    const { transactions, balances } = coinBeginning({ contract, wallets: this.wallets, draws: this.#coinDraws })
    this.#coin = { contract, balances }
    return [{ from, data }, ...transactions]
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
      const transactions = this.#several(this.#draws.between(1, 4))
      await this.#node.mine(await signed(this.#node, transactions), momentOf(block + busyEvery - 1))
    }
  }

  #several(count: number): Transaction[] {
    const ofCollections = Array.from({ length: count }, () => this.#next())
    return this.#coinDraws.chance(coinPercent) ? [...ofCollections, ...this.#nextOfCoin()] : ofCollections
  }

  #nextOfCoin(): Transaction[] {
    const turn = { ...this.#coin!, wallets: this.wallets, draws: this.#coinDraws }
    const { transactions, balances } = nextCoinTransfer(turn)
    this.#coin = { contract: turn.contract, balances }
    return transactions
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
