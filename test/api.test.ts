// The HTTP behaviour of the whole service, on a real socket over a real store.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as operatorSchemas from '../src/api/operator-schemas.ts'
import * as schemas from '../src/api/schemas.ts'
import { ChainTable } from '../src/chains.ts'
import { AlmanacError } from '../src/errors.ts'
import { issueKey } from '../src/keys/keys.ts'
import type { ChainId, Hash } from '../src/model.ts'
import type { ChainStatus } from '../src/status.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { storeIdOf } from '../src/store/store.ts'
import { rawRequest } from './raw-request.ts'
import { seed, seeded, seededBlock, seededHoldings, seededTransaction, seededTransfers } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi
beforeAll(async () => {
  api = await serveApi({ fill: seed })
})
afterAll(async () => {
  await api.close()
})

const transfers = (contract: string, query = '', version = 'v2') => `/api/${version}/nft/${contract}/transfers${query}`
const wallet = (address: string, query = '', version = 'v2') => `/api/${version}/wallets/${address}/chains${query}`
const sdk = { 'x-moralis-platform': 'NodeJS SDK' }
type Body = Record<string, never> & { result: Record<string, unknown>[] }
const bodyOf = async (response: Response) => (await response.json()) as Body
const json = async (target: string, headers?: Record<string, string | undefined>) =>
  await bodyOf(await api.get(target, headers))

async function refusal(target: string, headers?: Record<string, string | undefined>) {
  const response = await api.get(target, headers)
  const body = schemas.failure.parse(await response.json())
  expect(response.headers.get('x-request-id')).toBe(body.request_id)
  return { status: response.status, message: body.message, code: body.code, details: body.details }
}

