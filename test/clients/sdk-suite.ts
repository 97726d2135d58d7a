// What every generation of the public SDK must be able to do with Almanac. The SDK is used as its users use it; the only
// settings are its base URLs and the key.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address } from '../../src/model.ts'
import { seeded, seededBlock, seededHoldings, seededTransaction, seededTransfers } from '../seed.ts'
import { type Dialect, expectedRecord, type Wanted } from './expected.ts'
import { neighbours } from './sdk-neighbours.ts'
import { startWorld, type World } from './world.ts'

export type TransfersRequest = {
  address: string
  chain?: string | number
  limit?: number
  cursor?: string
  format?: 'decimal' | 'hex'
  fromBlock?: number
  toBlock?: number
  fromDate?: Date
  toDate?: Date
  disableTotal?: boolean
  order?: 'ASC' | 'DESC'
}

type Page = { total?: unknown; page?: unknown; page_size?: unknown; cursor?: unknown; result?: unknown }

export type TransfersResponse = {
  raw: Page
  toJSON(): unknown
  /** What `JSON.stringify` makes of it is the SDK's own form of a transfer. */
  result: readonly object[]
  hasNext(): boolean
  next(): Promise<TransfersResponse>
}

type Response = { raw: unknown; toJSON(): unknown; result: object }

type SdkConfig = { apiKey: string; evmApiBaseUrl: string; solApiBaseUrl: string }

/** The part of the SDK that is used here; its generations differ in types only, and not in this. */
export type Sdk = {
  start(config: SdkConfig): Promise<void>
  EvmApi: {
    nft: {
      getNFTContractTransfers(request: TransfersRequest): Promise<TransfersResponse>
      getNFTContractMetadata(request: { address: string; chain?: string }): Promise<Response | null>
    }
    wallets: { getWalletActiveChains(request: { address: string; chains?: string[] }): Promise<Response> }
  }
  SolApi: {
    account: { getPortfolio(request: { network: string; address: string }): Promise<Response> }
  }
  Core: { config: { set(name: keyof SdkConfig, value: string): void } }
}

/** The SDK can be started once in a process: each of these stands in a test file of its own. */
export type SdkUnderTest = { sdk: Sdk; version: Wanted['version']; dialect: Dialect }

export function testSdk(under: SdkUnderTest): void {
  let world: World
  beforeAll(async () => {
    // A client that is known by its headers gets the live dialect by itself.
    world = await startWorld(under.dialect === 'live' ? [] : ['--dialect', under.dialect])
    await under.sdk.start({
      apiKey: world.keys.full,
      evmApiBaseUrl: `${world.url}/api/${under.version}`,
      solApiBaseUrl: world.url,
    })
  })
  afterAll(() => world?.stop())

  transfers(under)
  paging(under)
  if (under.version === 'v2') totals(under)
  else order(under)
  contractMetadata(under)
  neighbours(under.sdk.EvmApi, under.dialect)
  walletChains(under)
  portfolio(under)
  errors(under, () => world)
}

/** What a user who writes the SDK's own objects as JSON gets. */
function asJson<Shape>(value: unknown): Shape {
  return JSON.parse(JSON.stringify(value)) as Shape
}

/** Follows `next()` to the end and returns every page. */
async function everyPage(first: TransfersResponse): Promise<TransfersResponse[]> {
  const pages = [first]
  for (let page = first; page.hasNext(); ) {
    page = await page.next()
    pages.push(page)
    if (pages.length > 1_000) throw new Error('The pages do not end.')
  }
  return pages
}

function recordsOf(pages: readonly TransfersResponse[]): unknown[] {
  return pages.flatMap(page => page.raw.result as unknown[])
}

const momentOf = (block: number): number => seededBlock(seeded.chains.eth, block).timestamp * 1_000

