// What answers about owners, NFTs and counts take from a node and from the index, over HTTP: metadata, nonces, blocks of
// dates, and what is kept of them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { nft, walletStats } from '../src/api/schemas.ts'
import { builtInChains } from '../src/chains.ts'
import { AlmanacError } from '../src/errors.ts'
import { issueKey, type Scope } from '../src/keys/keys.ts'
import type { Address, ChainId, ShownToken } from '../src/model.ts'
import { cryptoPunks, zeroAddress } from '../src/model.ts'
import type { AskBlock, Freshen } from '../src/query/freshen.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { alice, apes, blockOf, bob, chain, coins, fillFinal, hashOf, plainRow as row } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const other = builtInChains[1]!.id
const dateOf = (number: number) => blockOf(number).timestamp + 5

const coin = { standard: 'ERC1155', operator: bob, tokenId: 5n } as const

const rows = [
  row(apes, 10, { tokenId: 1n }),
  row(apes, 11, { tokenId: 2n }),
  row(cryptoPunks, 12, { tokenId: 7n }),
  row(coins, 13, { ...coin, amount: 4n }),
  row(coins, 14, { ...coin, amount: 9n, from: bob, to: alice }),
  row(apes, 15, { tokenId: 2n, from: alice, to: bob }),
]

async function fill(store: Store): Promise<void> {
  await fillFinal(store, rows)
  // The other chain has a hole that holds a transfer of the contract.
  const evidence = 'receipts-root' as const
  await store.commitCold({
    ...{ chain: other, transfers: [rows[0]!, rows[5]!], activity: noActivity },
    covered: [
      { scope: 'transfers', from: 0, to: 10, evidence },
      { scope: 'transfers', from: 15, to: 19, evidence },
    ],
    blocks: [0, 10, 15, 19].map(blockOf),
  })
  await store.putChainState(other, { head: blockOf(19) })
}

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
type Json = any
const v22 = '/api/v2.2'
const uri = 'data:application/json,{"name":"One","image_url":"ipfs://1","attributes":[{"trait_type":"Eyes","value":2}]}'
const normalized = { name: 'One', image: 'ipfs://1', attributes: [{ trait_type: 'Eyes', value: 2, trait_count: 0 }] }

let api: ServedApi
/** What the node was asked for; what is undefined is not there. */
let node: { tokens: string[]; nonces: number; uri: string | undefined; nonce: number | undefined; blocks: number }
beforeEach(() => {
  node = { tokens: [], nonces: 0, uri: undefined, nonce: 12, blocks: 0 }
})

const block: AskBlock = async (_, asked) => {
  node.blocks++
  const number = typeof asked === 'number' ? asked : Number(asked)
  return { ...blockOf(number), parentHash: hashOf(number - 1), transactions: 3 }
}
const freshen: Freshen = {
  block,
  async tokenUris(id: ChainId, tokens: readonly ShownToken[]) {
    node.tokens.push(...tokens.map(({ tokenId }) => `${tokenId}`))
    if (node.uri === undefined) return
    const read = tokens.map(token => ({ ...token, uri: node.uri, readAtMs: Date.now() }))
    await api.store.annotate({ tokenUris: { chain: id, uris: read } })
  },
  async nonce() {
    node.nonces++
    if (node.nonce === undefined) throw new AlmanacError('upstream_failed', 'The node is away.')
    return node.nonce
  },
}

beforeAll(async () => {
  api = await serveApi({ fill, parts: { freshen } })
})
afterAll(() => api.close())

const json = async (target: string): Promise<Json> => {
  const response = await api.get(v22 + target)
  expect(response.status, target).toBe(200)
  return await response.json()
}

