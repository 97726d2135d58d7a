// Whole lists of who owns what compared with the model, byte for byte: from sheets, and in parts with bounds that are
// far too low for one. It needs no test runner.
import assert from 'node:assert/strict'
import { addressStream, nftStream } from '../src/api/evm/holding-streams.ts'
import { nftJson } from '../src/api/evm/nft-json.ts'
import type { NftLinesOptions } from '../src/api/evm/nft-lines.ts'
import type { ListStream } from '../src/api/streams/list-stream.ts'
import type { Address, ChainId, ShownToken } from '../src/model.ts'
import { Holdings } from '../src/query/holdings/holdings.ts'
import type { StoredTokens } from '../src/query/holdings/nft-batches.ts'
import type { HoldingsOptions } from '../src/query/holdings/questions.ts'
import type { HoldingStreams } from '../src/query/holdings/streams/holding-streams.ts'
import { metadataOf } from '../src/query/metadata/token-metadata.ts'
import { ShownContracts } from '../src/query/shown-contracts.ts'
import type { HoldingsModel, ModelHolding } from './holdings-model.ts'
import type { MemoryStore } from './memory-store.ts'

type Reads = ReturnType<MemoryStore['reads']>

/** No sheet is small enough; parts have some sixteen rows. */
export const lowBounds = { limits: { bytesMax: 1 }, partBytes: 2_000 }

const options: HoldingsOptions = {
  key: { id: 'whole' } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
}

/** Contracts with an even last digit have tokens of which something is stored: those with an odd id. */
const storedTokens: StoredTokens = {
  withStored: async (_, contracts) => new Set(contracts.filter(hasStored)),
  stored: async (_, tokens) => tokens.map(storedOf),
}

function hasStored(contract: Address): boolean {
  return Number.parseInt(contract.slice(-1), 16) % 2 === 0
}

function storedOf({ contract, tokenId }: Pick<ShownToken, 'contract' | 'tokenId'>) {
  if (!hasStored(contract) || tokenId % 2n === 0n) return undefined
  const tokenUri = `data:application/json,{"id":"${tokenId}"}`
  return { tokenUri, metadata: metadataOf(tokenUri), syncedAtMs: Number(tokenId % 1_000n) }
}

export class WholeLists {
  readonly #chain: ChainId
  readonly #facts: ShownContracts
  readonly #large: Holdings
  readonly #inOrder: HoldingStreams
  readonly #inParts: HoldingStreams

  constructor(reads: Reads, chain: ChainId) {
    this.#chain = chain
    this.#facts = new ShownContracts(reads)
    this.#large = new Holdings(reads, lowBounds)
    this.#inOrder = new Holdings(reads).streams(storedTokens)
    this.#inParts = this.#large.streams(storedTokens)
  }

  async compareContract(model: HoldingsModel, contract: Address, atBlock: number): Promise<void> {
    const question = { chain: this.#chain, contract, atBlock }
    for (const shown of shownForms) {
      const nfts = model.contractNfts(contract).map(({ tokenId }) => model.owners(contract, tokenId)[0]!)
      const owners = await this.#lines(model.owners(contract), { ...shown, shape: 'owner' })
      await this.#compare(owners, streams =>
        nftStream(streams.owners({ ...question, tokenId: undefined }, options), { ...shown, shape: 'owner' }),
      )
      await this.#compare(await this.#lines(nfts, { ...shown, shape: 'contract' }), streams =>
        nftStream(streams.contractNfts({ ...question, part: undefined }, options), { ...shown, shape: 'contract' }),
      )
    }
    for (const tokenId of [2n, 7n]) {
      const shown = { ...shownForms[0]!, shape: 'owner' } as const
      await this.#compare(await this.#lines(model.owners(contract, tokenId), shown), streams =>
        nftStream(streams.owners({ ...question, tokenId }, options), shown),
      )
      const { owners, transfers } = await this.#large.tokenStats({ ...question, tokenId }, options)
      assert.deepEqual(
        [owners, transfers],
        [model.owners(contract, tokenId).length, model.transfers(contract, tokenId)],
      )
    }
    const addresses = model.uniqueOwners(contract)
    const lines = addresses.map(address => JSON.stringify({ walletAddresses: address }))
    const unique = (streams: HoldingStreams) => addressStream(streams.uniqueOwners(question, options))
    await this.#compare(lines, unique)
    // In parts too they ascend.
    assert.deepEqual(await linesOf(await unique(this.#inParts)), lines)
    const { tokens, owners, transfers, impossible } = await this.#large.collectionStats(question, options)
    const ofModel = [model.contractNfts(contract).length, addresses.length, model.transfers(contract)]
    assert.deepEqual([tokens, owners, transfers, impossible], [...ofModel, model.impossible(contract)])
  }

  async compareWallet(model: HoldingsModel, wallet: Address, atBlock: number): Promise<void> {
    const held = model.walletNfts(wallet)
    const question = { chain: this.#chain, wallet, atBlock, contracts: undefined, excludeSpam: false }
    const shown = { ...shownForms[0]!, shape: 'wallet' } as const
    await this.#compare(await this.#lines(held, shown), streams =>
      nftStream(streams.walletNfts(question, options), shown),
    )
    const one = { ...question, contracts: held.slice(0, 1).map(({ contract }) => contract) }
    const ofOne = held.filter(({ contract }) => one.contracts.includes(contract))
    await this.#compare(await this.#lines(ofOne, shown), streams => nftStream(streams.walletNfts(one, options), shown))
    const stats = await this.#large.walletStats(question, options)
    const contracts = [...new Set(held.map(({ contract }) => contract))].sort().reverse()
    assert.deepEqual(
      [stats.nfts, stats.collections, stats.transfers],
      [held.length, contracts.length, model.walletTransfers(wallet)],
    )
    const page = { after: undefined, limit: 100, countTotal: true }
    const { rows, total } = await this.#large.walletCollections({ ...question, ...page }, options)
    assert.deepEqual(
      rows.map(({ contract, standard, count }) => [contract, standard, count]),
      contracts.map(contract => {
        const own = held.filter(each => each.contract === contract)
        return [contract, own[0]!.standard, own.length]
      }),
    )
    assert.equal(total, contracts.length)
  }

  async #compare(expected: string[], list: (streams: HoldingStreams) => Promise<ListStream>): Promise<void> {
    assert.deepEqual(await linesOf(await list(this.#inOrder)), expected)
    assert.deepEqual((await linesOf(await list(this.#inParts))).sort(), expected.toSorted())
  }

  async #lines(holdings: readonly ModelHolding[], { shape, ...shown }: NftLinesOptions): Promise<string[]> {
    return await Promise.all(
      holdings.map(async holding => {
        const facts = await this.#facts.ofOne(this.#chain, holding.contract)
        return JSON.stringify(nftJson({ ...holding, facts, token: storedOf(holding) }, shape, shown))
      }),
    )
  }
}

const shownForms = [
  { dialect: 'live', format: 'decimal', normalizeMetadata: false },
  { dialect: 'reference', format: 'hex', normalizeMetadata: true },
] as const

export async function linesOf({ batches }: ListStream): Promise<string[]> {
  const found: string[] = []
  for await (const { rows, lines } of batches) {
    const text = lines.bytes.toString()
    lines.release()
    assert.ok(text.endsWith('\n'))
    const read = text.slice(0, -1).split('\n')
    assert.equal(read.length, rows)
    found.push(...read)
  }
  return found
}