function transfers({ sdk, version, dialect }: SdkUnderTest): void {
  const ask = (request: TransfersRequest) => sdk.EvmApi.nft.getNFTContractTransfers(request)
  const records = (contract: Address, wanted: Partial<Wanted> = {}) =>
    seededTransfers(contract).map(transfer => expectedRecord(transfer, { dialect, version, ...wanted }))

  describe('getNFTContractTransfers', () => {
    test('raw holds the whole page', async () => {
      const { raw } = await ask({ address: seeded.collection })
      expect(raw).toEqual({
        ...(version === 'v2' ? { total: null } : {}),
        page: dialect === 'live' ? 0 : '0',
        page_size: dialect === 'live' ? 100 : '100',
        cursor: expect.stringMatching(/./),
        result: records(seeded.collection).slice(0, 100),
        block_exists: true,
        index_complete: true,
      })
    })

    test.each([['editions'], ['range']] as const)('raw holds the rows of the %s', async name => {
      const pages = await everyPage(await ask({ address: seeded[name] }))
      expect(recordsOf(pages)).toEqual(records(seeded[name]))
    })

    test('toJSON() and result hold the same transfers', async () => {
      const response = await ask({ address: seeded.collection, toBlock: 5_009, limit: 20 })
      expect(response.toJSON()).toEqual(response.raw)
      const wanted = seededTransfers(seeded.collection).filter(({ block }) => block <= 5_009)
      expect(asJson(response.result)).toEqual(
        wanted.slice(0, 20).map(transfer =>
          expect.objectContaining({
            chain: '0x1',
            blockNumber: transfer.block.toString(),
            blockHash: transfer.blockHash,
            transactionHash: transfer.transactionHash,
            transactionIndex: transfer.transactionIndex,
            logIndex: transfer.logIndex,
            contractType: 'ERC721',
            transactionType: 'Single',
            tokenId: transfer.tokenId.toString(),
            value: transfer.value.toString(),
            amount: 1,
            fromAddress: transfer.from,
            toAddress: transfer.to,
            // The SDK takes a time without a zone as local time, so that only the live dialect is read right everywhere.
            ...(dialect === 'live'
              ? { blockTimestamp: new Date(momentOf(transfer.block)).toISOString(), verifiedCollection: true }
              : {}),
          }),
        ),
      )
    })

    test('flags come in the type of their dialect, and as such into the objects of the SDK', async () => {
      const flag = (value: boolean) => (dialect === 'live' ? value : String(value))
      for (const [address, spam, verified] of [
        [seeded.editions, true, false],
        [seeded.collection, false, true],
      ] as const) {
        const response = await ask({ address, limit: 1 })
        const flags = { possible_spam: flag(spam), verified_collection: flag(verified) }
        expect(response.raw.result).toEqual([expect.objectContaining(flags)])
        const [read] = asJson(response.result) as { possibleSpam?: unknown; verifiedCollection?: unknown }[]
        if (dialect === 'live') expect(read).toMatchObject({ possibleSpam: spam, verifiedCollection: verified })
      }
    })

    test('blocks and dates bound the rows', async () => {
      const bounded = seededTransfers(seeded.collection).filter(({ block }) => block >= 2_007 && block <= 2_070)
      const wanted = bounded.map(transfer => expectedRecord(transfer, { dialect, version }))
      const byBlock = await ask({ address: seeded.collection, fromBlock: 2_007, toBlock: 2_070 })
      expect(byBlock.raw.result).toEqual(wanted)
      const [fromDate, toDate] = [new Date(momentOf(2_007)), new Date(momentOf(2_070))]
      const byDate = await ask({ address: seeded.collection, fromDate, toDate })
      expect(byDate.raw.result).toEqual(wanted)
    })

    test('from above to is an empty page', async () => {
      const response = await ask({ address: seeded.collection, fromBlock: 3_000, toBlock: 2_000 })
      expect(response.raw.result).toEqual([])
      expect(response.hasNext()).toBe(false)
    })

    test('a contract without transfers is an empty page', async () => {
      const response = await ask({ address: seeded.silent })
      expect(response.raw).toMatchObject({ result: [], block_exists: true, index_complete: true })
      expect(response.result).toEqual([])
      expect(response.hasNext()).toBe(false)
    })

    test('format: hex', async () => {
      const { raw } = await ask({ address: seeded.editions, format: 'hex' })
      expect(raw.result).toEqual(records(seeded.editions, { format: 'hex' }))
    })

    test.each([['0x89'], ['0x089'], [137], ['137']])('chain %j', async chain => {
      const { raw } = await ask({ address: seeded.deeds, chain })
      expect(raw.result).toHaveLength(12)
      expect(raw).toMatchObject({ block_exists: true, index_complete: false })
      const covered = await ask({ address: seeded.deeds, chain, fromBlock: seeded.deedsFrom })
      expect(covered.raw).toMatchObject({ block_exists: true, index_complete: true })
    })

    test('an address with a checksum', async () => {
      const { raw } = await ask({ address: '0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D' })
      expect(raw.result).toEqual([])
    })
  })
}