test('an answer with tokens that are not read yet is not kept', async () => {
  const targets = [`/nft/${apes}/owners`, `/${alice}/nft`, `/nft/${apes}`, `/nft/${apes}/1`]
  const shown = async (target: string) => {
    const { result, ...single } = await json(target)
    return (result ?? [single]).map((each: Json) => each.token_uri)
  }
  for (const target of targets) {
    for (const _ of [1, 2, 3]) for (const each of await shown(target)) expect(each).toBeNull()
  }
  expect(node.tokens.filter(id => id === '1')).toHaveLength(3 * targets.length)
  node.uri = uri
  for (const target of targets) for (const each of await shown(target)) expect(each).toBe(uri)
  node.tokens = []
  for (const target of targets) for (const _ of [1, 2, 3]) await shown(target)
  expect(node.tokens).toEqual([])
})

describe('normalized metadata', () => {
  test.each([
    ['owners', `/nft/${apes}/owners`],
    ['owners of a token', `/nft/${apes}/1/owners`],
    ['NFTs of a wallet', `/${alice}/nft`],
    ['NFTs of a contract', `/nft/${apes}`],
    ['a single NFT', `/nft/${apes}/1`],
  ])('%s have it where it is asked for and known', async (_, target) => {
    const records = async (query: string) => {
      const { result, ...single } = await json(target + query)
      return (result ?? [single]) as Json[]
    }
    await api.store.annotate({ tokenUris: { chain, uris: [{ contract: apes, tokenId: 1n, uri, readAtMs: 5 }] } })
    await api.store.annotate({
      tokenUris: { chain, uris: [{ contract: apes, tokenId: 2n, uri: 'ipfs://2', readAtMs: 5 }] },
    })
    for (const query of ['', '?normalizeMetadata=false'])
      for (const each of await records(query)) expect(each).not.toHaveProperty('normalized_metadata')
    const asked = await records('?normalizeMetadata=true')
    expect(asked.find(each => each.token_id === '1').normalized_metadata).toMatchObject(normalized)
    for (const each of asked.filter(({ metadata }) => metadata === null))
      expect(each).not.toHaveProperty('normalized_metadata')
  })

  test('a cursor carries the wish, and a body has it', async () => {
    const { cursor } = await json(`/nft/${apes}/owners?limit=1&normalizeMetadata=true`)
    const { result } = await json(`/nft/${apes}/owners?cursor=${cursor}`)
    expect(result[0]).toMatchObject({ token_id: '1', normalized_metadata: normalized })
    const many = async (body: object) => {
      const tokens = [{ token_address: apes, token_id: '1' }]
      const response = await fetch(`${api.url}${v22}/nft/getMultipleNFTs`, {
        ...{ method: 'POST', headers: { 'x-api-key': api.key }, body: JSON.stringify({ tokens, ...body }) },
      })
      return nft.parse(((await response.json()) as Json[])[0]).normalized_metadata
    }
    expect(await many({ normalizeMetadata: true })).toMatchObject(normalized)
    expect(await many({})).toBeUndefined()
  })
})

test('a body says what is missing apart from what is not accepted', async () => {
  const refusal = async (body: unknown) => {
    const response = await fetch(`${api.url}${v22}/nft/getMultipleNFTs`, {
      ...{ method: 'POST', headers: { 'x-api-key': api.key }, body: JSON.stringify(body) },
    })
    const { message, details } = (await response.json()) as { message: string; details: { parameter: string } }
    return [response.status, message, details.parameter]
  }
  const one = { token_address: apes, token_id: '1' }
  const { token_id: _, ...withoutId } = one
  const missing = (name: string) => [400, `${name} is missing`, name]
  expect(await refusal({ tokens: [one, withoutId] })).toEqual(missing('tokens[1].token_id'))
  expect(await refusal({ tokens: [{ token_id: '1' }] })).toEqual(missing('tokens[0].token_address'))
  expect(await refusal({})).toEqual(missing('tokens'))
  const wrong = 'tokens[0].token_id must be a decimal or 0x hex number, as text'
  expect(await refusal({ tokens: [{ ...one, token_id: null }] })).toEqual([400, wrong, 'tokens[0].token_id'])
})

test('NFTs of CryptoPunks name no standard, their transfers do', async () => {
  expect(await json(`/nft/${cryptoPunks}/7`)).toMatchObject({ contract_type: null, owner_of: alice })
  const { result } = await json(`/${alice}/nft`)
  expect(result.find((each: Json) => each.token_address === cryptoPunks).contract_type).toBeNull()
  expect((await json(`/nft/${cryptoPunks}/transfers`)).result[0].contract_type).toBe('ERC721')
})

