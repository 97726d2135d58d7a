import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededAddress } from '../../../test/seed.ts'
import { type ServedApi, serveApi } from '../../../test/served-api.ts'
import { issueKey } from '../../keys/keys.ts'
import { routes } from '../routes.ts'
import { hostedOperations, insteadOf, isServed } from './operations.ts'

let api: ServedApi
beforeAll(async () => {
  api = await serveApi()
})
afterAll(() => api.close())

const wallet = seededAddress('wallet')
const filled = (path: string) => path.replace(/{(\w*address\w*)}/g, wallet).replace(/{\w+}/g, '1')

test('every operation that is not served says its name and what it needs', async () => {
  const missing = hostedOperations.filter(operation => !isServed(operation, routes))
  expect(missing.length).toBeGreaterThan(80)
  const bases = ['/api/v2', '/api/v2.1', '/api/v2.2']
  const asked = missing.map(async ({ id, method, path, isSolana, needs }, at) => {
    const response = await api.get((isSolana ? '' : bases[at % 3]) + filled(path), {}, method)
    expect(response.status, `${method} ${path}`).toBe(501)
    expect(await response.json()).toMatchObject({
      code: 'not_implemented',
      details: { operation: id, needs, listed: '/openapi.json' },
      ...(isSolana ? { statusCode: 501, error: 'Not Implemented' } : {}),
    })
  })
  await Promise.all(asked)
  const metrics = await (await api.get('/metrics')).text()
  for (const { id } of missing) expect(metrics).toContain(`almanac_http_not_served_total{operation="${id}"}`)
})

test('an operation whose answer is not documented says so', async () => {
  const { message } = (await (await api.get('/api/v2.2/latestBlockNumber/eth')).json()) as { message: string }
  expect(message).toBe(
    'Almanac does not serve getLatestBlockNumber: its answer is not documented; getDateToBlock with the date of now has the newest block; /reference lists what it serves',
  )
})

test('what is named in the place of an operation that is not served is served', () => {
  const [served, missing] = [true, false].map(is => hostedOperations.filter(each => isServed(each, routes) === is))
  const ids = new Set(served!.map(({ id }) => id))
  const named = missing!.flatMap(each => insteadOf(each)?.match(/\bget[A-Z]\w+/g) ?? [])
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter(id => !ids.has(id))).toEqual([])
})

test('a list that is misspelt behind a contract is not only a token id that is none', async () => {
  const response = await api.get(`/api/v2.2/nft/${wallet}/transfer?chain=eth`)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ details: { parameter: 'token_id', did_you_mean: 'transfers' } })
})

test('every operation that is served is listed with the scope that it asks for', async () => {
  const served = hostedOperations.filter(operation => isServed(operation, routes))
  expect(hostedOperations.filter(({ scope }) => scope !== undefined)).toEqual(served)
  const { secret } = await issueKey(api.store, { name: 'operator', scopes: ['ops'] })
  for (const { method, path, isSolana, scope } of served) {
    const target = (isSolana ? '' : '/api/v2.2') + filled(path)
    const response = await api.get(target, { 'x-api-key': secret }, method)
    if (scope === 'any') expect(response.status, path).not.toBe(403)
    else expect(await response.json(), path).toMatchObject({ code: 'forbidden', details: { scope } })
  }
  const refused = await api.get(`/api/v2.2/${wallet}/nft`, { 'x-api-key': secret })
  expect(await refused.json()).toMatchObject({
    message: 'This key lacks the scope nft-holdings. Create a key with it: almanac keys create --scopes nft-holdings',
  })
})

test('the README says how many operations are served', () => {
  const served = hostedOperations.filter(operation => isServed(operation, routes)).length
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  expect(readme).toContain(`${served} operations of ${hostedOperations.length} answer as before`)
})

test('operations have one row each', () => {
  const rows = hostedOperations.map(({ method, path, isSolana }) => `${isSolana} ${method} ${path}`)
  expect(new Set(rows).size).toBe(rows.length)
})

test('what begins like an operation of an address and has none is nowhere', async () => {
  for (const path of ['/api/v2/transfers', '/api/v2.2/foo/verbose', '/api/v2.2/foo/bar/price', '/api/v2'])
    expect((await api.get(path)).status, path).toBe(404)
})

test.each([
  ['/nft/transfers', 'GET', 200],
  ['/nft/{a}/transfers', 'GET', 200],
  ['/nft/{a}/7/transfers', 'GET', 200],
  ['/{a}/nft/transfers', 'GET', 200],
  ['/block/7/nft/transfers', 'GET', 200],
  ['/wallets/{a}/chains', 'GET', 200],
  ['/wallets/{a}/history', 'GET', 501],
  ['/wallets/nft/transfers', 'GET', 400],
  ['/nft/transfers/transfers', 'GET', 400],
  ['/nft/nft/transfers', 'GET', 400],
  ['/block/nft/transfers', 'GET', 400],
  ['/{a}', 'GET', 501],
  ['/nft/{a}/transfers', 'POST', 405],
  ['/nft/{a}/sync', 'PUT', 501],
])('%s by %s answers %s', async (path, method, status) => {
  expect((await api.get(`/api/v2.2${path.replace('{a}', wallet)}`, {}, method)).status).toBe(status)
})

test('the version and the weights of what is served', async () => {
  expect(await (await api.get('/api/v2/web3/version')).json()).toEqual({ version: '0.0.0-test' })
  const weights = (await (await api.get('/api/v2.2/info/endpointWeights')).json()) as { endpoint: string }[]
  expect(weights).toContainEqual({
    ...{ endpoint: 'getNFTContractTransfers', path: '/nft/{address}/transfers', rateLimitCost: '1', price: '1' },
  })
  expect(weights.map(({ endpoint }) => endpoint)).toContain('endpointWeights')
  expect((await api.get('/api/v2/web3/version', { 'x-api-key': undefined })).status).toBe(401)
})