function paging({ sdk, version, dialect }: SdkUnderTest): void {
  describe('next() reaches the last page', () => {
    test.each([
      ['range', 1],
      ['collection', 7],
      ['collection', 11],
      ['editions', 7],
      ['editions', 40],
      ['editions', 100],
      ['range', 45],
      ['collection', 100],
      ['collection', 500],
    ] as const)('%s by %i', async (name, limit) => {
      const wanted = seededTransfers(seeded[name]).map(transfer => expectedRecord(transfer, { dialect, version }))
      const first = await sdk.EvmApi.nft.getNFTContractTransfers({ address: seeded[name], limit })
      const pages = await everyPage(first)
      expect(recordsOf(pages)).toEqual(wanted)
      expect(pages).toHaveLength(Math.ceil(wanted.length / Math.min(limit, 100)))
      expect(pages.map(page => Number(page.raw.page))).toEqual(pages.map((_, index) => index))
      expect(new Set(pages.map(page => Number(page.raw.page_size)))).toEqual(new Set([Math.min(limit, 100)]))
      expect(pages.at(-1)!.raw.cursor).toBe(dialect === 'live' ? null : '')
      expect(pages.at(-1)!.hasNext()).toBe(false)
    })
  })
}

function totals({ sdk, dialect }: SdkUnderTest): void {
  // With a number as total the SDK asks for one page more when total and page do not add up, and throws then.
  describe('disableTotal: false counts on every page, and the last page is the last', () => {
    test.each([
      ['range', 9],
      ['range', 10],
      ['collection', 11],
      ['collection', 100],
      ['editions', 80],
      ['editions', 100],
      ['silent', 100],
    ] as const)('%s by %i', async (name, limit) => {
      const count = seededTransfers(seeded[name]).length
      const first = await sdk.EvmApi.nft.getNFTContractTransfers({ address: seeded[name], limit, disableTotal: false })
      const pages = await everyPage(first)
      expect(pages).toHaveLength(Math.max(1, Math.ceil(count / limit)))
      const total = dialect === 'live' ? count : String(count)
      expect(pages.map(page => page.raw.total)).toEqual(pages.map(() => total))
      expect(pages.at(-1)!.hasNext()).toBe(false)
    })
  })
}

function order({ sdk, version, dialect }: SdkUnderTest): void {
  describe('order', () => {
    test.each([
      ['ASC', 'collection', 11],
      ['ASC', 'editions', 7],
      ['ASC', 'range', 9],
      ['DESC', 'range', 9],
    ] as const)('%s pages of the %s by %i', async (direction, name, limit) => {
      const newestFirst = seededTransfers(seeded[name])
      const ordered = direction === 'ASC' ? newestFirst.toReversed() : newestFirst
      const first = await sdk.EvmApi.nft.getNFTContractTransfers({ address: seeded[name], limit, order: direction })
      const records = recordsOf(await everyPage(first))
      expect(records).toEqual(ordered.map(transfer => expectedRecord(transfer, { dialect, version })))
    })
  })
}

function contractMetadata({ sdk, dialect }: SdkUnderTest): void {
  describe('getNFTContractMetadata', () => {
    const flag = (value: boolean) => (dialect === 'live' ? value : `${value}`)
    const record = { token_address: seeded.collection, name: 'Collection', symbol: 'COLL', contract_type: 'ERC721' }

    test('raw, toJSON() and result hold what is known of the contract', async () => {
      const response = (await sdk.EvmApi.nft.getNFTContractMetadata({ address: seeded.collection }))!
      const { readAtMs } = seeded.reading
      expect(response.raw).toMatchObject({ ...record, synced_at: new Date(readAtMs).toISOString() })
      expect(response.raw).toMatchObject({ possible_spam: flag(false), verified_collection: flag(true) })
      expect(response.toJSON()).toEqual(response.raw)
      expect(asJson(response.result)).toMatchObject({
        ...{
          chain: '0x1',
          tokenAddress: seeded.collection,
          name: 'Collection',
          symbol: 'COLL',
          contractType: 'ERC721',
        },
        syncedAt: new Date(readAtMs).toISOString(),
      })
    })

    test('a contract that was not asked for its names', async () => {
      const response = (await sdk.EvmApi.nft.getNFTContractMetadata({ address: seeded.deeds, chain: '0x89' }))!
      const unknown = { name: null, symbol: null, contract_type: 'ERC721', synced_at: null }
      expect(response.raw).toMatchObject({ token_address: seeded.deeds, ...unknown })
      expect(asJson(response.result)).toMatchObject({ chain: '0x89', contractType: 'ERC721' })
    })

    test('null for an address that is not an NFT contract', async () => {
      for (const address of [seeded.silent, seeded.alice])
        expect(await sdk.EvmApi.nft.getNFTContractMetadata({ address })).toBeNull()
    })
  })
}