describe('NFT transfers', () => {
  test('in the reference dialect', async () => {
    const response = await api.get(transfers(seeded.collection, '?limit=2'))
    expect(response.status).toBe(200)
    expect(response.headers.get('x-dialect')).toBe('reference')
    expect(response.headers.get('vary')).toContain('X-Moralis-Platform')
    expect(response.headers.get('x-index-complete')).toBe('true')
    expect(response.headers.get('x-index-evidence')).toBe('bloom')
    const body = await bodyOf(response)
    schemas.transferCollection.parse(body)
    const [row] = seededTransfers(seeded.collection)
    expect(body).toMatchObject({
      total: null,
      page: '0',
      page_size: '2',
      cursor: expect.stringMatching(/./),
      block_exists: true,
      index_complete: true,
    })
    const time = new Date(seededBlock(seeded.chains.eth, row!.block).timestamp * 1_000).toISOString()
    expect(body.result[0]).toEqual({
      block_number: `${row!.block}`,
      block_timestamp: time.slice(0, 19),
      block_hash: row!.blockHash,
      transaction_hash: row!.transactionHash,
      transaction_index: row!.transactionIndex,
      log_index: row!.logIndex,
      value: `${row!.value}`,
      contract_type: 'ERC721',
      transaction_type: 'Single',
      token_address: seeded.collection,
      token_id: `${row!.tokenId}`,
      from_address: seeded.bob,
      from_address_label: null,
      to_address: seeded.alice,
      to_address_label: seeded.aliceLabel,
      amount: '1',
      operator: null,
      possible_spam: 'false',
      verified_collection: 'true',
    })
    expect(Object.keys(body)).toEqual([
      'total',
      'page',
      'page_size',
      'cursor',
      'result',
      'block_exists',
      'index_complete',
    ])
  })

  test('in the live dialect, for SDKs and on the newer paths', async () => {
    const body = await json(transfers(seeded.collection, '?limit=300'), sdk)
    expect(body).toMatchObject({ total: null, page: 0, page_size: 100 })
    expect(body.result[0]).toMatchObject({
      block_timestamp: expect.stringMatching(/\.000Z$/),
      possible_spam: false,
      verified_collection: true,
    })
    for (const version of ['v2.1', 'v2.2']) {
      const newer = await json(transfers(seeded.collection, '?limit=1&disable_total=false', version))
      schemas.namedTransferCollection.parse(newer)
      expect(newer).not.toHaveProperty('total')
      expect(newer.result[0]).toMatchObject({ token_name: 'Collection', token_symbol: 'COLL', possible_spam: false })
    }
    const silent = await json(transfers(seeded.silent, '', 'v2.2'))
    expect(silent).toEqual({
      page: 0,
      page_size: 100,
      cursor: null,
      result: [],
      block_exists: true,
      index_complete: true,
    })
    expect(await json(transfers(seeded.silent))).toMatchObject({ cursor: '', result: [] })
  })

  test.each([
    [seeded.collection, 7],
    [seeded.editions, 100],
    [seeded.range, 1],
    [seeded.range, 50],
    [seeded.deeds, 5],
  ])('of %s in pages of %s are all there, in order, in both directions', async (contract, limit) => {
    const chain = contract === seeded.deeds ? 'polygon' : 'eth'
    const expected = seededTransfers(contract).map(row => [row.block, row.transactionIndex, row.logIndex, row.tokenId])
    for (const order of ['DESC', 'ASC']) {
      const seen: unknown[] = []
      let target = transfers(contract, `?chain=${chain}&limit=${limit}&order=${order}`, 'v2.2')
      for (let page = 0; ; page++) {
        const body = await json(target)
        expect(body.page).toBe(page)
        for (const row of body.result)
          seen.push([Number(row.block_number), row.transaction_index, row.log_index, BigInt(row.token_id as string)])
        if (body.cursor === null) break
        expect(body.result).toHaveLength(limit)
        target = transfers(contract, `?cursor=${body.cursor}`, 'v2.2')
      }
      expect(order === 'DESC' ? seen : seen.toReversed()).toEqual(expected)
    }
  })

  test('show batches, operators, large numbers and hex ids', async () => {
    const [batch] = (await json(transfers(seeded.editions, '?limit=1'))).result
    expect(batch).toMatchObject({
      contract_type: 'ERC1155',
      transaction_type: 'Batch',
      operator: seeded.alice,
      amount: '51',
      value: '7',
      possible_spam: 'true',
    })
    const [largest] = (await json(transfers(seeded.editions, '?to_block=6029&limit=1&format=hex'))).result
    expect(largest).toMatchObject({ token_id: `0x${(2n ** 256n - 30n).toString(16)}`, amount: `${2n ** 256n - 1n}` })
  })

  test('between blocks, both included; blocks win over dates', async () => {
    const blocks = async (query: string) =>
      (await json(transfers(seeded.collection, query))).result.map(row => Number(row.block_number))
    expect(await blocks('?from_block=5003&to_block=5005')).toEqual([5005, 5004, 5003])
    expect(await blocks('?from_block=5005&to_block=5003')).toEqual([])
    expect(await blocks('?from_block=5008&from_date=2099-01-01&to_block=5009&to_date=nonsense')).toEqual([5009, 5008])
  })

  test('between dates of every form, inclusive, also on the pages that follow', async () => {
    const time = (block: number) => seededBlock(seeded.chains.eth, block).timestamp
    const blocks = async (query: string) =>
      (await json(transfers(seeded.collection, query))).result.map(row => Number(row.block_number))
    const iso = (seconds: number) => new Date(seconds * 1_000).toISOString()
    expect(await blocks(`?from_date=${iso(time(5003))}&to_date=${iso(time(5005))}`)).toEqual([5005, 5004, 5003])
    expect(await blocks(`?from_date=${time(5003)}&to_date=${time(5005)}`)).toEqual([5005, 5004, 5003])
    expect(await blocks(`?from_date=${time(5003) - 11}&to_date=${time(5005) + 11}`)).toEqual([5005, 5004, 5003])
    expect(await blocks(`?from_date=${time(5003) + 0.5}&to_date=${time(5005) - 0.5}`)).toEqual([5004])
    const rfc = new Date(time(5003) * 1_000).toUTCString()
    expect(await blocks(`?from_date=${encodeURIComponent(rfc)}&to_date=${time(5003)}`)).toEqual([5003])
    const first = await json(transfers(seeded.collection, `?from_date=${time(5003)}&to_date=${time(5005)}&limit=2`))
    const second = await json(transfers(seeded.collection, `?cursor=${first.cursor}`))
    expect(second.result.map(row => row.block_number)).toEqual(['5003'])
    expect(second.cursor).toBe('')
  })

  test('say whether the blocks exist and whether all of them are indexed', async () => {
    const truths = async (contract: string, query: string) => {
      const { block_exists, index_complete } = await json(transfers(contract, query))
      return [block_exists, index_complete]
    }
    expect(await truths(seeded.collection, `?to_block=${seeded.head}`)).toEqual([true, true])
    expect(await truths(seeded.collection, `?to_block=${seeded.head + 1}`)).toEqual([false, true])
    expect(await truths(seeded.collection, '?from_date=2099-01-01')).toEqual([false, true])
    expect(await truths(seeded.collection, '?to_date=2099-01-01')).toEqual([true, true])
    expect(await truths(seeded.deeds, '?chain=polygon')).toEqual([true, false])
    expect(await truths(seeded.deeds, `?chain=polygon&from_block=${seeded.deedsFrom}`)).toEqual([true, true])
    expect(await truths(seeded.deeds, `?chain=polygon&from_block=${seeded.deedsFrom - 1}`)).toEqual([true, false])
    expect(await truths(seeded.silent, '?chain=polygon')).toEqual([true, false])
    expect(await truths(seeded.collection, '?chain=palm')).toEqual([false, false])
    const partial = await api.get(transfers(seeded.deeds, '?chain=polygon'))
    expect(partial.headers.get('x-index-complete')).toBe('false')
    expect(partial.headers.get('x-index-evidence')).toBeNull()
  })

  test('count when asked to', async () => {
    const response = await api.get(transfers(seeded.range, '?disable_total=false&limit=100'))
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/)
    const first = await bodyOf(response)
    expect(first.total).toBe('135')
    expect(await json(transfers(seeded.range, `?cursor=${first.cursor}`))).toMatchObject({
      total: '135',
      page: '1',
      cursor: '',
    })
    expect(await json(transfers(seeded.range, '?disable_total=false'), sdk)).toMatchObject({ total: 135 })
    expect((await api.get(transfers(seeded.range))).headers.get('deprecation')).toBeNull()
  })

  test('a cursor carries everything but the address, and belongs to it and its chain alone', async () => {
    const first = await json(transfers(seeded.collection, '?limit=3&format=hex&to_block=5000'))
    const cursor = `${first.cursor}`
    const second = await json(
      transfers(seeded.collection.toUpperCase().replace('0X', '0x'), `?cursor=${cursor}&limit=50&chain=0x01`),
    )
    expect(second).toMatchObject({ page: '1', page_size: '3' })
    expect(second.result[0]!.token_id).toMatch(/^0x/)
    const invalid = { status: 400, message: 'cursor is not valid' }
    expect(await refusal(transfers(seeded.collection, `?cursor=${cursor}&chain=polygon`))).toMatchObject(invalid)
    expect(await refusal(transfers(seeded.editions, `?cursor=${cursor}`))).toMatchObject(invalid)
    expect(await refusal(transfers(seeded.collection, `?cursor=${cursor.slice(0, -1)}`))).toMatchObject(invalid)
    expect(await refusal(transfers(seeded.collection, '?cursor=eyJhbGciOiJIUzI1NiJ9'))).toMatchObject(invalid)
    expect(await json(transfers(seeded.collection, '?cursor=&limit=1'))).toMatchObject({ page: '0' })
  })

  test('what stands beside a cursor is ignored, unless it makes no sense', async () => {
    const { cursor, result } = await json(transfers(seeded.collection, '?limit=3'))
    const next = await json(transfers(seeded.collection, `?cursor=${cursor}`))
    expect(next.result).not.toEqual(result)
    for (const beside of ['limit=50', 'from_block=19999', 'to_date=2020-01-01', 'format=hex', 'disable_total=false']) {
      expect(await json(transfers(seeded.collection, `?cursor=${cursor}&${beside}`))).toEqual(next)
    }
    for (const beside of ['limit=abc', 'limit=0', 'from_block=-1', 'to_date=never', 'format=oct', 'disable_total=no']) {
      const name = beside.split('=')[0]
      expect(await refusal(transfers(seeded.collection, `?cursor=${cursor}&${beside}`))).toMatchObject({
        status: 400,
        message: expect.stringMatching(new RegExp(`^${name} must be .* not "${beside.split('=')[1]}"$`)),
      })
    }
  })

  test.each([
    ['0x12', '', 'address is not a valid hex address'],
    ['%00', '', 'address is not a valid hex address'],
    ['%', '', 'address is not a valid hex address'],
    [seeded.collection, '?chain=solana', 'chain must be a valid enum value'],
    [seeded.collection, '?limit=0', 'limit must be a whole number from 1 on (above 100 it is taken as 100), not "0"'],
    [seeded.collection, '?from_block=-1', 'from_block must be a whole number from 0 on, not "-1"'],
    [seeded.collection, '?to_block=1.5', 'to_block must be a whole number from 0 on, not "1.5"'],
    [seeded.collection, '?format=octal', 'format must be decimal or hex, not "octal"'],
    [seeded.collection, '?disable_total=2', 'disable_total must be true or false, not "2"'],
    [seeded.collection, '?limit=1&limit=2', 'limit must be given once, not 2 times'],
  ])('%s%s: %s', async (address, query, message) => {
    expect(await refusal(transfers(address, query))).toMatchObject({ status: 400, code: 'bad_request', message })
  })

  test('accept every spelling of a chain and parameters that nobody knows', async () => {
    for (const chain of ['eth', 'ETH', '0x1', '0x01', '1', ''])
      expect((await api.get(transfers(seeded.collection, `?chain=${chain}&direction=to&offset=5`))).status).toBe(200)
    expect(await refusal(transfers(seeded.collection, '?from_date=tomorrow'))).toMatchObject({
      message: expect.stringMatching(/^from_date must be a date .* not "tomorrow"$/),
    })
  })
})