test('counts of a wallet have its nonce, and null where no node says it', async () => {
  const transactions = async () => walletStats.parse(await json(`/wallets/${alice}/stats`)).transactions.total
  node.nonce = undefined
  expect([await transactions(), await transactions(), await transactions()]).toEqual([null, null, null])
  node.nonce = 12
  for (const _ of [1, 2, 3]) expect(await transactions()).toBe('12')
  // What is asked for again is kept.
  expect(node.nonces).toBe(5)
  expect((await json('/block/12/stats')).transactions).toEqual({ total: '3' })
})

test('the zero address holds nothing, and its transfers are not those of a wallet', async () => {
  for (const path of ['nft', 'nft/collections']) {
    const response = await api.get(`${v22}/${zeroAddress}/${path}`)
    expect(response.headers.get('x-index-complete')).toBe('true')
    expect(await response.json()).toMatchObject({ status: 'SYNCED', result: [] })
  }
  const transfers = await api.get(`${v22}/${zeroAddress}/nft/transfers`)
  expect(transfers.headers.get('x-index-complete')).toBe('false')
  expect(await transfers.json()).toMatchObject({ result: [], index_complete: false })
  const counts = await json(`/wallets/${zeroAddress}/stats`)
  expect(counts).toMatchObject({ nfts: '0', collections: '0', nft_transfers: { total: null } })
})

test('explanations count the sums that cannot be', async () => {
  const of = async (contract: Address) => ((await (await api.get(`/explain/eth/${contract}`)).json()) as Json).index
  expect(await of(coins)).toMatchObject({ transfers: 2, impossible_sums: 1 })
  expect(await of(apes)).toMatchObject({ transfers: 3, impossible_sums: 0 })
  expect((await json(`/nft/${coins}/owners`)).result).toMatchObject([{ owner_of: alice, amount: '13' }])
})

describe('the state at a moment', () => {
  const owners = async (query: string) => {
    const response = await api.get(`${v22}/nft/${apes}/owners?${query}`)
    expect(response.status).toBe(200)
    const { result } = (await response.json()) as Json
    const held = result.map((each: Json) => `${each.token_id} ${each.owner_of}`)
    return { held, complete: response.headers.get('x-index-complete') }
  }
  const [first, second] = [`1 ${alice}`, `2 ${alice}`]

  test('blocks that are indexed need no node', async () => {
    expect(await owners(`at_date=${dateOf(13)}`)).toEqual({ held: [second, first], complete: 'true' })
    expect(await owners('at_date=1970-01-02')).toEqual({ held: [], complete: 'true' })
    expect(await owners('at_date=2100-01-01')).toEqual({ held: [`2 ${bob}`, first], complete: 'true' })
    expect(node.blocks).toBe(0)
  })

  test('a block wins over a date', async () => {
    expect(await owners(`at_block=10&at_date=${dateOf(13)}`)).toEqual({ held: [first], complete: 'true' })
  })

  test('a hole of the index is never claimed', async () => {
    const chainName = builtInChains[1]!.name
    const at = (number: number) => owners(`chain=${chainName}&at_date=${dateOf(number)}`)
    expect(await at(10)).toEqual({ held: [first], complete: 'true' })
    expect(await at(13)).toEqual({ held: [first], complete: 'false' })
    expect(node.blocks).toBeGreaterThan(0)
  })
})