function walletChains({ sdk, dialect }: SdkUnderTest): void {
  const transaction = (chain: keyof typeof seeded.chains, block: number, index: number) => {
    const { hash, timestamp } = seededTransaction(seeded.chains[chain], block, index)
    return {
      block_timestamp: new Date(timestamp * 1_000).toISOString(),
      block_number: block.toString(),
      transaction_hash: hash,
    }
  }
  const onEth = {
    chain: 'eth',
    chain_id: '0x1',
    first_transaction: transaction('eth', 302, 1),
    last_transaction: transaction('eth', seeded.head, 1),
  }
  const onPolygon = {
    chain: 'polygon',
    chain_id: '0x89',
    first_transaction: transaction('polygon', 600, 0),
    last_transaction: transaction('polygon', 1_700, 11),
  }
  const onArbitrum = {
    chain: 'arbitrum',
    chain_id: '0xa4b1',
    first_transaction: transaction('arbitrum', 42, 0),
    last_transaction: transaction('arbitrum', 42, 0),
  }

  describe('getWalletActiveChains', () => {
    test('every chain where the wallet is active', async () => {
      const { raw } = await sdk.EvmApi.wallets.getWalletActiveChains({ address: seeded.alice })
      expect(raw).toEqual({ address: seeded.alice, active_chains: [onEth, onPolygon, onArbitrum] })
    })

    test('asked chains in the order of the request', async () => {
      const chains = ['0xa4b1', '0x38', '0x1']
      const response = await sdk.EvmApi.wallets.getWalletActiveChains({ address: seeded.alice, chains })
      const inactive = { chain: 'bsc', chain_id: '0x38', first_transaction: null, last_transaction: null }
      const wanted = dialect === 'live' ? [onArbitrum, inactive, onEth] : [onArbitrum, onEth]
      expect(response.raw).toEqual({ address: seeded.alice, active_chains: wanted })
      expect(response.toJSON()).toEqual(response.raw)
      const { active_chains: parsed } = asJson<{ active_chains: object[] }>(response.result)
      expect(parsed).toHaveLength(wanted.length)
      // The SDK writes block numbers as hex here.
      const first = { block_number: '0x012e', transaction_hash: onEth.first_transaction.transaction_hash }
      expect(parsed.at(-1)).toMatchObject({ chain: 'eth', chain_id: '0x1', first_transaction: first })
    })

    test('an unknown wallet', async () => {
      const { raw } = await sdk.EvmApi.wallets.getWalletActiveChains({ address: seeded.silent })
      expect(raw).toEqual({ address: seeded.silent, active_chains: [] })
    })
  })
}

function portfolio({ sdk }: SdkUnderTest): void {
  describe('getPortfolio', () => {
    test('raw, toJSON() and every entry', async () => {
      const response = await sdk.SolApi.account.getPortfolio({ network: 'mainnet', address: seeded.solanaOwner })
      expect(response.raw).toEqual({
        nativeBalance: { lamports: '5999980000', solana: '5.99998' },
        nfts: seededHoldings('nfts'),
        tokens: seededHoldings('tokens'),
      })
      expect(response.toJSON()).toEqual(response.raw)
      const own = ({ amount: _, amountRaw, decimals: __, ...entry }: ReturnType<typeof seededHoldings>[number]) => ({
        entry,
        token: { ...entry, amount: amountRaw },
      })
      expect(asJson(response.result)).toEqual({
        nativeBalance: '5999980000',
        nfts: seededHoldings('nfts').map(nft => own(nft).entry),
        tokens: seededHoldings('tokens').map(token => own(token).token),
      })
    })
  })
}

