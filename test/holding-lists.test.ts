// Who owns what over HTTP: lists, single NFTs and counts, with cursors to the end and as of earlier blocks.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueKey } from '../src/keys/keys.ts'
import type { TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { alice, apes, art, blockOf, bob, carol, chain, coins, fillFinal, plainRow as row } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const coin = { standard: 'ERC1155', operator: carol } as const

const rows: TransferRow[] = [
  row(apes, 10, { tokenId: 1n, to: alice, sentBy: 'recipient' }),
  row(apes, 11, { tokenId: 2n, to: bob }),
  row(apes, 12, { tokenId: 3n, to: bob }),
  row(apes, 13, { tokenId: 1n, from: alice, to: bob }),
  row(apes, 14, { tokenId: 3n, from: bob, to: zeroAddress }),
  row(coins, 12, { ...coin, tokenId: 5n, amount: 10n, to: alice }, 1),
  row(coins, 15, { ...coin, tokenId: 5n, amount: 4n, from: alice, to: bob }),
  row(art, 16, { tokenId: 100n, idCount: 5, to: carol }),
  row(art, 17, { tokenId: 102n, from: carol, to: alice }),
]

async function fill(store: Store): Promise<void> {
  await fillFinal(store, rows)
  await store.annotate({ facts: [{ chain, contract: apes, name: 'Apes', symbol: 'APE', possibleSpam: false }] })
  await store.annotate({
    marks: [
      { chain, contract: coins, source: 'test', rank: 'operator', verified: undefined, spam: true, updatedAt: 1 },
    ],
  })
}

let api: ServedApi
beforeAll(async () => {
  api = await serveApi({ fill })
})
afterAll(() => api.close())

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
type Json = any
const v22 = '/api/v2.2'
const json = async (target: string, headers?: Record<string, string>): Promise<Json> => {
  const response = await api.get(target, headers)
  expect(response.status, target).toBe(200)
  return await response.json()
}

async function wholeList(path: string, query: string, limit: number, rowsOf = 'result'): Promise<Json[]> {
  const found: Json[] = []
  const first = path.startsWith('/nft/') && !path.includes('owners') ? 0 : 1
  for (let target = `${v22}${path}?limit=${limit}${query}`, page = first; ; page++) {
    const answer = await json(target)
    expect(answer.page).toBe(page)
    found.push(...answer[rowsOf])
    if (answer.cursor === null) return found
    expect(answer[rowsOf]).toHaveLength(limit)
    target = `${v22}${path}?cursor=${answer.cursor}`
  }
}

const held = (list: Json[]) => list.map(each => `${each.token_id} ${each.owner_of ?? ''} ${each.amount}`)

test.each([
  ['owners', `/nft/${apes}/owners`, '', [`1 ${bob} 1`, `2 ${bob} 1`]],
  ['owners of pieces', `/nft/${coins}/owners`, '', [`5 ${bob} 4`, `5 ${alice} 6`]],
  [
    'owners of a range',
    `/nft/${art}/owners`,
    '',
    [`102 ${alice} 1`, ...[104, 103, 101, 100].map(id => `${id} ${carol} 1`)],
  ],
  ['owners at a block', `/nft/${apes}/owners`, '&at_block=12', [`3 ${bob} 1`, `2 ${bob} 1`, `1 ${alice} 1`]],
  ['owners of a token', `/nft/${coins}/5/owners`, '', [`5 ${bob} 4`, `5 ${alice} 6`]],
  ['owners of a burned token', `/nft/${apes}/3/owners`, '', []],
  ['owners of a token before', `/nft/${apes}/1/owners`, `&at_date=${blockOf(12).timestamp + 3}`, [`1 ${alice} 1`]],
  ['owners before the first block', `/nft/${apes}/owners`, '&at_date=1970-01-02', []],
  ['NFTs of a wallet', `/${alice}/nft`, '', [`102 ${alice} 1`, `5 ${alice} 6`]],
  ['NFTs of a wallet without spam', `/${alice}/nft`, '&exclude_spam=true', [`102 ${alice} 1`]],
  ['NFTs of a wallet of a contract', `/${bob}/nft`, `&token_addresses[]=${apes}`, [`1 ${bob} 1`, `2 ${bob} 1`]],
  ['NFTs of a wallet before', `/${alice}/nft`, '&at_block=12', [`5 ${alice} 10`, `1 ${alice} 1`]],
])('%s', async (_, path, query, expected) => {
  for (const limit of [1, 2, 100]) expect(held(await wholeList(path, query, limit)), `limit ${limit}`).toEqual(expected)
})

test('records have the fields and the order of the hosted service', async () => {
  const facts = [
    'contract_type',
    'name',
    'symbol',
    'token_uri',
    'metadata',
    'last_token_uri_sync',
    'last_metadata_sync',
  ]
  const end = [...facts, 'minter_address', 'possible_spam', 'verified_collection']
  const owner = ['token_address', 'token_id', 'owner_of', 'block_number', 'block_number_minted', 'token_hash', 'amount']
  const [of1] = (await json(`${v22}/nft/${apes}/1/owners`)).result
  expect(Object.keys(of1)).toEqual([...owner, ...end])
  expect(of1).toEqual({
    ...{
      token_address: apes,
      token_id: '1',
      owner_of: bob,
      block_number: '13',
      block_number_minted: '10',
      amount: '1',
    },
    token_hash: createHash('md5').update(`${apes}1`).digest('hex'),
    ...{ contract_type: 'ERC721', name: 'Apes', symbol: 'APE', token_uri: null, metadata: null },
    ...{ last_token_uri_sync: null, last_metadata_sync: null, minter_address: alice },
    ...{ possible_spam: false, verified_collection: false },
  })
  const [ofWallet] = (await json(`${v22}/${alice}/nft`)).result
  expect(Object.keys(ofWallet).slice(0, 4)).toEqual(['token_address', 'token_id', 'amount', 'owner_of'])
  const [ofContract] = (await json(`${v22}/nft/${apes}`)).result
  expect(ofContract).not.toHaveProperty('owner_of')
  expect(ofContract).not.toHaveProperty('block_number')
  const single = await json(`${v22}/nft/${coins}/0x5?format=hex`)
  expect(Object.keys(single).slice(0, 4)).toEqual(['token_address', 'token_id', 'transfer_index', 'owner_of'])
  expect(single).toMatchObject({
    ...{ token_id: '0x5', transfer_index: [15, 0, 0, 0], owner_of: bob, amount: '4', possible_spam: true },
    minter_address: "ERC1155 tokens don't have a single minter",
  })
})

test('NFTs of a contract come by descending hash, and those of ranges after them', async () => {
  for (const limit of [1, 2, 100]) {
    const apeIds = (await wholeList(`/nft/${apes}`, '', limit)).map(each => each.token_id)
    const byHash = ['1', '2'].sort((a, b) => (md5(apes + a) < md5(apes + b) ? 1 : -1))
    expect(apeIds).toEqual(byHash)
    const artIds = (await wholeList(`/nft/${art}`, '', limit)).map(each => each.token_id)
    expect(artIds).toEqual(['102', '100', '101', '103', '104'])
  }
  const parts = await Promise.all([0, 1, 2].map(range => wholeList(`/nft/${art}`, `&totalRanges=3&range=${range}`, 2)))
  expect(parts.flat().map(each => each.token_id)).toEqual(['102', '100', '101', '103', '104'])
})

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

test('unique owners ascend', async () => {
  expect(await wholeList(`/nft/${coins}/unique-owners`, '', 1, 'walletAddresses')).toEqual([alice, bob].sort())
  const answer = await json(`${v22}/nft/${coins}/unique-owners?limit=9999`)
  expect(Object.keys(answer)).toEqual(['page', 'pageSize', 'cursor', 'walletAddresses'])
  expect(answer).toMatchObject({ page: 1, pageSize: 5_000, cursor: null })
})

test('collections of a wallet descend by address, with counts where they are asked for', async () => {
  const contracts = [art, coins].sort().toReversed()
  const found = await wholeList(`/${alice}/nft/collections`, '', 1)
  expect(found.map(each => each.token_address)).toEqual(contracts)
  expect(found[0]).not.toHaveProperty('count')
  const counted = await wholeList(`/${bob}/nft/collections`, '&token_counts=true', 1)
  expect(counted.find(each => each.token_address === apes)).toMatchObject({
    count: 2,
    name: 'Apes',
    collection_logo: null,
  })
})

test('envelopes differ by list, version and dialect', async () => {
  const keys = async (path: string) => Object.keys(await json(path))
  expect(await keys(`${v22}/${alice}/nft`)).toEqual(['status', 'page', 'page_size', 'cursor', 'result'])
  expect(await keys(`${v22}/nft/${apes}`)).toEqual(['page', 'page_size', 'cursor', 'result', 'status'])
  expect(await keys(`${v22}/nft/${apes}/owners`)).toEqual(['page', 'page_size', 'cursor', 'result'])
  const reference = await json(`/api/v2/${alice}/nft?disable_total=false`)
  expect(reference).toMatchObject({ status: 'SYNCED', total: '2', page: '1', page_size: '100', cursor: '' })
  expect(reference.result[0].possible_spam).toBe('false')
  const live = await json(`/api/v2/nft/${apes}/owners?disable_total=false&limit=1`, { 'x-moralis-platform': 'x' })
  expect(live).toMatchObject({ total: 2, page: 1, page_size: 1, cursor: expect.any(String) })
})

describe('single NFTs', () => {
  test('of which there are none are not found', async () => {
    for (const path of [`/nft/${apes}/3`, `/nft/${apes}/77`, `/nft/${carol}/1`]) {
      const response = await api.get(v22 + path)
      expect(response.status, path).toBe(404)
      expect(await response.json()).toMatchObject({ code: 'not_found' })
    }
  })

  const post = (body: unknown) =>
    fetch(`${api.url}${v22}/nft/getMultipleNFTs`, {
      ...{ method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
      headers: { 'x-api-key': api.key },
    })

  test('come in the order of the body, null for one without an owner', async () => {
    const tokens = [`${apes} 2`, `${apes} 3`, `${art} 101`].map(text => {
      const [token_address, token_id] = text.split(' ')
      return { token_address, token_id }
    })
    const found = (await (await post({ tokens, normalizeMetadata: false })).json()) as Json[]
    expect(found.map(each => each && [each.token_id, each.owner_of])).toEqual([['2', bob], null, ['101', carol]])
  })

  test.each([
    ['no list', {}, 'tokens'],
    ['an empty list', { tokens: [] }, 'tokens'],
    ['too many', { tokens: Array.from({ length: 26 }, () => ({ token_address: apes, token_id: '1' })) }, 'tokens'],
    ['a wrong address', { tokens: [{ token_address: '0x1', token_id: '1' }] }, 'tokens[0].token_address'],
    ['no id', { tokens: [{ token_address: apes, token_id: '1' }, { token_address: apes }] }, 'tokens[1].token_id'],
    ['a wrong id', { tokens: [{ token_address: apes, token_id: '01' }] }, 'tokens[0].token_id'],
  ])('%s in the body is refused', async (_, body, parameter) => {
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ details: { parameter } })
  })

  test('a body that is not JSON is refused', async () => {
    for (const body of ['', '{"tokens":']) {
      const response = await post(body)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        ...{ code: 'bad_request', message: 'The body must be JSON' },
        details: { parameter: 'body', position: expect.any(Number) },
      })
    }
  })

  test('show what their contract says of them once it was read', async () => {
    const uri = 'data:application/json,{"a":1}'
    await api.store.annotate({ tokenUris: { chain, uris: [{ contract: apes, tokenId: 2n, uri, readAtMs: 5 }] } })
    const sync = { last_token_uri_sync: '1970-01-01T00:00:00.005Z' }
    expect(await json(`${v22}/nft/${apes}/2`)).toMatchObject({ token_uri: uri, metadata: '{"a":1}', ...sync })
  })
})