describe('the age of the newest block', () => {
  const ageOf = (response: Response) => response.headers.get('x-head-age')
  const [nothing, hash] = ['0x1111111111111111111111111111111111111111', `0x${'ab'.repeat(32)}` as Hash]
  const seconds = () => Math.floor(Date.now() / 1_000)

  test('is told once it is beyond that of a chain that runs, on every answer, as of when it is sent', async () => {
    const minutes = 60
    const own = await serveApi({
      fill: async store => {
        await store.putChainState(1 as ChainId, { head: { number: 7, hash, timestamp: seconds() - 7 * minutes } })
        await store.putChainState(137 as ChainId, { head: { number: 7, hash, timestamp: seconds() - 9 * minutes } })
        await store.putChainState(8453 as ChainId, { head: { number: 7, hash, timestamp: seconds() - 9 * minutes } })
        await store.putChainState(10 as ChainId, { head: { number: 7, hash, timestamp: seconds() - minutes } })
      },
      parts: {
        chains: new ChainTable([], ['eth', 'polygon', 'base', 'optimism']),
        headAgeMaxOf: chain => (chain === 'base' ? 0 : undefined),
      },
    })
    const ask = async (path: string, headers = {}) => await own.get(`/api/v2.2${path}`, headers)
    try {
      // Twelve seconds a block: six minutes.
      for (const path of [
        `/nft/${nothing}/transfers`,
        `/nft/${nothing}/owners?chain=eth`,
        `/${nothing}/nft?chain=0x1`,
      ]) {
        const first = await ask(path)
        expect([path, first.status]).toEqual([path, 200])
        expect(Number(ageOf(first))).toBeGreaterThanOrEqual(7 * minutes)
        await first.text()
        const unchanged = await ask(path, { 'if-none-match': first.headers.get('etag')! })
        expect([unchanged.status, Number(ageOf(unchanged)) >= 7 * minutes]).toEqual([304, true])
      }
      expect(Number(ageOf(await ask(`/nft/${nothing}/transfers?chain=polygon`)))).toBeGreaterThanOrEqual(9 * minutes)
      const csv = await ask(`/nft/${nothing}/transfers`, { accept: 'text/csv' })
      expect(Number(ageOf(csv))).toBeGreaterThanOrEqual(7 * minutes)
      await csv.text()
      // An error about its data is as old; one about the request says nothing of data.
      const unknown = await ask(`/nft/${nothing}/1`)
      expect([unknown.status, Number(ageOf(unknown)) >= 7 * minutes]).toEqual([404, true])
      const wrong = await ask(`/nft/${nothing}/transfers?limit=none`)
      expect([wrong.status, ageOf(wrong)]).toEqual([400, null])
      // The operator may say never, and a minute is no age.
      expect(ageOf(await ask(`/nft/${nothing}/transfers?chain=base`))).toBeNull()
      expect(ageOf(await ask(`/nft/${nothing}/transfers?chain=optimism`))).toBeNull()
      expect(ageOf(await ask('/web3/version'))).toBeNull()
      // Of several chains the oldest counts.
      expect(Number(ageOf(await ask(`/wallets/${nothing}/chains?chains=eth,polygon`)))).toBeGreaterThanOrEqual(
        9 * minutes,
      )
      expect(ageOf(await ask(`/wallets/${nothing}/chains?chains=optimism`))).toBeNull()
      const crossing = await ask(`/nft/${nothing}/transfers`, { origin: 'https://example.org' })
      expect(crossing.headers.get('access-control-expose-headers')).toContain('X-Head-Age')
    } finally {
      await own.close()
    }
  })

  test('stands in the status of a chain that is complete and stalled', async () => {
    const chain = {
      ...{ head: 22_945_851, finalized: 22_945_800, lag_seconds: 430, head_age_seconds: 430, covered: [] },
      ...{ complete: true, index: 'full', from: 0, rpc: [], eta_seconds: null, rates: null, blocks_left: 0 },
      backfill: { state: 'open' },
    } as unknown as ChainStatus
    const chains = { eth: { ...chain, state: 'stalled' as const }, base: { ...chain, state: 'live' as const } }
    const own = await serveApi({ parts: { status: async () => ({ chains, solana: {} }) } })
    try {
      const status = operatorSchemas.status.parse(await (await own.get('/status')).json())
      expect(status.chains.eth).toMatchObject({ complete: true, as_of: 'as of block 22945851, 7 minutes old' })
      expect(status.chains.base).not.toHaveProperty('as_of')
    } finally {
      await own.close()
    }
  })

  test('grows on a kept answer, which is sent without being made again', async () => {
    const timestamp = seconds() - 400
    const own = await serveApi({
      fill: store => store.putChainState(1 as ChainId, { head: { number: 7, hash, timestamp } }),
      parts: { chains: new ChainTable([], ['eth']) },
    })
    try {
      const ages: number[] = []
      await expect
        .poll(
          async () => {
            const response = await own.get(`/api/v2.2/nft/${nothing}/transfers`)
            await response.text()
            ages.push(Number(ageOf(response)))
            return ages.at(-1)! - ages[0]!
          },
          { timeout: 30_000 },
        )
        .toBeGreaterThanOrEqual(2)
      expect(ages.at(-1)).toBeLessThanOrEqual(seconds() - timestamp)
    } finally {
      await own.close()
    }
  })
})

test('an answer of all contracts says that a chain on demand has those that were requested', async () => {
  const chainOf = (index: 'full' | 'on-demand') =>
    ({
      state: 'live',
      index,
      head: 7,
      finalized: 7,
      lag_seconds: 0,
      complete: false,
      eta_seconds: null,
      covered: [],
      rpc: [],
    }) as const
  const own = await serveApi({
    fill: async store => {
      for (const chain of [1, 137])
        await store.putChainState(chain as ChainId, {
          head: { number: 7, hash: `0x${'ab'.repeat(32)}` as Hash, timestamp: 1 },
        })
    },
    parts: { status: async () => ({ chains: { eth: chainOf('on-demand'), polygon: chainOf('full') }, solana: {} }) },
  })
  const reasonOf = async (path: string) => {
    const response = await own.get(`/api/v2.2${path}`)
    expect([path, response.status, response.headers.get('x-index-complete')]).toEqual([path, 200, 'false'])
    return response.headers.get('x-index-incomplete-reason')
  }
  const address = '0x1111111111111111111111111111111111111111'
  const said = 'eth is indexed on demand: only contracts that were requested are in the answer'
  const ofAll = [`/${address}/nft`, `/${address}/nft/collections`, `/${address}/nft/transfers`, '/nft/transfers']
  try {
    for (const path of [...ofAll, `/wallets/${address}/stats`, '/block/7/nft/transfers']) {
      expect([path, await reasonOf(`${path}?chain=eth`)]).toEqual([path, said])
      expect([path, await reasonOf(`${path}?chain=polygon`)]).toEqual([path, null])
    }
    for (const path of [`/nft/${address}/owners`, `/nft/${address}/transfers`, `/nft/${address}/1/transfers`])
      expect([path, await reasonOf(`${path}?chain=eth`)]).toEqual([path, null])
  } finally {
    await own.close()
  }
})

