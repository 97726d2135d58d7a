// The search box's route over a real store: what is found for each kind of text, in which order, and what it costs.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchAnswer } from '../src/api/console/schemas.ts'
import { issueKey } from '../src/keys/keys.ts'
import type { Address, Hash, NodeBlock } from '../src/model.ts'
import type { StatusReport } from '../src/status.ts'
import { seed, seeded, seededBlock } from './seed.ts'
import { seededCoin, seedTokens } from './seed-tokens.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const { eth, polygon } = seeded.chains
const account = 'So11111111111111111111111111111111111111112'
const finalHash = `0x${'ab'.repeat(32)}` as Hash
const spam = `0x${'5'.repeat(40)}` as Address
const labelled = `0x${'6'.repeat(40)}` as Address
const elsewhere = `0x${'7'.repeat(40)}` as Address
const transaction = `0x${'ef'.repeat(32)}`
const unknown = `0x${'cd'.repeat(32)}`

let api: ServedApi
const asked: (number | Hash)[] = []

beforeAll(async () => {
  const status = async () => ({ chains: { eth: {}, polygon: {} }, solana: { devnet: {} } }) as unknown as StatusReport
  const block = async (chain: number, wanted: number | Hash): Promise<NodeBlock | undefined> => {
    asked.push(wanted)
    // A node that never answers must not hold up the search.
    if (chain === polygon) return await new Promise(() => undefined)
    return wanted === finalHash
      ? { ...seededBlock(eth, 77), hash: finalHash, parentHash: finalHash, transactions: 0 }
      : undefined
  }
  const askTransaction = async ({ chain, hash }: { chain: string; hash: string }) =>
    chain === 'polygon' && hash === unknown
      ? await new Promise<never>(() => undefined)
      : chain === 'polygon' && hash === transaction
        ? ({ block: 88 } as never)
        : undefined
  api = await serveApi({ fill, parts: { status, freshen: { block } as never, askTransaction } })
})

afterAll(() => api.close())

async function fill(store: ServedApi['store']): Promise<void> {
  await seed(store)
  await seedTokens(store)
  const facts = { chain: eth, symbol: undefined, possibleSpam: false }
  await store.annotate({
    facts: [
      { ...facts, contract: seeded.collection, name: 'Garden Deeds', symbol: 'GRDN' },
      { ...facts, contract: seeded.editions, name: 'The garden\u202e of editions' },
      { ...facts, contract: spam, name: 'Garden', possibleSpam: true },
      { ...facts, chain: polygon, contract: seeded.deeds, name: 'Polygon deeds' },
    ],
  })
  const label = { source: 'test', rank: 'operator' as const, updatedAt: 1 }
  await store.annotate({
    labels: [
      { ...label, chain: undefined, address: labelled, label: 'Gardener Ada' },
      { ...label, chain: eth, address: seeded.collection, label: 'Old garden' },
      { ...label, chain: polygon, address: elsewhere, label: 'Ada on polygon' },
      { ...label, chain: polygon, address: seeded.bob, label: 'Bob on polygon' },
    ],
  })
}

async function search(text: string) {
  const response = await api.get(`/search?q=${encodeURIComponent(text)}`)
  expect(response.status).toBe(200)
  return searchAnswer.parse(await response.json())
}

test('a name finds whole names before beginnings before texts within, spam last, each contract once', async () => {
  const { results, names } = await search('garden')
  expect(names).toBe('anywhere')
  expect(results.map(result => ('address' in result ? result.address : ''))).toEqual([
    seeded.collection,
    labelled,
    seeded.editions,
    spam,
  ])
  expect(results[0]).toMatchObject({ type: 'contract', chain: 'eth', name: 'Garden Deeds', label: 'Old garden' })
  expect(results[1]).toMatchObject({ type: 'wallet', label: 'Gardener Ada' })
  expect(results[3]).toMatchObject({ type: 'contract', possible_spam: true })
  expect(JSON.stringify(results)).not.toContain('\u202e')
})

test('where no name has the text, one with a typing error finds what was meant', async () => {
  const found = async (text: string) =>
    (await search(text)).results.map(result => ('address' in result ? result.address : ''))
  expect(await found('grden deeds')).toEqual([seeded.collection])
  expect(await found('polygno deeds')).toEqual([seeded.deeds])
  expect(await found('gardener adda')).toEqual([labelled])
  expect(await found('gxrdxn dxxds')).toEqual([])
  expect(await found('grdx')).toEqual([])
})

test('a symbol and a label find the same contract, with its transfers', async () => {
  for (const text of ['grdn', 'OLD GARDEN']) {
    const { results } = await search(text)
    expect(results).toMatchObject([{ type: 'contract', chain: 'eth', address: seeded.collection, symbol: 'GRDN' }])
    expect((results[0] as { transfers: number }).transfers).toBeGreaterThan(0)
  }
})