test('counts are texts, and the objects that clients need are there', async () => {
  expect(await json(`${v22}/nft/${apes}/stats`)).toEqual({
    ...{ total_tokens: '2', owners: { current: '1' }, transfers: { total: '5' } },
  })
  expect(await json(`${v22}/nft/${apes}/stats?at_block=12`)).toMatchObject({
    total_tokens: '3',
    owners: { current: '2' },
  })
  expect(await json(`${v22}/nft/${coins}/5/stats`)).toEqual({ owners: { current: '2' }, transfers: { total: '2' } })
  expect(await json(`${v22}/nft/${carol}/stats`)).toMatchObject({ total_tokens: '0', transfers: { total: '0' } })
  expect(await json(`${v22}/wallets/${bob}/stats`)).toEqual({
    ...{ nfts: '3', collections: '2', transactions: { total: null }, nft_transfers: { total: '5' } },
    token_transfers: { total: null },
  })
  expect(await json(`${v22}/block/12/stats`)).toMatchObject({
    nft_transfers: { total: '2' },
    transactions: { total: null },
  })
  expect((await api.get(`${v22}/block/20/stats`)).status).toBe(404)
})

test.each([
  [`/nft/${apes}/owners?at_block=20`, 'at_block'],
  [`/nft/${apes}?range=0`, 'totalRanges'],
  [`/nft/${apes}?totalRanges=2`, 'range'],
  [`/nft/${apes}?totalRanges=2&range=2`, 'range'],
  [`/nft/${apes}?totalRanges=101&range=1`, 'totalRanges'],
  [`/nft/${apes}/007`, 'token_id'],
  [`/nft/${apes}/0x01/owners`, 'token_id'],
  ['/foo/nft', 'address'],
  [`/${alice}/nft?media_items=2`, 'media_items'],
  [`/${alice}/nft?normalizeMetadata=no`, 'normalizeMetadata'],
])('%s is refused by its parameter', async (path, parameter) => {
  const response = await api.get(v22 + path)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ code: 'bad_request', details: { parameter } })
})

