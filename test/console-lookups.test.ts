// What the pages of the console ask beside the operations: contracts in an order that helps, blocks, transactions and
// labels, over HTTP on a seeded store and through a simulated node.
import { afterEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { blockFacts, chainCoverage, contractList, labels, transaction } from '../src/api/console/schemas.ts'
import type { Address } from '../src/model.ts'
import type { ContractFacts } from '../src/store/annotation-store.ts'
import type { Store } from '../src/store/store.ts'
import { CommandPlace } from './command-run.ts'
import { truthByContract } from './evm-harness.ts'
import { seed, seeded, seededTransaction, seededTransfers } from './seed.ts'
import { seededCoin, seedTokens } from './seed-tokens.ts'
import { type ServedApi, type ServedApiOptions, serveApi } from './served-api.ts'
import { startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'

let api: ServedApi
const opened: ServedApi[] = []
const { eth } = seeded.chains
const { collection, editions, range } = seeded

async function serve(options: ServedApiOptions = { fill: seed }): Promise<void> {
  api = await serveApi(options)
  opened.push(api)
}

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function listed(query: string, chain = 'eth') {
  const found: z.output<typeof contractList>['contracts'] = []
  let pages = 0
  for (let after: string | null = ''; after !== null; pages++) {
    const next: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`
    const answer = await api.get(`/chains/${chain}/contracts?${query}${next}`)
    const page = contractList.parse(await answer.json())
    expect(page.chain).toBe(chain)
    found.push(...page.contracts)
    after = page.after
  }
  return { found, addresses: found.map(({ address }) => address), pages }
}

async function judge(store: Store, contract: Address, transfers: number): Promise<void> {
  const known = (await store.annotationsOf(eth, contract)).facts
  const verdict = { rulesVersion: 1, score: 0, reasons: [], basis: '', transfers, judgedAtMs: 1 }
  await store.annotate({
    facts: [{ name: undefined, symbol: undefined, possibleSpam: false, ...known, chain: eth, contract, verdict }],
  })
}

/** Facts of a contract whose rows nobody looks at. */
function made(at: number): ContractFacts {
  return {
    ...{ chain: eth, contract: `0x${(at + 1).toString(16).padStart(40, '0')}` as Address, symbol: undefined },
    ...{ name: at % 10 === 0 ? `Ape ${at}` : `Cat ${at}`, possibleSpam: false },
    verdict: { rulesVersion: 1, score: 0, reasons: [], basis: '', transfers: at, judgedAtMs: 1 },
  }
}

describe('the contracts of a chain', () => {
  const count = (address: Address) => seededTransfers(address).length

  test.each([1, 2, 20])('the busiest come first, as they are counted now, %i to a page', async limit => {
    await serve({ fill: async store => await seed(store).then(() => judge(store, editions, 1_000)) })
    const { found, addresses } = await listed(`limit=${limit}`)
    expect(addresses).toEqual([collection, range, editions])
    expect(found.map(({ transfers }) => transfers)).toEqual([collection, range, editions].map(count))
    expect(found[0]).toMatchObject({
      ...{
        name: 'Collection',
        symbol: 'COLL',
        contract_type: 'ERC721',
        verified_collection: true,
        possible_spam: false,
      },
      ...{ last_block: 20_000, last_block_timestamp: '2020-09-16T07:06:40.000Z' },
    })
    expect(found[2]).toMatchObject({ contract_type: 'ERC1155', possible_spam: true, last_block: 7_009 })
  })

  test.each([7, 100])(
    'of many the order is that of their last verdicts, and new ones come last, %i to a page',
    async limit => {
      await serve({
        fill: async store => {
          await seed(store)
          await judge(store, collection, 50)
          await judge(store, editions, 150)
          await store.annotate({ facts: Array.from({ length: 205 }, (_, at) => made(at)) })
        },
        wrap: store => ({
          ...store,
          transferCount: async ({ contract }) => (contract.startsWith('0x00') ? 1 : count(contract)),
        }),
      })
      const { addresses } = await listed(`limit=${limit}`)
      expect(addresses).toHaveLength(208)
      expect(addresses.indexOf(editions)).toBe(204 - 150)
      expect(addresses.indexOf(collection)).toBe(204 - 50 + 1)
      expect(addresses.at(-1)).toBe(range)
      expect(new Set(addresses).size).toBe(208)
    },
  )

  test.each([1, 2, 20])('by activity, the latest transfer first, %i to a page', async limit => {
    await serve()
    expect((await listed(`order=activity&limit=${limit}`)).addresses).toEqual([collection, editions, range])
    const byAddress = [collection, editions, range].sort()
    expect((await listed(`order=address&limit=${limit}`)).addresses).toEqual(byAddress)
  })

  test('by activity is refused where the chain does not keep what it needs, and says which view that is', async () => {
    await serve({ fill: async store => void (await seed(store).then(() => store.keepIndexes(eth, ['by_wallet'], 1))) })
    const answer = await api.get('/chains/eth/contracts?order=activity')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'not_configured', details: { view: 'by_block' } })
  })

  test('are found by a part of their name or symbol, and by how their address begins', async () => {
    await serve()
    for (const search of ['ollec', 'COL', 'coll', collection, collection.slice(0, 9).toUpperCase().replace('0X', '0x')])
      expect([search, (await listed(`search=${search}`)).addresses]).toEqual([search, [collection]])
    expect((await listed('search=nothing')).addresses).toEqual([])
    expect((await listed(`search=${collection}0`)).addresses).toEqual([])
    expect((await listed('search=0x&limit=1')).addresses).toEqual([collection, editions, range].sort())
  })

  test('search goes on where a page ended, among many', async () => {
    const rows = Array.from({ length: 1_300 }, (_, at) => made(at))
    // Only the counts are asked for: no row has to be stored.
    const wrap = (store: Store): Store => ({ ...store, transferCount: async () => 1 })
    const fill = async (store: Store): Promise<void> => {
      await seed(store)
      await store.annotate({ facts: rows })
    }
    await serve({ fill, wrap })
    const { found, pages } = await listed('search=ape&limit=50')
    expect(found.map(({ name }) => name)).toEqual(Array.from({ length: 130 }, (_, at) => `Ape ${1_290 - 10 * at}`))
    expect(pages).toBe(3)
  })

  test('ERC-20 tokens are listed apart, with what of each is left to index where that is on demand', async () => {
    const filled = (from: number) => async (store: Store) =>
      void (await seed(store).then(() => seedTokens(store, from)))
    const told = (index: string) => async () => ({ chains: { eth: { erc20: { index } } }, solana: {} }) as never
    const { address, name, symbol, transfers } = seededCoin
    const row = { address, name, symbol, contract_type: 'ERC20', transfers: transfers.length, last_block: 3_000 }
    await serve({ fill: filled(0), parts: { status: told('on-demand') } })
    for (const query of ['ledger=erc20', 'ledger=erc20&search=real', `ledger=erc20&search=${address.slice(0, 9)}`])
      expect([query, (await listed(query)).found]).toMatchObject([query, [{ ...row, blocks_left: 0 }]])
    expect((await listed('')).addresses).not.toContain(address)
    await serve({ fill: filled(500), parts: { status: told('on-demand') } })
    expect((await listed('ledger=erc20')).found).toMatchObject([{ ...row, blocks_left: 500 }])
    await serve({ fill: filled(500), parts: { status: told('full') } })
    expect((await listed('ledger=erc20')).found).toMatchObject([{ ...row, blocks_left: null }])
    expect((await api.get('/chains/eth/contracts?ledger=gold')).status).toBe(400)
  })

  test('of an unknown chain, or after what is no page, are refused', async () => {
    await serve()
    expect((await api.get('/chains/moon/contracts')).status).toBe(400)
    for (const query of [
      'after=0x1',
      'order=activity&after=1-2',
      'order=address&after=1-2',
      'order=up',
      'search=ab&after=x',
    ])
      expect([query, (await api.get(`/chains/eth/contracts?${query}`)).status]).toEqual([query, 400])
    expect(await (await api.get('/chains/bsc%20testnet/contracts')).json()).toEqual({
      chain: 'bsc testnet',
      ...{ contracts: [], after: null, suggested: [] },
    })
    expect((await fetch(`${api.url}/chains/eth/contracts`)).status).toBe(401)
  })
})

test('a chain without contracts suggests verified ones to begin with', async () => {
  await serve()
  const mark = { chain: 56 as typeof eth, source: 'operator', rank: 'operator', spam: undefined, updatedAt: 1 } as const
  await api.store.annotate({
    marks: [
      { ...mark, contract: collection, verified: true },
      { ...mark, contract: editions, verified: false },
    ],
  })
  const label = { ...mark, address: collection, label: 'A collection' }
  await api.store.annotate({ labels: [{ ...label, chain: undefined }] })
  const first = contractList.parse(await (await api.get('/chains/bsc/contracts')).json())
  expect(first).toMatchObject({ contracts: [], suggested: [{ address: collection, label: 'A collection' }] })
  expect(contractList.parse(await (await api.get('/chains/eth/contracts')).json()).suggested).toEqual([])
})

test('the coverage of a stretch of blocks, cut to it', async () => {
  const covered = (from: number, to: number) => ({ scope: 'full', from, to, evidence: 'bloom' }) as const
  await serve({
    fill: async store => {
      await seed(store)
      await store.dropRange(eth, 'full', { from: 10_000, to: 10_009 })
      await store.addCoverage(eth, 'full', covered(10_003, 10_004))
    },
  })
  const ask = async (query: string, chain = 'eth') => await api.get(`/chains/${chain}/coverage?${query}`)
  expect(chainCoverage.parse(await (await ask('from=9990&to=10020')).json())).toEqual({
    ...{ chain: 'eth', from: 9_990, to: 10_020, intervals_total: 3 },
    intervals: [
      { from: 9_990, to: 9_999, evidence: 'receipts-root' },
      { from: 10_003, to: 10_004, evidence: 'bloom' },
      { from: 10_010, to: 10_020, evidence: 'receipts-root' },
    ],
  })
  expect(chainCoverage.parse(await (await ask('from=5&to=6', 'bsc')).json())).toMatchObject({ intervals: [] })
  for (const query of ['', 'from=5', 'from=6&to=5', 'from=x&to=5']) expect((await ask(query)).status).toBe(400)
})

test('labels of addresses, and of who deployed a contract', async () => {
  await serve()
  const { alice, bob } = seeded
  const asked = `/chains/eth/labels?addresses=${alice.toUpperCase().replace('0X', '0x')},${bob}`
  expect(labels.parse(await (await api.get(asked)).json())).toEqual({
    chain: 'eth',
    labels: { [alice]: seeded.aliceLabel },
  })
  expect(await (await api.get('/chains/eth/labels')).json()).toEqual({ chain: 'eth', labels: {} })
  const many = Array.from({ length: 101 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
  const refused = await api.get(`/chains/eth/labels?addresses=${many}`)
  expect([refused.status, await refused.json()]).toMatchObject([400, { details: { parameter: 'addresses' } }])
  const known = (await api.store.annotationsOf(eth, collection)).facts
  await api.store.annotate({ facts: [{ ...known!, reading: { ...known!.reading!, deployer: alice } }] })
  expect(await (await api.get(`/explain/eth/${collection}`)).json()).toMatchObject({
    ...{ deployer: alice, deployer_label: seeded.aliceLabel },
  })
})

describe('a block', () => {
  const ask = async (number: number | string, chain = 'eth') => {
    const answer = await api.get(`/chains/${chain}/blocks/${number}`)
    return { status: answer.status, body: await answer.json() }
  }

  test('comes with hash, time and evidence, final or not, and what is unknown is null', async () => {
    await serve()
    const { timestamp } = seededTransaction(eth, 5_000, 0)
    const final = blockFacts.parse((await ask(5_000)).body)
    expect(final).toMatchObject({
      number: 5_000,
      head: 20_000,
      final: true,
      evidence: 'receipts-root',
      transactions: null,
    })
    expect(final.timestamp).toBe(new Date(timestamp * 1_000).toISOString())
    expect(blockFacts.parse((await ask(20_000)).body)).toMatchObject({ final: false, evidence: 'bloom' })
    expect(blockFacts.parse((await ask(5_555)).body)).toMatchObject({ hash: null, timestamp: null, final: true })
    expect(blockFacts.parse((await ask(900, 'polygon')).body)).toMatchObject({ evidence: null })
    expect(await ask(20_001)).toMatchObject({ status: 404, body: { message: expect.stringContaining('20000') } })
    expect((await ask('first')).status).toBe(400)
    expect((await ask(1, 'bsc')).status).toBe(404)
    expect((await api.get('/chains/eth/blocks/1', { 'x-api-key': undefined })).status).toBe(401)
  })
})

describe('a transaction', () => {
  test('is a node’s word with the stored transfers, and says what to do where no node is', async () => {
    const { hash } = seededTransaction(eth, 7_000, 4)
    const rows = seededTransfers(editions).filter(({ block }) => block === 7_000)
    expect(rows).toHaveLength(5)
    const node = {
      ...{ endpoint: 'node', block: 7_000, transactionIndex: 4, succeeded: true, otherLogs: 0, logs: [] },
      ...{ from: seeded.alice, to: editions, value: '7', created: undefined, emitters: [collection, editions] },
      ...{ gasUsed: 21_000, fee: '21000000000000', nonce: 5, method: '0x23b872dd' },
    }
    await serve({ fill: seed, parts: { askTransaction: async () => node } })
    const answer = await api.get(`/chains/eth/transactions/${hash}`)
    const found = transaction.parse(await answer.json())
    expect(found).toMatchObject({
      ...{ block: 7_000, transaction_index: 4, succeeded: true, value: '7', evidence: 'receipts-root', final: true },
      ...{ from_address: seeded.alice, from_address_label: seeded.aliceLabel, to_address: editions },
      ...{ gas_used: 21_000, fee: '21000000000000', nonce: 5, method: '0x23b872dd' },
      more_transfers: false,
    })
    expect(found.transfers.map(({ token_id }) => token_id)).toEqual(rows.map(({ tokenId }) => `${tokenId}`).sort())
    expect(found.transfers[0]).toMatchObject({ token_address: editions, transaction_hash: hash, amount: '2' })
    expect((await api.get('/chains/eth/transactions/0x12')).status).toBe(400)
    await serve({ fill: seed, parts: { askTransaction: async () => undefined } })
    expect((await api.get(`/chains/eth/transactions/${hash}`)).status).toBe(404)
    await serve()
    const without = await api.get(`/chains/eth/transactions/${hash}`)
    expect([without.status, await without.json()]).toMatchObject([
      503,
      { code: 'not_configured', message: expect.stringContaining('chains.eth.rpc') },
    ])
  })

  test('is asked of the endpoints of a running service', async () => {
    const node = await startSimNode({ chain: { chainId: 31_337, height: 364, hashes: 'real', ...lightBlocks } })
    const place = new CommandPlace()
    try {
      place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full' } })
      const run = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
      const url = await run.listening()
      const [, [first]] = [...truthByContract(node.chain, { from: 0, to: 299 })][0]!
      const { from, to, value, nonce } = node.chain.block(first!.block).transactions[first!.transactionIndex]!
      const headers = { 'x-api-key': 'the-operator-key' }
      const ask = async () =>
        (await fetch(`${url}/chains/sim/transactions/${first!.transactionHash}`, { headers })).json()
      await run.until(async () => transaction.safeParse(await ask()).data?.evidence === 'receipts-root', 'the evidence')
      const found = transaction.parse(await ask())
      expect(found).toMatchObject({
        block: first!.block,
        from_address: from,
        to_address: to ?? null,
        value: `${value}`,
        nonce,
      })
      expect(found.transfers.map(({ log_index }) => log_index)).toContain(first!.logIndex)
    } finally {
      await place.dispose()
      await node.close()
    }
  })
})
