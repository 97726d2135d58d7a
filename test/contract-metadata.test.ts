// Contract metadata over HTTP, from a seeded store.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contractMetadata, contractMetadataList } from '../src/api/schemas.ts'
import type { Address } from '../src/model.ts'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi
const asked: Address[] = []
beforeAll(async () => {
  const freshen = { contract: async (_: unknown, contract: Address) => void asked.push(contract) }
  api = await serveApi({ fill: seed, parts: { freshen } })
})
afterAll(() => api?.close())

const collection = {
  ...{ token_address: seeded.collection, name: 'Collection', symbol: 'COLL', contract_type: 'ERC721' },
  synced_at: new Date(seeded.reading.readAtMs).toISOString(),
}
const editions = { token_address: seeded.editions, name: null, symbol: null, contract_type: 'ERC1155', synced_at: null }
const deeds = { token_address: seeded.deeds, contract_type: 'ERC721', synced_at: null }

function post(body: unknown, { query = '', version = 'v2.2', headers = {} } = {}): Promise<Response> {
  return fetch(`${api.url}/api/${version}/nft/metadata${query}`, {
    method: 'POST',
    headers: { 'x-api-key': api.key, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

test.each([
  ['v2', {}, 'reference', 'true', 'false'],
  ['v2', { 'x-moralis-platform': 'JS SDK' }, 'live', true, false],
  ['v2.1', {}, 'live', true, false],
  ['v2.2', {}, 'live', true, false],
] as const)('%s with the headers %o answers in the dialect %s', async (version, headers, dialect, yes, no) => {
  const answer = await api.get(
    `/api/${version}/nft/${seeded.collection.toUpperCase().replace('0X', '0x')}/metadata`,
    headers,
  )
  expect(answer.headers.get('x-dialect')).toBe(dialect)
  expect(answer.headers.get('x-index-complete')).toBe('true')
  const body = contractMetadata.strict().parse(await answer.json())
  expect(body).toMatchObject({ ...collection, possible_spam: no, verified_collection: yes, collection_logo: null })
  expect(Object.keys(body).slice(0, 5)).toEqual(Object.keys(collection))
  const list = await post({ addresses: [seeded.collection] }, { version, headers })
  expect(list.headers.get('x-dialect')).toBe(dialect)
  expect(await list.json()).toEqual([body])
})

test('what was not read of a contract is null, and one of which a part is indexed is asked for', async () => {
  const answer = await api.get(`/api/v2.2/nft/${seeded.deeds}/metadata?chain=polygon`)
  expect(answer.headers.get('x-index-complete')).toBe('false')
  expect(await answer.json()).toMatchObject({ ...deeds, name: null, possible_spam: false })
  expect(asked).toContain(seeded.deeds)
})

test.each([
  ['a contract without transfers that does not say what it is', seeded.silent],
  ['a wallet', seeded.alice],
])('%s is not found', async (_, address) => {
  const answer = await api.get(`/api/v2.2/nft/${address}/metadata`)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ code: 'not_found', message: 'No NFT contract is known at this address' })
})

test('one that declares a standard is known before its first transfer', async () => {
  const contract = `0x${'1155'.repeat(10)}` as Address
  const facts = { chain: seeded.chains.eth, contract, name: 'New', symbol: undefined, possibleSpam: false }
  await api.store.annotate({ facts: [{ ...facts, reading: { interfaces: ['erc1155'], readAtMs: 5 } }] })
  const answer = await api.get(`/api/v2/nft/${contract}/metadata`)
  expect(await answer.json()).toMatchObject({
    name: 'New',
    contract_type: 'ERC1155',
    synced_at: '1970-01-01T00:00:00.005Z',
  })
})

test('a list is answered in its order, with null for what is not known', async () => {
  const addresses = [
    seeded.alice,
    seeded.editions,
    seeded.collection,
    seeded.editions.toUpperCase().replace('0X', '0x'),
  ]
  const answer = await post({ addresses, somethingElse: 1 })
  const body = contractMetadataList.parse(await answer.json())
  expect(body).toMatchObject([null, { ...editions, possible_spam: true }, collection, editions])
  expect(await (await post({ addresses: [seeded.deeds] }, { query: '?chain=polygon' })).json()).toMatchObject([deeds])
})

const many = Array.from({ length: 26 }, () => seeded.collection)
test.each<[string, unknown, object]>([
  ['no JSON', '{"addresses":', { message: 'The body must be JSON' }],
  ['nothing', '', { message: 'The body must be JSON' }],
  [
    'an empty list',
    { addresses: [] },
    { details: { parameter: 'addresses', accepted: 'a list of 1 to 25 addresses' } },
  ],
  ['too many', { addresses: many }, { details: { parameter: 'addresses', accepted: 'a list of 1 to 25 addresses' } }],
  ['a list alone', [seeded.collection], { details: { parameter: 'addresses' } }],
  ['a text', { addresses: seeded.collection }, { details: { parameter: 'addresses' } }],
  ['another type', { addresses: [1] }, { details: { parameter: 'addresses' } }],
  ['another text', { addresses: [seeded.alice, '0x12'] }, { details: { parameter: 'addresses[1]' } }],
  ['a long body', { addresses: [' '.repeat(9_000)] }, { message: 'The body is longer than 8192 bytes' }],
])('%s as a body is refused', async (_, body, problem) => {
  const answer = await post(body)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: 'bad_request', ...problem })
})

test('a list of 25 is answered, and bad parameters of either are refused', async () => {
  expect(await (await post({ addresses: many.slice(1) })).json()).toHaveLength(25)
  expect((await post({ addresses: many.slice(1) }, { query: '?chain=nowhere' })).status).toBe(400)
  expect((await api.get('/api/v2.2/nft/0x12/metadata')).status).toBe(400)
  expect((await api.get('/api/v2.2/nft/metadata', {}, 'DELETE')).status).toBe(405)
  expect((await post({ addresses: many.slice(1) }, { headers: { 'x-api-key': 'wrong' } })).status).toBe(401)
})

test('pages of other origins may post', async () => {
  const target = `${api.url}/api/v2.2/nft/metadata`
  const preflight = await fetch(target, { method: 'OPTIONS', headers: { origin: 'https://example.com' } })
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Content-Type')
})