test('an address finds the contracts that it is, and the wallet', async () => {
  const { results } = await search(` ${seeded.deeds.toUpperCase().replace('0X', '0x')} `)
  expect(results).toMatchObject([
    { type: 'contract', chain: 'polygon', name: 'Polygon deeds' },
    { type: 'wallet', address: seeded.deeds },
  ])
  expect((await search(labelled)).results).toEqual([
    { type: 'wallet', address: labelled, label: 'Gardener Ada', chains: [] },
  ])
})

test('an ERC-20 token is found by its name, its symbol and its address, and a name that is also one of NFTs finds both', async () => {
  const { address, name, symbol, transfers } = seededCoin
  const token = { type: 'erc20', chain: 'eth', address, name, symbol, transfers: transfers.length }
  for (const text of ['realm', 'Coin of', 'cion of the realm'])
    expect([text, (await search(text)).results]).toMatchObject([text, [token]])
  expect((await search(address)).results).toMatchObject([token, { type: 'wallet', address }])
  // A mark of its address makes no contract of NFTs of it, nor a token of one.
  const mark = { source: 'test', rank: 'operator' as const, verified: true, spam: undefined, updatedAt: 1 }
  await api.store.annotate({
    marks: [address, seeded.collection].map(contract => ({ ...mark, chain: eth, contract })),
  })
  const verified = async (text: string) =>
    (await search(text)).results.flatMap(each => ('verified' in each ? [[each.type, each.verified]] : []))
  expect(await verified(address)).toEqual([['erc20', true]])
  expect(await verified(seeded.collection)).toEqual([['contract', true]])
})

test('the label of an address is that of the chain on which its page opens', async () => {
  expect((await search(seeded.bob)).results).toEqual([
    { type: 'wallet', address: seeded.bob, label: null, chains: ['eth'] },
  ])
  expect((await search(elsewhere)).results).toEqual([
    { type: 'wallet', address: elsewhere, label: 'Ada on polygon', chains: ['polygon'] },
  ])
})

test('an address is found without its 0x, too', async () => {
  const whole = (await search(seeded.collection)).results
  expect((await search(seeded.collection.slice(2))).results).toEqual(whole)
  expect(whole[0]).toMatchObject({ type: 'contract', address: seeded.collection })
})

test('a number finds the block of each chain that has reached it, in any spelling', async () => {
  const found = [{ type: 'block', chain: 'eth', number: 19_999, hash: seededBlock(eth, 19_999).hash }]
  for (const text of ['19999', '#19,999', '19 999', 'block 19999', 'Block #19,999']) {
    const { results } = await search(text)
    expect(results.filter(({ type }) => type === 'block')).toEqual(expect.arrayContaining(found))
  }
  expect((await search('999999999')).results).toEqual([])
})

test('a hash is that of a block at the head, of a final one that a node knows, or of a transaction on any chain', async () => {
  const hot = seededBlock(eth, seeded.head)
  expect((await search(hot.hash)).results).toEqual([
    { type: 'block', chain: 'eth', number: hot.number, hash: hot.hash },
  ])
  const began = performance.now()
  expect((await search(finalHash)).results).toEqual([{ type: 'block', chain: 'eth', number: 77, hash: finalHash }])
  expect((await search(transaction)).results).toEqual([
    { type: 'transaction', chain: 'polygon', hash: transaction, block: 88 },
  ])
  // A chain that says no is not offered; one that does not answer may have it.
  expect((await search(unknown)).results).toEqual([
    { type: 'transaction', chain: 'polygon', hash: unknown, block: null },
  ])
  expect((await search(`0x${'ce'.repeat(32)}`)).results).toEqual([])
  expect(performance.now() - began).toBeLessThan(8_000)
  expect(asked.every(each => typeof each === 'string')).toBe(true)
})

test('an address of Solana finds the account on each network that is configured', async () => {
  expect((await search(account)).results).toEqual([{ type: 'account', network: 'devnet', address: account }])
})

test('nothing is found for nothing, and what is not a question is refused', async () => {
  expect((await search("%' OR 1=1 --")).results).toEqual([])
  for (const query of ['', '?q=', '?q=%20', `?q=${'a'.repeat(101)}`]) {
    const answer = await api.get(`/search${query}`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ details: { parameter: 'q' } })
  }
})

test('only keys with the scope ops may search, also where status is open', async () => {
  const { secret } = await issueKey(api.store, { name: 'narrow', scopes: ['nft-transfers'] })
  expect((await api.get('/search?q=garden', { 'x-api-key': secret })).status).toBe(403)
  expect((await fetch(`${api.url}/search?q=garden`)).status).toBe(401)
})