describe('every operation', () => {
  const lists = [
    ...[`/${alice}/nft/transfers`, `/nft/${apes}/transfers`, `/nft/${apes}/1/transfers`, '/block/12/nft/transfers'],
    ...['/nft/transfers', `/nft/${apes}/owners`, `/nft/${apes}/1/owners`, `/nft/${apes}/unique-owners`],
    ...[`/${alice}/nft`, `/${alice}/nft/collections`, `/nft/${apes}`],
  ]
  const singles = [
    ...[`/nft/${apes}/1`, `/nft/${apes}/metadata`, `/nft/${apes}/stats`, `/nft/${apes}/1/stats`],
    ...[`/wallets/${alice}/stats`, '/block/12/stats', `/dateToBlock?date=${dateOf(12)}`],
  ]
  const bodies = {
    '/nft/getMultipleNFTs': { tokens: [{ token_address: apes, token_id: 1 }] },
    '/nft/metadata': { addresses: [apes] },
  }
  const post = (path: string, headers = {}) =>
    fetch(`${api.url}${v22}${path}`, {
      ...{ method: 'POST', headers: { 'x-api-key': api.key, ...headers } },
      body: JSON.stringify(bodies[path as keyof typeof bodies]),
    })

  test.each(['v2', 'v2.1', 'v2.2'])('on /api/%s says how complete it is, by HEAD too, to pages too', async version => {
    for (const path of [...lists, ...singles]) {
      const response = await api.get(`/api/${version}${path}`, { origin: 'https://page.example' })
      expect([path, response.status]).toEqual([path, 200])
      const headers = Object.fromEntries(response.headers)
      expect([path, headers]).toMatchObject([path, { 'x-index-complete': 'true', 'access-control-allow-origin': '*' }])
      expect(headers['x-dialect']).toBe(version === 'v2' ? 'reference' : 'live')
      const isOfBlocks = !/dateToBlock|metadata/.test(path)
      if (isOfBlocks) expect([path, headers['x-index-evidence']]).toEqual([path, 'receipts-root'])
      const head = await api.get(`/api/${version}${path}`, {}, 'HEAD')
      expect([path, head.status, await head.text(), head.headers.get('etag')]).toEqual([path, 200, '', headers.etag])
      expect(head.headers.get('content-length')).toBe(headers['content-length'])
    }
  })

  test('by POST may be asked by pages of other origins, and says how complete it is', async () => {
    for (const path of Object.keys(bodies)) {
      const origin = { origin: 'https://page.example' }
      const allowed = await api.get(v22 + path, { ...origin, 'access-control-request-method': 'POST' }, 'OPTIONS')
      expect(allowed.headers.get('access-control-allow-methods')).toContain('POST')
      expect(allowed.headers.get('access-control-allow-headers')).toContain('Content-Type')
      const response = await post(path, origin)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.headers.get('x-index-complete')).toBe('true')
    }
  })

  test('counts as one request of a key, and needs its scope', async () => {
    const keyOf = async (scopes: Scope[], quotaPerDay?: number) =>
      (await issueKey(api.store, { name: 'k', scopes, quotaPerDay })).secret
    const all = [...lists, ...singles]
    const counted = await keyOf(['nft-transfers', 'nft-holdings'], all.length + 2)
    for (const path of all) expect((await api.get(v22 + path, { 'x-api-key': counted })).status).toBe(200)
    for (const path of Object.keys(bodies)) expect((await post(path, { 'x-api-key': counted })).status).toBe(200)
    expect((await api.get(v22 + all[0], { 'x-api-key': counted })).status).toBe(429)
    const without = await keyOf(['portfolio'])
    for (const path of all.filter(each => !each.startsWith('/dateToBlock')))
      expect([path, (await api.get(v22 + path, { 'x-api-key': without })).status]).toEqual([path, 403])
    for (const path of Object.keys(bodies)) expect((await post(path, { 'x-api-key': without })).status).toBe(403)
  })

  test.each([
    ...[`${apes},${coins}`, `${apes}&token_addresses=${coins}`].map(text => `token_addresses=${text}`),
    ...[
      `token_addresses[]=${apes}&token_addresses[]=${coins}`,
      `token_addresses%5B0%5D=${apes}&token_addresses[1]=${coins}`,
    ],
  ])('lists of contracts are read in the spelling %s', async query => {
    const { result } = await json(`/${alice}/nft?${query}`)
    expect(new Set(result.map((each: Json) => each.token_address))).toEqual(new Set([apes, coins]))
  })
})