describe('a chain that is not configured', () => {
  const reasonOf = (response: Response) => response.headers.get('x-index-incomplete-reason')
  const nothing = '0x1111111111111111111111111111111111111111'
  const said = 'bsc is not configured here (configured: eth, polygon)'
  let own: ServedApi
  beforeAll(async () => {
    own = await serveApi({ parts: { chains: new ChainTable([], ['polygon', 'eth']), reportedChains: async () => [] } })
  })
  afterAll(() => own.close())

  test('is 404 with the configured names on every other operation, unless something of it is stored', async () => {
    const hash = `0x${'ab'.repeat(32)}`
    const paths = [
      ...[`/nft/${nothing}/owners?chain=bsc`, `/${nothing}/nft?chain=0x38`, `/${nothing}/nft/transfers?chain=56`],
      ...[`/nft/${nothing}/stats?chain=BSC`, `/nft/${nothing}?chain=bsc`, `/nft/${nothing}/1?chain=bsc`],
      ...[`/nft/${nothing}/metadata?chain=bsc`, `/nft/transfers?chain=bsc`, `/block/${hash}/stats?chain=bsc`],
      ...[`/${nothing}/balance?chain=bsc`, `/wallets/balances?chain=bsc&wallet_addresses=${nothing}`],
      ...[
        `/dateToBlock?chain=bsc&date=1`,
        `/nft/${nothing}/1/transfers?chain=bsc`,
        `/${nothing}/nft/collections?chain=bsc`,
      ],
    ]
    const details = { parameter: 'chain', configured: ['eth', 'polygon'] }
    const expectRefused = async (path: string, chain: string, accept: string) => {
      const response = await own.get(`/api/v2.2${path}`, { accept })
      const message = said.replace('bsc', chain)
      const body = { code: 'chain_not_configured', message, details: { ...details, chain } }
      expect([path, response.status, await response.json()]).toMatchObject([path, 404, body])
    }
    for (const path of paths) {
      for (const accept of ['application/json', 'text/csv']) await expectRefused(path, 'bsc', accept)
      // Only a configuration can name these.
      for (const [asked, chain] of [
        ['optimism'],
        ['0xa', 'optimism'],
        ['10', 'optimism'],
        ['Linea', 'linea'],
        ['gnosis'],
      ])
        await expectRefused(path.replace(/chain=\w+/, `chain=${asked}`), chain ?? asked!, 'application/json')
      expect((await own.get(`/api/v2.2${path.replace(/chain=\w+/, 'chain=nowhere')}`)).status).toBe(400)
      expect((await own.get(`/api/v2.2${path.replace(/chain=\w+/, 'chain=polygon')}`)).status).not.toBe(400)
    }
    const stored = await serveApi({
      fill: store => store.putChainState(56 as ChainId, { head: { number: 7, hash: hash as Hash, timestamp: 1 } }),
      parts: { chains: new ChainTable([], ['polygon']) },
    })
    const empty = await stored.get(`/api/v2.2/nft/${nothing}/owners?chain=bsc`)
    expect([empty.status, reasonOf(empty)]).toEqual([200, 'bsc is not configured here (configured: polygon)'])
    // A service that leaves `eth` out says so to those who name no chain.
    expect((await stored.get(`/api/v2.2/nft/${nothing}/owners`)).status).toBe(404)
    await stored.close()
  })

  test('is 400 on the first operations where only a configuration can name it', async () => {
    for (const path of [`/nft/${nothing}/transfers?chain=optimism`, `/wallets/${nothing}/chains?chains=0xa`]) {
      const response = await own.get(`/api/v2.2${path}`)
      const body = { code: 'bad_request', message: 'chain must be a valid enum value' }
      expect([response.status, await response.json()]).toMatchObject([400, body])
    }
  })

  test('says so beside the same body on the first operations, compressed and kept or not', async () => {
    const path = `/api/v2/nft/${nothing}/transfers?chain=bsc`
    for (const encoding of ['identity', 'gzip', 'br', 'identity']) {
      const response = await own.get(path, { 'accept-encoding': encoding })
      expect([response.status, reasonOf(response)]).toEqual([200, said])
      expect(await response.json()).toMatchObject({ result: [], block_exists: false, index_complete: false })
    }
    const tag = (await own.get(path)).headers.get('etag')!
    const unchanged = await own.get(path, { 'if-none-match': tag })
    expect([unchanged.status, reasonOf(unchanged)]).toEqual([304, said])
    const wallet = `/wallets/${nothing}/chains?chains=bsc,eth`
    expect(reasonOf(await own.get(`/api/v2.2${wallet}`))).toBe(said)
    expect(reasonOf(await own.get(path, { accept: 'text/csv' }))).toBe(said)
    const several = await own.get(`/api/v2/wallets/${nothing}/chains?chains=bsc,eth,fantom`)
    expect(reasonOf(several)).toBe('bsc, fantom are not configured here (configured: eth, polygon)')
  })

  test('is another matter than one whose index is being filled, or that another process has', async () => {
    for (const query of ['', '?chain=eth', '?chain=polygon']) {
      const response = await own.get(`/api/v2/nft/${nothing}/transfers${query}`)
      expect([response.headers.get('x-index-complete'), reasonOf(response)]).toEqual(['false', null])
    }
    const chains = new ChainTable()
    const elsewhere = await serveApi({ parts: { chains, reportedChains: async () => ['bsc'] } })
    try {
      expect(reasonOf(await elsewhere.get(`/api/v2/nft/${nothing}/transfers?chain=bsc`))).toBeNull()
      const response = await elsewhere.get(`/api/v2/nft/${nothing}/transfers`)
      expect(reasonOf(response)).toBe('eth is not configured here (configured: bsc)')
    } finally {
      await elsewhere.close()
    }
  })

  test('is not told where other processes cannot be asked, and the answer stays as it is', async () => {
    let asked = 0
    const reportedChains = async () => {
      asked++
      throw new Error('The database does not answer.')
    }
    const alone = await serveApi({ parts: { chains: new ChainTable([], ['eth']), reportedChains } })
    const statusOf = async (path: string, accept: string) => {
      const response = await alone.get(`/api/v2/nft/${nothing}${path}`, { accept })
      await response.text()
      return [response.status, reasonOf(response)]
    }
    try {
      expect(await statusOf('/transfers?chain=eth', 'application/json')).toEqual([200, null])
      expect(asked).toBe(0)
      expect(await statusOf('/transfers?chain=bsc', 'application/json')).toEqual([200, null])
      expect(asked).toBe(1)
      expect(await statusOf('/metadata?chain=bsc', 'application/json')).toEqual([404, null])
      // A key has one place among whole lists: each of them gives it back.
      for (let list = 0; list < 3; list++)
        expect(await statusOf('/transfers?chain=bsc', 'text/csv')).toEqual([200, null])
    } finally {
      await alone.close()
    }
  })

  test('is listed apart where an unknown one is refused', async () => {
    const refused = await own.get(`/api/v2/nft/${nothing}/transfers?chain=solana`)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      message: 'chain must be a valid enum value',
      details: { accepted: expect.arrayContaining(['bsc', '0x38']), configured: ['eth', 'polygon'] },
    })
  })

  test.each([
    ['polygn', 'polygon'],
    ['etherum', 'eth'],
    ['binance', 'bsc'],
    ['solana', undefined],
  ])('%s is refused with what it may mean', async (text, meant) => {
    const refused = await own.get(`/api/v2/nft/${nothing}/transfers?chain=${text}`)
    expect(refused.status).toBe(400)
    expect(((await refused.json()) as { details: { did_you_mean?: string } }).details.did_you_mean).toBe(meant)
  })
})

