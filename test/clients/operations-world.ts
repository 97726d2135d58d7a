// What the operations are called on: a chain of real contracts with trades in final blocks and in others, a Solana node,
// a service that indexes them, and a second one on the same store that speaks the other dialect.
import { base58 } from '@scure/base'
import { generateKeyPairSigner } from '@solana/kit'
import { expect, vi } from 'vitest'
import type { SolanaNode } from '../../sandbox/src/solana-node.ts'
import type { Address } from '../../src/model.ts'
import { tokenProgramAddresses } from '../../src/solana/decode.ts'
import { TokenWorld, type TransferTruth, tokenKinds } from '../erc20-world.ts'
import { type History, mine } from '../evm-history.ts'
import { tradesOf } from '../evm-trades.ts'
import type { ChainTruth } from '../evm-truth.ts'
import { finality, key, patience, World } from '../evm-world.ts'
import type { HoldingsModel } from '../holdings-model.ts'
import { solanaAccount } from '../recordings.ts'
import { modelOfRecords } from '../records-model.ts'
import { startProgramNode } from '../solana-program-node.ts'
import { tokenAccountData } from '../solana-snapshot-archive.ts'
import { Wallet } from '../solana-wallet.ts'
import type { Dialect, Wanted } from './expected.ts'

const names: Record<string, { name: string | null; symbol: string | null; contract_type: string }> = {
  seven: { name: 'Seven', symbol: 'SVN', contract_type: 'ERC721' },
  many: { name: 'Many', symbol: null, contract_type: 'ERC1155' },
  run: { name: 'Run', symbol: 'RUN', contract_type: 'ERC721' },
}