function errors({ sdk, version }: SdkUnderTest, world: () => World): void {
  const request = { address: seeded.collection, limit: 1 }
  const messageOf = async (call: Promise<unknown>): Promise<string> => {
    const error = await call.then(
      () => new Error('The call succeeded.'),
      (reason: Error) => reason,
    )
    return error.message
  }
  /** Asks with another key, as a user with that key would. */
  const withKey = async <Result>(key: string, call: () => Promise<Result>): Promise<Result> => {
    sdk.Core.config.set('apiKey', key)
    try {
      return await call()
    } finally {
      sdk.Core.config.set('apiKey', world().keys.full)
    }
  }
  const transfersWith = (more: Partial<TransfersRequest>) =>
    messageOf(sdk.EvmApi.nft.getNFTContractTransfers({ ...request, ...more }))

  describe('errors read well', () => {
    test('a bad key, on every operation', async () => {
      const wanted = '[C0006] Request failed, Unauthorized(401): Invalid key'
      await withKey('not-a-key', async () => {
        expect(await transfersWith({})).toBe(wanted)
        expect(await messageOf(sdk.EvmApi.wallets.getWalletActiveChains({ address: seeded.alice }))).toBe(wanted)
        const { solanaOwner: address } = seeded
        expect(await messageOf(sdk.SolApi.account.getPortfolio({ network: 'mainnet', address }))).toBe(wanted)
      })
    })

    test('a key without the scope', async () => {
      const message = await withKey(world().keys.narrow, () => transfersWith({}))
      expect(message).toMatch(/^\[C0006\] Request failed, Forbidden\(403\): .*nft-transfers/)
    })

    test('a bad address: refused by the SDK itself, and by the service', async () => {
      expect(await transfersWith({ address: '0x123' })).toBe('[C0005] Invalid address provided: 0x123')
      const response = await fetch(`${world().url}/api/${version}/nft/0x123/transfers`, {
        headers: { 'x-api-key': world().keys.full, 'x-moralis-platform': 'NodeJS SDK' },
      })
      expect([response.status, response.statusText]).toEqual([400, 'Bad Request'])
      expect(await response.json()).toMatchObject({
        message: 'address is not a valid hex address',
        code: 'bad_request',
      })
    })

    test.each([
      ['an unknown chain', { chain: '0x539' }, /chain must be a valid enum value/],
      ['limit 0', { limit: 0 }, /limit .*0/],
      ['a fraction as limit', { limit: 1.5 }, /limit .*1\.5/],
      ['a cursor that was never given out', { cursor: 'eyJhbGciOiJIUzI1NiJ9.e30.x' }, /cursor is not valid/],
      ['a negative block', { fromBlock: -1 }, /from_block .*-1/],
    ])('%s', async (_, more, wanted) => {
      const message = await transfersWith(more)
      expect(message).toMatch(/^\[C0006\] Request failed, Bad Request\(400\): /)
      expect(message).toMatch(wanted)
      expect(message).not.toContain('Unknown error')
    })

    test('an unknown chain of a wallet', async () => {
      const call = sdk.EvmApi.wallets.getWalletActiveChains({ address: seeded.alice, chains: ['0x1', '0x539'] })
      expect(await messageOf(call)).toMatch(/Bad Request\(400\): .*chain must be a valid enum value/)
    })

    test('an account of a network that nothing reads', async () => {
      const call = sdk.SolApi.account.getPortfolio({ network: 'devnet', address: seeded.solanaOwner })
      expect(await messageOf(call)).toMatch(/^\[C0006\] Request failed, .*\(\d{3}\): .*solana\.devnet\.rpc/)
    })

    test('too many requests', async () => {
      const messages = await withKey(world().keys.slow, () =>
        Promise.all(Array.from({ length: 6 }, () => transfersWith({}))),
      )
      // The SDK shows the details behind the message: the limit, and the command that raises it.
      const refusal = 'Rate limit exceeded {"limit":"1 request a second","raise":"almanac keys limit '
      expect(messages).toContainEqual(
        expect.stringContaining(`[C0006] Request failed, Too Many Requests(429): ${refusal}`),
      )
    })

    test('a quota that is spent', async () => {
      const messages: string[] = []
      await withKey(world().keys.small, async () => {
        for (let call = 0; call < 3; call++) messages.push(await transfersWith({}))
      })
      expect(messages[0]).toBe('The call succeeded.')
      expect(messages[2]).toMatch(/^\[C0006\] Request failed, Too Many Requests\(429\): .*(quota|day)/i)
    })
  })
}