test('a cursor is for its own list and subject alone', async () => {
  const { cursor } = await json(`${v22}/nft/${art}/owners?limit=1`)
  for (const path of [`/nft/${apes}/owners`, `/nft/${art}`, `/nft/${art}/unique-owners`, `/${art}/nft`])
    expect(await (await api.get(`${v22}${path}?cursor=${cursor}`)).json(), path).toMatchObject({
      message: 'cursor is not valid',
      details: { accepted: expect.stringContaining('for the list, address and chain that it came from') },
    })
})

test('pages stay as of the block of the first one while tokens move', async () => {
  const first = await json(`${v22}/nft/${art}/owners?limit=2`)
  const blocks = [
    { ...blockOf(20), activity: noActivity, transfers: [row(art, 20, { tokenId: 100n, from: carol, to: bob })] },
  ]
  const covered = { scope: 'transfers', from: 20, evidence: 'receipts-root' } as const
  await api.store.commitHot({ chain, ancestor: 19, blocks, covered, head: blockOf(20) })
  const second = await json(`${v22}/nft/${art}/owners?cursor=${first.cursor}`)
  const third = await json(`${v22}/nft/${art}/owners?cursor=${second.cursor}`)
  expect(held([...first.result, ...second.result, ...third.result])).toEqual([
    ...[`102 ${alice} 1`, ...[104, 103, 101, 100].map(id => `${id} ${carol} 1`)],
  ])
  expect(held((await json(`${v22}/nft/${art}/owners?limit=1`)).result)).toEqual([`100 ${bob} 1`])
})

test('a chain that is not indexed is syncing, and a key needs the scope', async () => {
  const response = await api.get(`${v22}/${alice}/nft?chain=polygon`)
  expect(response.headers.get('x-index-complete')).toBe('false')
  expect(await response.json()).toMatchObject({ status: 'SYNCING', result: [] })
  const { secret } = await issueKey(api.store, { name: 'other', scopes: ['nft-transfers'] })
  expect((await api.get(`${v22}/${alice}/nft`, { 'x-api-key': secret })).status).toBe(403)
})