export class OperationsWorld {
  readonly #world = new World('full')
  readonly tokens = new TokenWorld('sqlite', this.#world)
  #solana: SolanaNode | undefined
  #urls: Record<Dialect, string> | undefined
  #truth: ChainTruth | undefined
  #model: HoldingsModel | undefined
  #token: SolanaTokens | undefined
  /** The transfers of each kind of ERC-20 token, newest first, by the node's own logs. */
  tokenTruth = {} as Record<(typeof tokenKinds)[number], TransferTruth[]>
  /** Has the most transfers. */
  tradeBlock = 0
  readonly key = key

  async begin(): Promise<void> {
    this.#solana = await startProgramNode()
    this.#token = await makeTokens(this.#solana)
    await this.#world.begin({ ALMANAC_SOLANA_DEVNET_RPC: this.#solana.rpcUrl })
    const { node } = this.#world
    await this.tokens.play()
    const [first, second, third] = tradesOf(this.history)
    await mine(node, first)
    this.tradeBlock = Number(await node.ask('eth_blockNumber'))
    await mine(node, second)
    for (let block = 0; block < finality; block++) await mine(node)
    await mine(node, third)
    this.#urls = { live: this.#world.url, reference: await this.#world.serveAlso('--dialect', 'reference') }
    this.#truth = await this.#world.truth()
    const contracts: string[] = this.#named().map(({ address }) => address)
    this.#model = modelOfRecords(this.#truth.transfers.filter(row => contracts.includes(row.token_address)))
    await this.#world.settled()
    await this.tokens.indexed(...tokenKinds)
    for (const kind of tokenKinds)
      this.tokenTruth[kind] = await this.tokens.transfersOf(this.tokens.tokens[kind].address)
    await vi.waitFor(async () => {
      for (const { address, name } of this.#named())
        expect(await this.get('live', `/api/v2.2/nft/${address}/transfers?limit=1`)).toMatchObject({
          body: { result: [{ token_name: name }] },
        })
    }, patience)
  }

  async end(): Promise<void> {
    await this.#world.end()
    await this.#solana?.stop()
  }

  get history(): History {
    return this.#world.history
  }

  get chain(): World {
    return this.#world
  }

  get truth(): ChainTruth {
    return this.#truth!
  }

  get model(): HoldingsModel {
    return this.#model!
  }

  get solana(): SolanaTokens {
    return this.#token!
  }

  basesOf({ version, dialect }: Wanted): { evmApiBaseUrl: string; solApiBaseUrl: string } {
    const url = this.#urls![dialect]
    return { evmApiBaseUrl: `${url}/api/${version}`, solApiBaseUrl: url }
  }

  tokenNamesOf(contract: string): { token_name: string | null; token_symbol: string | null } {
    const named = this.#named().find(({ address }) => address === contract)
    return { token_name: named?.name ?? null, token_symbol: named?.symbol ?? null }
  }

  namesOf(contract: Address, { dialect }: Wanted): Record<string, unknown> {
    const { address: _, ...named } = this.#named().find(({ address }) => address === contract)!
    const flag = dialect === 'live' ? false : 'false'
    return { ...named, possible_spam: flag, verified_collection: flag }
  }

  statsOf(contract: Address, tokenId?: bigint) {
    const owners = new Set(this.model.owners(contract, tokenId).map(({ owner }) => owner))
    return {
      total_tokens: `${new Set(this.model.owners(contract).map(held => held.tokenId)).size}`,
      owners: { current: `${owners.size}` },
      transfers: { total: `${this.model.transfers(contract, tokenId)}` },
    }
  }

  async walletStatsOf(wallet: string) {
    const address = wallet.toLowerCase() as Address
    const held = this.model.walletNfts(address)
    const nonce = (await this.#world.node.ask('eth_getTransactionCount', wallet, 'latest')) as string
    return {
      nfts: `${held.length}`,
      collections: `${new Set(held.map(({ contract }) => contract)).size}`,
      transactions: { total: `${Number(nonce)}` },
      nft_transfers: { total: `${this.model.walletTransfers(address)}` },
      token_transfers: { total: null },
    }
  }

  async blockStatsOf(block: number) {
    const { transactions } = await this.nodeBlock(block)
    return {
      transactions: { total: `${transactions.length}` },
      nft_transfers: { total: `${this.model.blockTransfers(block)}` },
      token_transfers: { total: null },
    }
  }

  async nodeBlock(block: number) {
    const asked = await this.#world.node.ask('eth_getBlockByNumber', `0x${block.toString(16)}`, false)
    const { hash, parentHash, timestamp, transactions } = asked as Record<
      'hash' | 'parentHash' | 'timestamp',
      string
    > & {
      transactions: string[]
    }
    return { number: block, hash, parentHash, timestamp: Number(timestamp), transactions }
  }

  async get(dialect: Dialect, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const response = await fetch(this.#urls![dialect] + path, {
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }

  #named() {
    return (['seven', 'many', 'run'] as const).map(name => ({ address: this.history[name].address, ...names[name]! }))
  }
}

type SolanaEntry = Record<'associatedTokenAddress' | 'mint' | 'amount' | 'amountRaw', string> & { decimals: number }
export type SolanaTokens = { owner: string; lamports: bigint; token: SolanaEntry; nft: SolanaEntry }

/** An account with lamports, one token without metadata, and an NFT that was recorded on mainnet. */
async function makeTokens(node: SolanaNode): Promise<SolanaTokens> {
  const wallet = await Wallet.create(node)
  const { address: owner } = await generateKeyPairSigner()
  const lamports = 1_234_567_890n
  await wallet.transferSol(owner, lamports)
  const mint = await wallet.createMint({ decimals: 6 })
  const account = await wallet.mintTo(owner, mint, 1_500_000n)
  for (const name of ['madlads-9963-mint', 'madlads-9963-metadata']) {
    const { key: address, lamports: rent, data, program } = solanaAccount(name)
    await node.setAccount(base58.encode(address), { lamports: Number(rent), data, program })
  }
  const recorded = solanaAccount('madlads-9963-mint').key
  const { address: holder } = await generateKeyPairSigner()
  const held = tokenAccountData({ mint: recorded, owner: base58.decode(owner), amount: 1n })
  await node.setAccount(holder, { lamports: 2_039_280, data: held, program: tokenProgramAddresses.token })
  return {
    ...{ owner, lamports },
    token: { associatedTokenAddress: account, mint, amount: '1.5', amountRaw: '1500000', decimals: 6 },
    nft: { associatedTokenAddress: holder, mint: base58.encode(recorded), amount: '1', amountRaw: '1', decimals: 0 },
  }
}