describe('wallet chains', () => {
  test('are the active ones, in the order of the chain table', async () => {
    const response = await api.get(wallet(seeded.alice))
    const body = schemas.walletChains.parse(await response.json())
    expect(body.address).toBe(seeded.alice)
    expect(body.active_chains.map(entry => entry.chain)).toEqual(['eth', 'polygon', 'arbitrum'])
    const first = seededTransaction(seeded.chains.eth, 302, 1)
    expect(body.active_chains[0]).toMatchObject({
      chain_id: '0x1',
      first_transaction: {
        block_timestamp: new Date(first.timestamp * 1_000).toISOString(),
        block_number: '302',
        transaction_hash: first.hash,
      },
      last_transaction: { block_number: `${seeded.head}` },
    })
    expect(response.headers.get('x-index-complete')).toBe('false')
    expect(response.headers.get('x-index-incomplete-chains')).toBe('polygon')
    expect(response.headers.get('x-index-evidence')).toBeNull()
  })

  test('name a configured chain whose node never answered as incomplete, also in the first answer', async () => {
    const chains = new ChainTable([], ['eth', 'polygon', 'fantom'])
    const incompleteAt = async (fill: (store: Store) => Promise<void>) => {
      const served = await serveApi({ fill, parts: { chains } })
      try {
        const answers = ['v2', 'v2.2'].map(version => served.get(wallet(seeded.alice, '', version)))
        return (await Promise.all(answers)).map(({ status, headers }) => [
          status,
          headers.get('x-dialect'),
          headers.get('x-index-complete'),
          headers.get('x-index-incomplete-chains'),
        ])
      } finally {
        await served.close()
      }
    }
    const block = { number: 5, hash: `0x${'5'.repeat(64)}` as Hash, timestamp: 1 }
    const full = { scope: 'full', from: 0, to: 5, evidence: 'receipts-root' } as const
    const twoOfThree = async (store: Store) => {
      for (const { id: chain } of chains.configured.slice(0, 2)) {
        await store.commitCold({ chain, covered: [full], blocks: [block], transfers: [], activity: noActivity })
        await store.putChainState(chain, { head: block })
      }
    }
    expect(await incompleteAt(twoOfThree)).toEqual([
      [200, 'reference', 'false', 'fantom'],
      [200, 'live', 'false', 'fantom'],
    ])
    expect(await incompleteAt(async () => {})).toEqual([
      [200, 'reference', 'false', 'eth, polygon, fantom'],
      [200, 'live', 'false', 'eth, polygon, fantom'],
    ])
  })

  test('are the asked ones in request order; inactive ones by dialect', async () => {
    const query = '?chains[]=0xA4B1&chains=fantom,eth&chains%5B3%5D=arbitrum'
    const names = (body: { active_chains: { chain: string }[] }) => body.active_chains.map(entry => entry.chain)
    expect(names((await json(wallet(seeded.alice, query))) as never)).toEqual(['arbitrum', 'eth'])
    const live = (await json(wallet(seeded.alice, query, 'v2.2'))) as never as { active_chains: { chain: string }[] }
    expect(names(live)).toEqual(['arbitrum', 'fantom', 'eth'])
    expect(live.active_chains[1]).toEqual({
      chain: 'fantom',
      chain_id: '0xfa',
      first_transaction: null,
      last_transaction: null,
    })
    const complete = await api.get(wallet(seeded.alice, '?chains=eth,arbitrum'))
    expect(complete.headers.get('x-index-complete')).toBe('true')
    expect(complete.headers.get('x-index-incomplete-chains')).toBeNull()
    // Both are proven by receipts root or bloom, which hold no senders.
    expect(complete.headers.get('x-index-evidence')).toBe('one-endpoint')
  })

  test('of a stranger are none, and bad values are refused', async () => {
    expect(await json(wallet(seeded.silent, '', 'v2.2'))).toEqual({ address: seeded.silent, active_chains: [] })
    expect(await refusal(wallet('alice.eth'))).toMatchObject({
      status: 400,
      message: 'address is not a valid hex address',
    })
    expect(await refusal(wallet(seeded.alice, '?chains=eth,base'))).toMatchObject({
      status: 400,
      message: 'chain must be a valid enum value',
    })
  })
})

describe('the portfolio', () => {
  const path = (network: string, address: string) => `/account/${network}/${address}/portfolio`

  test('shows balance, tokens and NFTs, and how fresh they are', async () => {
    const response = await api.get(path('mainnet', seeded.solanaOwner))
    const body = schemas.portfolio.parse(await response.json())
    expect(body).toEqual({
      nativeBalance: { lamports: `${seeded.solanaLamports}`, solana: '5.99998' },
      nfts: seededHoldings('nfts'),
      tokens: seededHoldings('tokens'),
    })
    expect(response.headers.get('x-solana-slot')).toBe(`${seeded.solanaSlot}`)
    expect(Number(response.headers.get('age'))).toBeLessThan(600)
  })

  test.each([
    ['testnet', seeded.solanaOwner, 'network must be mainnet or devnet, not "testnet"'],
    ['mainnet', 'abc', 'address must be a public key of 32 bytes in base58, not "abc"'],
    ['mainnet', '1'.repeat(44), `address must be a public key of 32 bytes in base58, not "${'1'.repeat(44)}"`],
    ['mainnet', seeded.alice, `address must be a public key of 32 bytes in base58, not "${seeded.alice}"`],
  ])('of %s %s is refused with an object', async (network, address, message) => {
    const response = await api.get(path(network, address))
    expect(response.status).toBe(400)
    expect(schemas.solanaFailure.parse(await response.json())).toMatchObject({
      message,
      statusCode: 400,
      error: 'Bad Request',
    })
  })

  test.each([
    ['GET', '/account/mainnet', 404],
    ['POST', path('mainnet', seeded.solanaOwner), 405],
    ['GET', `${path('mainnet', seeded.solanaOwner)}?${'x'.repeat(9_000)}`, 414],
  ])('%s %s is refused in the words of its clients', async (method, target, status) => {
    const response = await api.get(target, {}, method)
    expect(response.status).toBe(status)
    expect(schemas.solanaFailure.parse(await response.json())).toMatchObject({ statusCode: status })
  })

  test('that was never read and cannot be read names the setting', async () => {
    const response = await api.get(path('devnet', seeded.solanaOwner))
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('solana.devnet.rpc'),
    })
  })
})

describe('keys', () => {
  test('are needed, must be known and need the scope', async () => {
    const target = transfers(seeded.collection)
    expect(await refusal(target, { 'x-api-key': undefined })).toMatchObject({
      status: 401,
      message: 'API KEY missing from x-api-key header',
    })
    expect(await refusal(target, { 'x-api-key': 'wrong' })).toMatchObject({ status: 401, message: 'Invalid key' })
    const narrow = await issueKey(api.store, { name: 'narrow', scopes: ['wallet-chains'] })
    expect(await refusal(target, { 'x-api-key': narrow.secret })).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await api.get(wallet(seeded.alice), { 'x-api-key': narrow.secret })).status).toBe(200)
  })

  test('with a rate say what is left of it and answer 429', async () => {
    const slow = await issueKey(api.store, { name: 'slow', scopes: ['nft-transfers'], ratePerSecond: 2 })
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => api.get(transfers(seeded.silent), { 'x-api-key': slow.secret })),
    )
    const [first] = answers
    expect(first!.headers.get('ratelimit-limit')).toBe('2')
    const refused = answers.find(answer => answer.status === 429)!
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect(await refused.json()).toMatchObject({
      message: 'Rate limit exceeded',
      code: 'rate_limited',
      details: { limit: '2 requests a second', raise: `almanac keys limit ${slow.key.id} --rate <number>` },
    })
  })

  test('with a rate are told what is left also when the request is refused for what it asks', async () => {
    const { secret } = await issueKey(api.store, { name: 'mistaken', scopes: ['nft-transfers'], ratePerSecond: 5 })
    const refused = await api.get(transfers('0x12'), { 'x-api-key': secret })
    expect(refused.status).toBe(400)
    expect(refused.headers.get('ratelimit-remaining')).toBe('4')
  })

  test('with a quota answer 429 until midnight, like any other limit', async () => {
    const { secret } = await issueKey(api.store, { name: 'daily', scopes: ['nft-transfers'], quotaPerDay: 1 })
    await api.get(transfers(seeded.silent), { 'x-api-key': secret })
    const refused = await api.get(transfers(seeded.silent), { 'x-api-key': secret })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit-limit')).toBe('1')
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect(refused.headers.get('ratelimit-reset')).toBe(refused.headers.get('retry-after'))
    const { request_id: _, ...body } = await bodyOf(refused)
    const raise = expect.stringMatching(/^almanac keys limit [0-9a-f]{12} --quota <number>$/)
    const details = { limit: '1 request a day', raise, reason: 'The key has used its 1 request of today (UTC).' }
    expect(body).toEqual({ message: 'Rate limit exceeded', code: 'quota_exceeded', details })
  })
})

describe('errors', () => {
  test('come as problems when asked for', async () => {
    const response = await api.get(transfers('0x1'), { accept: 'application/problem+json' })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(schemas.problem.parse(await response.json())).toMatchObject({
      type: '/docs/errors.html#bad_request',
      title: 'Bad Request',
      status: 400,
      detail: 'address is not a valid hex address',
      code: 'bad_request',
    })
  })

  test.each([
    ['GET', transfers(seeded.collection, '?limit=%31'), 'localhost', 200],
    ['GET', transfers(seeded.collection, '?limit=1#x'), 'localhost', 200],
    ['GET', `/api/v2/../v2/nft/${seeded.collection}/transfers`, 'localhost', 200],
    ['GET', `/api/v2/nft/%30x${seeded.collection.slice(2)}/transfers`, 'localhost', 200],
    ['GET', transfers(seeded.collection, '', '%76%32'), 'localhost', 200],
    ['GET', `/api/v2/nft/${seeded.collection}/transfers/more`, 'localhost', 404],
    ['GET', `/api/v2/nft//transfers`, 'localhost', 404],
    ['GET', `/api/v2/nft/${seeded.collection}%2Ftransfers`, 'localhost', 400],
    ['GET', `/api/v2\\nft/${seeded.collection}/transfers`, 'localhost', 400],
    ['GET', 'api/v2', 'localhost', 400],
    ['GET', transfers(seeded.collection), '', 200],
    ['GET', transfers(seeded.collection), 'EXAMPLE.com:443', 200],
    ['GET', transfers(seeded.collection), '[::1]:8080', 200],
    ['GET', transfers(seeded.collection), '[', 400],
    ['GET', transfers(seeded.collection), 'a:99999', 400],
    ['GET', '/health', 'a/nowhere?', 400],
    ['GET', '/health', 'user@a', 400],
    ['GET', `https://other${transfers(seeded.collection)}`, '[', 200],
    ['HEAD', `http://other:1${transfers(seeded.collection)}`, 'x', 200],
    ['POST', transfers(seeded.collection), 'localhost', 405],
    ['OPTIONS', '/nowhere', 'localhost', 204],
  ])('%s %s of host %j', async (method, target, host, status) => {
    const head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${api.key}\r\nConnection: close\r\n`
    for (const more of ['', 'Content-Length: 0\r\n']) {
      const answer = await rawRequest(api.url, `${head}${more}\r\n`)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-request-id')).toMatch(/./)
    }
  })

  test('for unknown paths and methods', async () => {
    expect(await refusal('/api/v3/nft/%78/transfers/?a#b')).toMatchObject({
      status: 404,
      code: 'not_found',
      message: 'There is nothing at /api/v3/nft/x/transfers; see /reference',
    })
    expect(await refusal('/api/..%2f..%2Fetc')).toMatchObject({
      message: 'There is nothing at /api/..%2F..%2Fetc; see /reference',
    })
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await api.get(transfers(seeded.collection), {}, method)
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
      expect(await response.json()).toMatchObject({ code: 'method_not_allowed' })
    }
  })

  test('of the inside stay inside, and are logged once with the request id', async () => {
    const broken = await serveApi({
      parts: {
        freshen: {
          contract: async () => {
            throw new Error('secret path /var/lib')
          },
          wallet: async () => {
            throw new AlmanacError('upstream_failed', 'eth endpoint https://node.example/abcdef answered 500')
          },
        },
      },
    })
    try {
      const internal = await broken.get(transfers(seeded.collection))
      expect(internal.status).toBe(500)
      const body = await bodyOf(internal)
      expect(body).toEqual({ message: 'Internal error', code: 'internal', request_id: expect.any(String) })
      const lines = broken.logged.filter(line => line.includes(`${body.request_id}`))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain('secret path')
      const upstream = await broken.get(wallet(seeded.alice, '?chains=eth'))
      expect(upstream.status).toBe(502)
      expect(await upstream.text()).not.toContain('node.example')
    } finally {
      await broken.close()
    }
  })

  test('below HTTP have a body and a request id too', async () => {
    const cases: [string, number][] = [
      ['nonsense\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n', 400],
      [`GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
      [`GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
      ['GET /health HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
      ['GET /health HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n', 400],
      ['GET /health HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nHost: a\r\n\r\n', 400],
      ['CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
      ['TRACE /health HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['GET /health HTTP/1.1\r\nHost: x\r\nExpect: nothing\r\n\r\n', 200],
      ['GET /health HTTP/1.0\r\n\r\n', 200],
      ['GET * HTTP/1.1\r\nHost: x\r\n\r\n', 400],
      ['GET http://other/health HTTP/1.1\r\nHost: x\r\n\r\n', 200],
    ]
    for (const [bytes, status] of cases) {
      const answer = await rawRequest(api.url, bytes)
      expect([bytes.slice(0, 40), answer.status]).toEqual([bytes.slice(0, 40), status])
      expect(answer.headers.get('x-request-id')).toMatch(/./)
      if (status >= 400) schemas.failure.parse(JSON.parse(answer.body))
    }
  })
})

describe('conventions', () => {
  test('an unchanged answer has no body, until something is committed', async () => {
    const own = await serveApi({ fill: seed })
    try {
      const target = transfers(seeded.collection, '?limit=5')
      const first = await own.get(target)
      const tag = first.headers.get('etag')!
      expect(first.headers.get('cache-control')).toBe('private, no-cache')
      const second = await own.get(target, { 'if-none-match': tag })
      expect(second.status).toBe(304)
      expect(await second.text()).toBe('')
      expect(second.headers.get('etag')).toBe(tag)
      await own.store.annotate({
        marks: [
          {
            ...{ chain: seeded.chains.eth, contract: seeded.collection, source: 'operator', rank: 'operator' },
            ...{ verified: undefined, spam: true, updatedAt: 0 },
          },
        ],
      })
      const third = await own.get(target, { 'if-none-match': tag })
      expect(third.status).toBe(200)
      expect((await bodyOf(third)).result[0]).toMatchObject({ possible_spam: 'true' })
    } finally {
      await own.close()
    }
  })

  test('a repeated question is answered without the store, until something is committed', async () => {
    let pagesRead = 0
    const own = await serveApi({ fill: seed })
    const transferPage = own.store.transferPage.bind(own.store)
    own.store.transferPage = query => {
      pagesRead++
      return transferPage(query)
    }
    try {
      const ask = async () => await (await own.get(transfers(seeded.collection, '?limit=5'))).text()
      const first = await ask()
      // An answer is kept from the second time on that it is made.
      expect(await ask()).toBe(first)
      expect(pagesRead).toBe(2)
      for (let repeat = 0; repeat < 10; repeat++) expect(await ask()).toBe(first)
      expect(pagesRead).toBe(2)
      await own.get(transfers(seeded.collection, '?limit=5'), sdk)
      expect(pagesRead).toBe(3)
      await own.store.annotate({
        marks: [
          {
            ...{ chain: seeded.chains.eth, contract: seeded.collection, source: 'operator', rank: 'operator' },
            ...{ verified: undefined, spam: true, updatedAt: 0 },
          },
        ],
      })
      expect(await ask()).toContain('"possible_spam":"true"')
      expect(pagesRead).toBe(4)
    } finally {
      await own.close()
    }
  })

  test('compresses when asked', async () => {
    const target = transfers(seeded.collection)
    const plain = await (await api.get(target, { 'accept-encoding': 'identity' })).text()
    const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\nConnection: close\r\n`
    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      for (let repeat = 0; repeat < 2; repeat++) {
        const answer = await rawRequest(api.url, `${head}Accept-Encoding: ${encoding}\r\n\r\n`)
        expect(answer.headers.get('content-encoding')).toBe(encoding)
        expect(decode(Buffer.from(answer.body, 'latin1')).toString()).toBe(plain)
      }
    }
  })

  test('HEAD says what GET would, without the body', async () => {
    for (const target of [transfers(seeded.collection), wallet(seeded.alice), '/health', '/nowhere']) {
      const headers = { 'accept-encoding': 'identity', 'x-request-id': 'same' }
      const [get, head] = [await api.get(target, headers), await api.get(target, headers, 'HEAD')]
      expect(head.status).toBe(get.status)
      expect(await head.text()).toBe('')
      expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    }
  })

  test('request ids are kept when sane and made otherwise', async () => {
    const id = async (given: string) =>
      (await api.get('/health', { 'x-request-id': given })).headers.get('x-request-id')
    expect(await id('abc-123')).toBe('abc-123')
    expect(await id('a b')).not.toBe('a b')
    expect(await id('x'.repeat(65))).not.toBe('x'.repeat(65))
    expect(await id('')).not.toBe(await id(''))
  })

  test('browsers may call from any origin, or from the ones that are set', async () => {
    const preflight = await api.get(
      transfers(seeded.collection),
      {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key,x-moralis-platform',
        'x-api-key': undefined,
      },
      'OPTIONS',
    )
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase()
    for (const name of [
      'x-api-key',
      'authorization',
      'x-moralis-platform',
      'x-moralis-platform-version',
      'x-moralis-build-target',
    ])
      expect(allowed).toContain(name)
    const answer = await api.get(transfers(seeded.collection), { origin: 'https://app.example' })
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
    const own = await serveApi({ settings: { corsOrigins: ['https://app.example'] } })
    try {
      const origin = async (given: string) => (await own.get(transfers(seeded.collection), { origin: given })).headers
      expect((await origin('https://app.example')).get('access-control-allow-origin')).toBe('https://app.example')
      expect((await origin('https://evil.example')).get('access-control-allow-origin')).toBeNull()
      expect((await origin('https://evil.example')).get('vary')).toContain('Origin')
    } finally {
      await own.close()
    }
  })

  test('pages of other origins read the operations alone', async () => {
    const crossOrigin = async (target: string, method = 'GET') => {
      const { headers } = await api.get(target, { origin: 'https://app.example' }, method)
      return [...headers.keys()].filter(name => name.startsWith('access-control-'))
    }
    const operations = [transfers(seeded.collection), '/api/v2.2/wallets/0x/chains', '/account/mainnet/x/portfolio']
    for (const target of [...operations, '/nowhere']) {
      expect(await crossOrigin(target), target).toContain('access-control-allow-origin')
      expect(await crossOrigin(target, 'OPTIONS'), target).toContain('access-control-allow-methods')
    }
    const own = [
      '/keys',
      '/keys/1',
      '/status',
      '/metrics',
      '/health',
      '/ready',
      '/openapi.json',
      '/openapi/evm.json',
      '/llms.txt',
      '/',
      '/chains/eth/contracts',
      '/solana/mainnet/accounts',
    ]
    for (const target of [...own, `/explain/eth/${seeded.collection}`])
      for (const method of ['GET', 'OPTIONS', 'DELETE']) expect(await crossOrigin(target, method), target).toEqual([])
  })

  test('nothing in an answer may run or be framed', async () => {
    const open = ['/nowhere', '/health', '/reference', '/openapi.json', '/openapi/evm.json', '/llms.txt']
    for (const target of [transfers(seeded.collection), ...open]) {
      const { headers } = await api.get(target)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })

  test('a slash at the end changes nothing', async () => {
    expect((await api.get(`${transfers(seeded.collection)}/`)).status).toBe(200)
    expect((await api.get('/health/')).status).toBe(200)
  })

  test('the setting wins over path and header', async () => {
    const own = await serveApi({ fill: seed, settings: { dialect: 'reference' } })
    try {
      const response = await own.get(transfers(seeded.collection, '', 'v2.2'), sdk)
      expect(response.headers.get('x-dialect')).toBe('reference')
      expect(await response.json()).toMatchObject({ page: '0' })
    } finally {
      await own.close()
    }
  })
})

describe('operators', () => {
  test('see health and readiness without a key, status and metrics with one', async () => {
    const open = { 'x-api-key': undefined }
    const health = operatorSchemas.health.parse(await (await api.get('/health', open)).json())
    expect(health).toEqual({ status: 'ok', store_id: storeIdOf(api.store) })
    expect(health.store_id).toMatch(/^[0-9a-f]{16}$/)
    expect(await (await api.get('/ready', open)).json()).toEqual({ status: 'ready' })
    expect(await refusal('/status', open)).toMatchObject({ status: 401 })
    expect(await refusal('/metrics', open)).toMatchObject({ status: 401 })
    operatorSchemas.status.parse(await (await api.get('/status')).json())
    const metrics = await (await api.get('/metrics', { ...open, authorization: `Bearer ${api.key}` })).text()
    expect(metrics).toContain('route="/api/v2/nft/:address/transfers"')
    expect(metrics).not.toContain(seeded.collection)
  })

  test('can open status and metrics', async () => {
    const own = await serveApi({ settings: { opsOpen: true } })
    try {
      expect((await own.get('/status', { 'x-api-key': undefined })).status).toBe(200)
      expect((await own.get('/metrics', { 'x-api-key': undefined })).status).toBe(200)
    } finally {
      await own.close()
    }
  })

  test('see the coverage of contracts where they ask for it', async () => {
    const own = await serveApi({
      parts: { status: async () => ({ chains: { eth: { ...chain, state: 'live', lag_seconds: 0 } }, solana: {} }) },
    })
    const covered = async (query: string) => {
      const report = (await (await own.get(`/status${query}`)).json()) as { chains: { eth: ChainStatus } }
      return report.chains.eth.covered.map(({ scope }) => scope)
    }
    try {
      await own.store.addCoverage(seeded.chains.eth, seeded.silent, { from: 0, to: 9, evidence: 'one-endpoint' })
      expect(await covered('')).toEqual([])
      expect(await covered('?contracts=true')).toContain(seeded.silent)
      expect((await own.get('/status?contracts=2')).status).toBe(400)
    } finally {
      await own.close()
    }
  })

  const chain = { head: 1, finalized: 0, covered: [], complete: false, eta_seconds: null, rpc: [] }

  test('are told what is wrong with a service that can still serve', async () => {
    const strange = { endpoint: 'a', healthy: false, wrong_chain: true } as const
    const chains = {
      eth: { ...chain, state: 'stalled', lag_seconds: 412 },
      polygon: { ...chain, state: 'disputed', lag_seconds: 0, head_age_seconds: 700, head_old: true },
      // No longer runs: it cannot be behind.
      goerli: { ...chain, state: 'stalled', lag_seconds: 1e8, head_age_seconds: 1e8, head_old: true },
      // The state of a full store hides no dispute.
      bsc: { ...chain, state: 'store_full', lag_seconds: 300, dispute: { block: 1, hashes: [], since: '' } },
      // What its endpoint serves says why none has told its newest block.
      optimism: { ...chain, head: -1, state: 'stalled', lag_seconds: 400, rpc: [strange] },
      gnosis: { ...chain, state: 'live', lag_seconds: 0, rpc: [strange, { endpoint: 'b', healthy: true }] },
      // Nobody has to wait until silence counts as lag, nor reads of a distance that is not known.
      base: { ...chain, head: -1, state: 'stalled', lag_seconds: 0 },
      linea: { ...chain, head: -1, state: 'backfilling', lag_seconds: 0 },
      fantom: { ...chain, head: -1, state: 'backfilling', lag_seconds: 301 },
      // What came while nothing ran is being read, and for how long that takes is not known yet.
      cronos: { ...chain, state: 'backfilling', lag_seconds: 3_000, following_seconds: 59 },
      palm: { ...chain, state: 'backfilling', lag_seconds: 3_000, following_seconds: 60 },
    } as const
    const solana = { mainnet: { state: 'stalled', slot: 1, lag_seconds: 301, rpc: [] } } as const
    const indexer = { answers: false, restarts: 1 }
    const own = await serveApi({ parts: { status: async () => ({ chains, solana, indexer }) } })
    try {
      const response = await own.get('/ready', { 'x-api-key': undefined })
      expect(response.status).toBe(200)
      expect(operatorSchemas.readiness.parse(await response.json())).toEqual({
        status: 'ready',
        problems: [
          { problem: 'store_full', reason: 'The disk of the store is full: nothing new is stored.' },
          { problem: 'indexer_silent', reason: 'The indexer does not answer.' },
          { problem: 'chain_behind', chain: 'eth', reason: 'It is 412 s behind; at most 300 s are allowed.' },
          {
            problem: 'chain_disputed',
            chain: 'polygon',
            reason: 'Its endpoints disagree on a block that should be final.',
          },
          {
            problem: 'head_old',
            chain: 'polygon',
            reason: expect.stringMatching(
              /^Its newest block is 700 s old: answers are as of block \d+, 11 minutes old\.$/,
            ),
          },
          {
            problem: 'chain_disputed',
            chain: 'bsc',
            reason: 'Its endpoints disagree on a block that should be final.',
          },
          {
            problem: 'wrong_chain',
            chain: 'optimism',
            reason: 'Its endpoint serves another chain, and is not used.',
          },
          {
            problem: 'wrong_chain',
            chain: 'gnosis',
            reason: '1 of its 2 endpoints serves another chain, and is not used.',
          },
          { problem: 'chain_behind', chain: 'base', reason: 'No endpoint has reported its newest block yet.' },
          { problem: 'chain_behind', chain: 'fantom', reason: 'No endpoint has reported its newest block yet.' },
          { problem: 'chain_behind', chain: 'palm', reason: 'It is 3000 s behind; at most 300 s are allowed.' },
          {
            problem: 'chain_behind',
            chain: 'solana mainnet',
            reason: 'It is 301 s behind; at most 300 s are allowed.',
          },
        ],
      })
      const metrics = await (await own.get('/metrics')).text()
      const named = [...metrics.matchAll(/^almanac_problem\{problem="(\w+)",chain="(.*)"\} 1$/gm)]
      expect(named.map(([, problem, on]) => `${problem} ${on}`.trim())).toEqual([
        ...['store_full', 'indexer_silent', 'chain_behind eth', 'chain_disputed polygon', 'head_old polygon'],
        ...['chain_disputed bsc', 'wrong_chain optimism', 'wrong_chain gnosis'],
        ...['chain_behind base', 'chain_behind fantom', 'chain_behind palm', 'chain_behind solana mainnet'],
      ])
    } finally {
      await own.close()
    }
  })

  test('are told why a service can serve nothing', async () => {
    const own = await serveApi()
    try {
      await own.store.close()
      const response = await own.get('/ready', { 'x-api-key': undefined })
      expect(response.status).toBe(503)
      const reason = 'The store does not answer (store_failed).'
      expect(await response.json()).toEqual({
        status: 'not ready',
        reason,
        problems: [{ problem: 'store_silent', reason }],
      })
    } finally {
      await own.close().catch(() => {})
    }
  })
})

describe('bounds', () => {
  test('more work than allowed is shed, slow work is given up', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const own = await serveApi({
      settings: { concurrencyMax: 1, queueMax: 1, requestTimeoutMs: 300 },
      parts: { freshen: { portfolio: () => promise.then(() => undefined) } },
    })
    try {
      const owners = ['11111111111111111111111111111111', 'So11111111111111111111111111111111111111112']
      // One waits for a node without a slot, one has the slot, one is in the queue.
      const answers = await Promise.all(
        [...owners, ...owners].map(owner => own.get(`/account/mainnet/${owner}/portfolio`)),
      )
      expect(answers.map(answer => answer.status).sort()).toEqual([503, 504, 504, 504])
      const shed = answers.find(answer => answer.status === 503)!
      expect(shed.headers.get('retry-after')).toBe('1')
      expect(await shed.json()).toMatchObject({ code: 'overloaded' })
    } finally {
      resolve()
      await own.close()
    }
  })

  test('an answer larger than allowed is refused', async () => {
    const own = await serveApi({ fill: seed, settings: { answerBytesMax: 5_000 } })
    try {
      expect((await own.get(transfers(seeded.collection, '?limit=2'))).status).toBe(200)
      const refused = await own.get(transfers(seeded.collection))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([400, null])
      expect(await refused.json()).toMatchObject({
        code: 'answer_too_large',
        message: expect.stringContaining('lower limit'),
        details: { answer_bytes_max: 5_000 },
      })
    } finally {
      await own.close()
    }
  })

  test('closing lets requests under way finish', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { promise: underWay, resolve: begin } = Promise.withResolvers<void>()
    const contract = () => {
      begin()
      return promise
    }
    const own = await serveApi({ parts: { freshen: { contract } } })
    const answer = own.get(transfers(seeded.collection))
    await underWay
    const closed = own.close()
    await new Promise(done => setTimeout(done, 50))
    resolve()
    expect((await answer).status).toBe(200)
    await closed
    await expect(fetch(`${own.url}/health`)).rejects.toThrow()
  })
})

describe('freshening', () => {
  test('is asked for what is not complete, once a request, and its result is answered', async () => {
    const asked: unknown[] = []
    const own = await serveApi({
      fill: seed,
      parts: {
        freshen: {
          contract: async (...given) => void asked.push(given),
          wallet: async (...given) => void asked.push(given),
        },
      },
    })
    try {
      await own.get(transfers(seeded.collection))
      await own.get(wallet(seeded.alice, '?chains=eth'))
      expect(asked).toEqual([])
      for (let repeat = 0; repeat < 2; repeat++) await own.get(transfers(seeded.deeds, '?chain=polygon'))
      expect(asked).toEqual([
        [seeded.chains.polygon, seeded.deeds, 3_000, expect.objectContaining({ id: expect.any(String) })],
        [seeded.chains.polygon, seeded.deeds, 3_000, expect.objectContaining({ id: expect.any(String) })],
      ])
      asked.length = 0
      await own.get(wallet(seeded.alice, '?chains=eth,polygon,bsc'))
      expect(asked).toEqual([
        [[seeded.chains.polygon, 56], seeded.alice, 3_000, expect.objectContaining({ id: expect.any(String) })],
      ])
    } finally {
      await own.close()
    }
  })
})
