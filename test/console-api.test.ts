// The routes behind the console: keys over HTTP, events, and files as they are served.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { base58 } from '@scure/base'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyCheckMs } from '../src/api/events.ts'
import { issuedKey, keyList, keyUse, rotatedKey, key as shownKey } from '../src/api/key-schemas.ts'
import { type LiveEvent, LiveFeed } from '../src/api/live-feed.ts'
import { accountList, backfillOrder, liveBlock, livePast, liveSample, liveStatus } from '../src/api/operator-schemas.ts'
import type { StaticFile } from '../src/api/static-files.ts'
import type { Gatekeeper } from '../src/keys/gatekeeper.ts'
import { issueKey, type NewKey, registerOperatorKey } from '../src/keys/keys.ts'
import type { ChainStatus, StatusReport } from '../src/status.ts'
import type { KeyRecord } from '../src/store/key-store.ts'
import { type ServedApi, type ServedApiOptions, serveApi } from './served-api.ts'

let api: ServedApi
const streams: EventReader[] = []

async function serve(options: ServedApiOptions = {}): Promise<ServedApi> {
  api = await serveApi(options)
  return api
}

afterEach(async () => {
  for (const stream of streams.splice(0)) await stream.close()
  await api.close()
})

async function send(method: string, path: string, body?: unknown, key = api.key): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return await fetch(api.url + path, {
    method,
    headers: { 'x-api-key': key },
    ...(body === undefined ? {} : { body: text }),
  })
}

async function keyWith(wanted: Partial<NewKey>): Promise<string> {
  return (await issueKey(api.store, { name: 'giver', scopes: ['keys', 'ops', 'portfolio'], ...wanted })).secret
}

/** Without what only its issuing shows. */
function shown({ secret: _, ...key }: z.output<typeof issuedKey>): z.output<typeof shownKey> {
  return key
}

describe('history over HTTP', () => {
  const order = (body: unknown, key?: string) => send('POST', '/chains/eth/backfill', body, key)

  test('is paused and throttled by keys with the scope control alone', async () => {
    await serve()
    const scraper = await keyWith({ scopes: ['ops', 'keys'] })
    expect((await order({ paused: true }, scraper)).status).toBe(403)
    const key = await keyWith({ name: 'night shift', scopes: ['control'] })
    const paused = backfillOrder.parse(await (await order({ paused: true }, key)).json())
    expect(paused).toEqual({ chain: 'eth', paused: { by: 'key night shift', at: expect.any(String) }, throttle: null })
    const throttle = { blocks_per_second: 0.5, hours: '22:00-06:00' }
    const both = backfillOrder.parse(await (await order({ throttle }, key)).json())
    expect(both).toMatchObject({ paused: paused.paused, throttle: { ...throttle, by: 'key night shift' } })
    const none = backfillOrder.parse(await (await order({ paused: false, throttle: null }, key)).json())
    expect(none).toEqual({ chain: 'eth', paused: null, throttle: null })
    expect(api.logged.join('')).toContain('History ordered')
  })

  test.each([
    ['{', 'The body must be JSON'],
    [{ stopped: true }, 'The body must be an object with known fields'],
    [{ paused: 'yes' }, 'paused must be true or false'],
    [{ throttle: { hours: '22-6' } }, /^throttle must be null, or an object/],
    [{ throttle: { blocks_per_second: 0 } }, /^throttle must be null, or an object/],
  ])('refuses %j', async (body, message) => {
    await serve()
    const answer = await order(body)
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as { message: string }).message).toMatch(message)
  })
})

describe('keys over HTTP', () => {
  test('are issued with a secret that works, listed without it, and revoked', async () => {
    await serve()
    const order = {
      name: 'shop',
      scopes: ['nft-transfers', 'keys'],
      expires: '90d',
      quota_per_day: 100,
      index_per_day: 0,
    }
    const created = await send('POST', '/keys', order)
    expect(created.status).toBe(201)
    expect(created.headers.get('cache-control')).toBe('no-store')
    const { secret, ...key } = issuedKey.parse(await created.json())
    expect(key).toMatchObject({
      name: 'shop',
      state: 'active',
      scopes: order.scopes,
      quota_per_day: 100,
      index_per_day: 0,
    })

    const answer = await send('GET', '/keys', undefined, secret)
    const text = await answer.text()
    expect(text).not.toContain(secret)
    expect(text).not.toContain('hash')
    expect(keyList.parse(JSON.parse(text)).keys.map(({ name }) => name)).toEqual(['test', 'shop'])

    const revoked = await send('DELETE', `/keys/${key.id}`)
    expect(shownKey.parse(await revoked.json())).toMatchObject({ id: key.id, state: 'revoked' })
    expect((await send('DELETE', `/keys/${key.id}`)).status).toBe(200)
    await expect.poll(async () => (await send('GET', '/keys', undefined, secret)).status).toBe(401)
    expect(api.logged.join('')).toContain('Key revoked')
    expect(api.logged.join('')).not.toContain(secret)
  })

  test('are given another name, end and other limits, which take effect at once', async () => {
    await serve()
    const order = { name: 'shop', scopes: ['nft-transfers'], rate_per_second: 1, expires: '90d' }
    const { id, secret, ...made } = issuedKey.parse(await (await send('POST', '/keys', order)).json())
    const change = (body: unknown, of = id, key?: string) => send('POST', `/keys/${of}`, body, key)
    const wider = { name: 'shop 2', rate_per_second: null, quota_per_day: 1, index_waiting: 3, expires: null }
    const { expires, ...kept } = wider
    expect(shownKey.parse(await (await change(wider)).json())).toMatchObject({
      ...{ id, ...kept, expires_at: null, index_per_day: made.index_per_day, created_at: made.created_at },
    })
    const asked = async () => (await api.get('/api/v2.2/web3/version', { 'x-api-key': secret })).status
    await expect.poll(asked).toBe(429)
    expect((await change({ quota_per_day: null })).status).toBe(200)
    await expect.poll(asked).toBe(200)
    const again = shownKey.parse(await (await change({ expires: '1h' })).json())
    expect(Date.parse(again.expires_at!)).toBeGreaterThan(Date.now())
    expect(api.logged.join('')).toContain('Key changed')
    expect(await (await change({ rate_per_second: 0, expires: 'soon' })).json()).toMatchObject({
      code: 'bad_request',
      details: { errors: [{ parameter: 'expires' }, { parameter: 'rate_per_second' }] },
    })
    expect((await change({ name: 'ALMANAC_KEY' })).status).toBe(400)
    expect((await change({ scopes: ['ops'] })).status).toBe(400)
    expect((await change({}, 'nobody')).status).toBe(404)
    // Nobody gives more than they have, themselves included.
    expect((await change({ rate_per_second: 9 }, id, await keyWith({ scopes: ['keys'] }))).status).toBe(403)
    expect((await change({}, id, await keyWith({ scopes: ['keys', 'nft-transfers'], ratePerSecond: 9 }))).status).toBe(
      403,
    )
    expect((await change({}, id, await keyWith({ scopes: ['ops'] }))).status).toBe(403)
    await send('DELETE', `/keys/${id}`)
    expect((await change({ rate_per_second: 9 })).status).toBe(400)
  })

  test('tell how their requests ended, which were refused, and for what they were used, and no secret', async () => {
    await serve()
    const order = { name: 'shop', scopes: ['nft-transfers'], rate_per_second: null, quota_per_day: 3 }
    const { id, secret } = issuedKey.parse(await (await send('POST', '/keys', order)).json())
    const ask = async (path: string) => (await api.get(path, { 'x-api-key': secret })).status
    const wallet = `0x${'12'.repeat(20)}`
    const started = Date.now()
    expect(await ask(`/api/v2.2/${wallet}/balance`)).toBe(403)
    for (let times = 0; times < 2; times++) expect(await ask('/api/v2.2/web3/version')).toBe(200)
    expect(await ask('/api/v2.2/nft/0x12/transfers')).toBe(400)
    expect(await ask('/api/v2.2/web3/version')).toBe(429)
    const use = async () => {
      const text = await (await send('GET', `/keys/${id}/use`)).text()
      expect(text).not.toContain(secret)
      expect(text).not.toContain(wallet)
      return keyUse.parse(JSON.parse(text))
    }
    const { last_hour, refusals } = await use()
    expect(last_hour).toEqual({ answered: 2, limited: 1, forbidden: 1, refused: 1, failed: 0 })
    expect(refusals.map(({ status, code, route }) => [status, code, route])).toEqual([
      [429, 'quota_exceeded', '/api/v2.2/web3/version'],
      [400, 'bad_request', '/api/v2.2/nft/:address/transfers'],
      [403, 'forbidden', '/api/v2.2/:address/balance'],
    ])
    expect(Math.abs(Date.parse(refusals[2]!.at) - started)).toBeLessThan(60_000)
    await expect
      .poll(async () => (await use()).today, { timeout: 20_000 })
      .toEqual([
        { use: 'any', requests: 2 },
        { use: 'nft-transfers', requests: 1 },
      ])
    expect((await send('GET', '/keys/nobody/use')).status).toBe(404)
    expect((await send('GET', `/keys/${id}/use`, undefined, await keyWith({ scopes: ['ops'] }))).status).toBe(403)
  })

  test('the last key with the scope keys is not revoked, so that nobody is locked out', async () => {
    await serve()
    const keys = async () => keyList.parse(await (await send('GET', '/keys')).json()).keys
    const [own] = await keys()
    const other = await keyWith({ scopes: ['keys'] })
    await keyWith({ scopes: ['keys'], expiresAt: Date.now() - 1 })
    await keyWith({ scopes: ['portfolio'] })
    const second = (await keys()).find(
      ({ state, name, scopes }) => state === 'active' && name === 'giver' && scopes.includes('keys'),
    )!
    expect((await send('DELETE', `/keys/${second.id}`)).status).toBe(200)
    const refused = await send('DELETE', `/keys/${own!.id}`)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining('the last key with the scope keys') })
    expect((await keys()).find(({ id }) => id === own!.id)).toMatchObject({ state: 'active' })
    expect(other).not.toBe('')
  })

  test.each<[string, unknown, string]>([
    ['name', { scopes: ['ops'] }, 'name must be 1 to 100 characters on one line'],
    ['name', { name: 'a\nb', scopes: ['ops'] }, 'name must be 1 to 100 characters on one line'],
    ['name', { name: 'a\u2028b', scopes: ['ops'] }, 'name must be 1 to 100 characters on one line'],
    ['name', { name: 'a\u202eb', scopes: ['ops'] }, 'name must be 1 to 100 characters on one line'],
    [
      'scopes',
      { name: 'a', scopes: [] },
      'scopes must be a list of one or more of nft-transfers, nft-holdings, wallet-chains, balances, portfolio, erc20, changes, webhooks, ops, control, keys',
    ],
    [
      'scopes',
      { name: 'a', scopes: ['root'] },
      'scopes must be a list of one or more of nft-transfers, nft-holdings, wallet-chains, balances, portfolio, erc20, changes, webhooks, ops, control, keys',
    ],
    [
      'rate_per_second',
      { name: 'a', scopes: ['ops'], rate_per_second: 0 },
      'rate_per_second must be a whole number from 1 on, or null',
    ],
    [
      'expires',
      { name: 'a', scopes: ['ops'], expires: '2020-01-01' },
      'expires must be a span such as 12h or 90d, or a date such as 2027-01-31, and not have passed',
    ],
  ])('a wrong %s is named: %j', async (parameter, order, message) => {
    await serve()
    const answer = await send('POST', '/keys', order)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ message, details: { parameter } })
  })

  test('all wrong fields are named at once', async () => {
    await serve()
    const order = { name: '', scopes: [], expires: 'soon', rate_per_second: 0, quota_per_day: 1.5, index_per_day: 0 }
    const answer = await send('POST', '/keys', order)
    expect(answer.status).toBe(400)
    const { message, details } = (await answer.json()) as { message: string; details: { errors: object[] } }
    const parameters = ['name', 'scopes', 'expires', 'rate_per_second', 'quota_per_day']
    expect(details).toMatchObject({
      parameter: 'name',
      errors: parameters.map(parameter => ({ parameter, accepted: expect.any(String) })),
    })
    for (const parameter of parameters) expect(message).toContain(`${parameter} must be `)
    expect(message).not.toContain('index_per_day')
    expect((await api.store.keys()).length).toBe(1)
  })

  test('are rotated: the successor works at once, the old key until the grace period ends', async () => {
    await serve()
    const order = { name: 'shop', scopes: ['ops', 'keys'], rate_per_second: null }
    const old = issuedKey.parse(await (await send('POST', '/keys', order)).json())
    const rotate = (body: unknown, id = old.id, key?: string) => send('POST', `/keys/${id}/rotation`, body, key)
    const answer = await rotate({ grace: '2h' })
    expect(answer.status).toBe(201)
    const { secret, replaces, ...key } = rotatedKey.parse(await answer.json())
    expect(key).toEqual({ ...shown(old), id: key.id, replaces_id: old.id, created_at: key.created_at })
    expect(replaces).toMatchObject({ id: old.id, state: 'active' })
    expect(Date.parse(replaces.expires_at!) - Date.parse(key.created_at!)).toBeCloseTo(7_200_000, -3)
    for (const each of [secret, old.secret]) expect((await send('GET', '/keys', undefined, each)).status).toBe(200)

    expect(rotatedKey.parse(await (await rotate({ grace: '0' }, key.id)).json()).replaces.state).toBe('revoked')
    await expect.poll(async () => (await send('GET', '/keys', undefined, secret)).status).toBe(401)
    expect(await (await rotate({}, key.id)).json()).toMatchObject({ message: `Key ${key.id} is revoked` })
    expect((await rotate({}, 'none')).status).toBe(404)
    expect(await (await rotate({ grace: 'soon' })).json()).toMatchObject({ details: { parameter: 'grace' } })
    const count = (await api.store.keys()).length
    const narrow = await keyWith({ scopes: ['keys'] })
    expect((await rotate({}, old.id, narrow)).status).toBe(403)
    expect((await api.store.keys()).length).toBe(count + 1)
    expect(api.logged.join('')).toContain('Key rotated')
    expect(api.logged.join('')).not.toContain(secret)
  })

  test.each<[unknown, string]>([
    ['no json', 'The body must be JSON'],
    [[], 'The body must be an object with known fields'],
    [{ name: 'a', scopes: ['ops'], admin: true }, 'The body must be an object with known fields'],
    [`"${'a'.repeat(5_000)}"`, 'The body is longer than 4096 bytes'],
  ])('a body that is no order is refused: %#', async (body, message) => {
    await serve()
    const answer = await send('POST', '/keys', body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ message })
    expect((await api.store.keys()).length).toBe(1)
  })

  test.each<[string, Partial<NewKey>, object]>([
    ['scopes', {}, { scopes: ['ops', 'nft-transfers'] }],
    ['expires', { expiresAt: Date.now() + 60_000 }, { scopes: ['ops'] }],
    ['expires', { expiresAt: Date.now() + 60_000 }, { scopes: ['ops'], expires: '1d' }],
    ['rate_per_second', { ratePerSecond: 50 }, { scopes: ['ops'] }],
    // Ten keys with this quota would be ten times the quota.
    ['quota_per_day', { quotaPerDay: 50 }, { scopes: ['ops'], quota_per_day: 50 }],
    ['index_per_day', { indexPerDay: 5 }, { scopes: ['ops'], index_per_day: 1 }],
  ])('no key gives more than it has: %s', async (parameter, giver, order) => {
    await serve()
    const answer = await send('POST', '/keys', { name: 'more', ...order }, await keyWith(giver))
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ details: { parameter } })
  })

  test('get the usual limits where none are given, and none where they are null', async () => {
    await serve()
    const order = { name: 'shop', scopes: ['portfolio'] }
    const usual = { rate_per_second: 50, quota_per_day: null, index_per_day: 500, index_waiting: 20, unlimited: false }
    expect(await (await send('POST', '/keys', order)).json()).toMatchObject(usual)
    const free = { ...order, rate_per_second: null, index_per_day: null, index_waiting: null }
    expect(await (await send('POST', '/keys', free)).json()).toMatchObject({ ...free, unlimited: true })
  })

  test('a key gives as much as it has', async () => {
    await serve()
    const expiresAt = Date.now() + 3_600_000
    const giver = await keyWith({ expiresAt })
    const order = { name: 'same', scopes: ['portfolio', 'ops'], expires: new Date(expiresAt).toISOString() }
    expect((await send('POST', '/keys', order, giver)).status).toBe(201)
  })

  test('need the scope keys, also where status is open', async () => {
    await serve({ settings: { opsOpen: true } })
    const narrow = await keyWith({ scopes: ['portfolio'] })
    expect((await send('GET', '/keys', undefined, narrow)).status).toBe(403)
    expect((await fetch(`${api.url}/keys`)).status).toBe(401)
    expect((await fetch(`${api.url}/keys`, { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await fetch(`${api.url}/status`)).status).toBe(200)
  })

  test('the scope ops looks and administers nothing', async () => {
    await serve()
    const scraper = await keyWith({ scopes: ['ops'] })
    for (const path of ['/status', '/metrics', '/chains/eth/contracts', '/solana/mainnet/accounts'])
      expect((await send('GET', path, undefined, scraper)).status).toBe(200)
    const [first] = await api.store.keys()
    const refused = [
      await send('GET', '/keys', undefined, scraper),
      await send('POST', '/keys', { name: 'more', scopes: ['ops'] }, scraper),
      await send('DELETE', `/keys/${first!.id}`, undefined, scraper),
    ]
    for (const answer of refused) {
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({
        message: 'This key lacks the scope keys. Create a key with it: almanac keys create --scopes keys',
        details: { scope: 'keys' },
      })
    }
    expect((await api.store.keys()).map(({ revokedAt }) => revokedAt)).toEqual([undefined, undefined])
  })

  test("the operator's own key is not revoked or rotated over HTTP, nor a name like it made", async () => {
    let operatorKeyId = ''
    const register = async (store: ServedApi['store']) => {
      await registerOperatorKey(store, 'the-operator-key-of-yesterday')
      operatorKeyId = (await issueKey(store, { name: 'widened', scopes: ['ops'] })).key.id
    }
    await serve({
      fill: register,
      parts: {
        get operatorKeyId() {
          return operatorKeyId
        },
      },
    })
    const keys = await api.store.keys()
    for (const { id } of keys.filter(({ name }) => name === 'ALMANAC_KEY' || name === 'widened')) {
      const refused = await send('DELETE', `/keys/${id}`)
      expect(refused.status).toBe(403)
      expect(await refused.json()).toMatchObject({ message: expect.stringContaining('the command keys revoke alone') })
      expect(keyList.parse(await (await send('GET', '/keys')).json()).keys.find(key => key.id === id)).toMatchObject({
        from_environment: true,
      })
      // Without a grace period a rotation is a revocation.
      const kept = await send('POST', `/keys/${id}/rotation`, { grace: '0' })
      expect(kept.status).toBe(400)
      expect(await kept.json()).toMatchObject({ message: expect.stringContaining('ALMANAC_KEY is not rotated') })
      expect((await send('POST', `/keys/${id}`, { rate_per_second: 1 })).status).toBe(400)
    }
    expect((await api.store.keys()).every(({ revokedAt }) => revokedAt === undefined)).toBe(true)
    expect((await send('POST', '/keys', { name: 'ALMANAC_KEY', scopes: ['ops'] })).status).toBe(400)
  })

  test('a revocation tells what the key was used for today', async () => {
    await serve()
    const secret = await keyWith({})
    const key = (await api.store.keys()).find(({ name }) => name === 'giver')!
    expect((await send('GET', '/keys', undefined, secret)).status).toBe(200)
    // Uses are written once a second.
    await expect
      .poll(async () => shownKey.parse(await (await send('DELETE', `/keys/${key.id}`)).json()).used_today, {
        timeout: 20_000,
      })
      .toBe(1)
  })

  test.each(['', 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'])(
    'an order that breaks off is nobody’s defect %j',
    async before => {
      await serve()
      const startedAt = performance.now()
      const start = `${before}POST /keys HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\nContent-Length: 50\r\n\r\n{"name":`
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.end(start))
      await once(socket.resume(), 'close')
      expect(performance.now() - startedAt).toBeLessThan(10_000)
      const counted = async () => await (await api.get('/metrics')).text()
      await expect
        .poll(counted)
        .toMatch(
          before === ''
            ? /route="\/keys",method="POST",status="400"\} 1/
            : /route="\/health",method="GET",status="200"\} 1/,
        )
      expect(api.logged.filter(line => line.includes('"level":"error"'))).toEqual([])
      expect((await api.store.keys()).length).toBe(1)
    },
  )

  test('an order that is too long leaves the connection in order', async () => {
    await serve()
    const head = (length: number) =>
      `POST /keys HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\nContent-Length: ${length}\r\n\r\n`
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    socket.write(head(200_000) + 'x'.repeat(200_000))
    socket.write(`GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200'])
    expect(text).toContain('The body is longer than 4096 bytes')
  })

  test('other methods are refused with those that there are', async () => {
    await serve()
    expect((await send('PUT', '/keys', {})).headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
    expect((await send('PUT', '/keys/1', {})).headers.get('allow')).toBe('POST, DELETE, OPTIONS')
    expect((await send('DELETE', '/keys/nobody')).status).toBe(404)
  })

  test.each([
    ['/keys', 'GET, HEAD, POST, OPTIONS', null],
    ['/keys/1', 'POST, DELETE, OPTIONS', null],
    ['/status', 'GET, HEAD, OPTIONS', null],
    ['/account/mainnet/x/portfolio', 'GET, HEAD, OPTIONS', 'GET, HEAD, OPTIONS'],
    ['/nowhere', 'GET, HEAD, OPTIONS', 'GET, HEAD, OPTIONS'],
  ])(
    'OPTIONS says which methods %s has, and which pages of other origins may send',
    async (path, methods, crossOrigin) => {
      await serve()
      const { status, headers } = await send('OPTIONS', path)
      expect(status).toBe(204)
      expect([headers.get('allow'), headers.get('access-control-allow-methods')]).toEqual([methods, crossOrigin])
    },
  )
})

describe('Solana accounts that were read', () => {
  const key32 = (n: number) => new Uint8Array(32).fill(n)

  test('are listed page by page, the last reading first, also where one is read again meanwhile', async () => {
    await serve()
    const read = (n: number, readAtMs: number) =>
      api.store.updateAccounts('devnet', {
        reading: { account: { owner: key32(n), lamports: 1n, slot: readAtMs, chainTime: 0, readAtMs }, holdings: [] },
      })
    for (const n of [1, 2, 3, 4, 5]) await read(n, n < 4 ? 1_000 : 1_000 * n)
    const page = async (query: string) =>
      accountList.parse(await (await api.get(`/solana/devnet/accounts?limit=2${query}`)).json())
    const first = await page('')
    expect(first.accounts).toEqual([
      { address: base58.encode(key32(5)), read_at: '1970-01-01T00:00:05.000Z' },
      { address: base58.encode(key32(4)), read_at: '1970-01-01T00:00:04.000Z' },
    ])
    await read(4, 9_000)
    const second = await page(`&before=${first.before}`)
    const third = await page(`&before=${second.before}`)
    const rest = [second, third].map(({ accounts }) => accounts.map(({ address }) => base58.decode(address)[0]))
    expect([rest, third.before]).toEqual([[[3, 2], [1]], null])
    expect(await (await api.get('/solana/mainnet/accounts')).json()).toEqual({
      ...{ network: 'mainnet', accounts: [], before: null },
    })
  })

  test('are refused without the scope ops, also where the operator opened the rest, and for what is no page', async () => {
    await serve({ settings: { opsOpen: true } })
    expect((await fetch(`${api.url}/chains/eth/contracts`)).status).toBe(200)
    expect((await fetch(`${api.url}/solana/mainnet/accounts`)).status).toBe(401)
    const reader = await keyWith({ scopes: ['portfolio'] })
    expect((await send('GET', '/solana/mainnet/accounts', undefined, reader)).status).toBe(403)
    for (const [query, parameter] of [
      ['moon/accounts', 'network'],
      ['mainnet/accounts?before=5', 'before'],
      [`mainnet/accounts?before=5-${'l'.repeat(40)}`, 'before'],
      ['mainnet/accounts?limit=0', 'limit'],
    ])
      expect(await (await api.get(`/solana/${query}`)).json()).toMatchObject({ details: { parameter } })
  })
})

/** Reads events as a browser would. */
class EventReader {
  readonly events: { name: string; data: unknown }[] = []
  comments = 0
  ended = false
  readonly response: Response
  readonly #stop: AbortController
  readonly #reading: Promise<void>

  private constructor(response: Response, stop: AbortController) {
    this.response = response
    this.#stop = stop
    this.#reading = this.#read().catch(() => undefined)
    streams.push(this)
  }

  static async open(key = api.key): Promise<EventReader> {
    const stop = new AbortController()
    return new EventReader(
      await fetch(`${api.url}/events`, { headers: { 'x-api-key': key }, signal: stop.signal }),
      stop,
    )
  }

  of<Shape>(name: string, shape: z.ZodType<Shape>): Shape[] {
    return this.events.filter(event => event.name === name).map(({ data }) => shape.parse(data))
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#reading
  }

  async #read(): Promise<void> {
    let text = ''
    for await (const chunk of this.response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
        if (name === undefined) this.comments++
        else this.events.push({ name, data: JSON.parse(data!) })
        text = text.slice(end + 2)
      }
    }
    this.ended = true
  }
}

const chainStatus: ChainStatus = {
  state: 'live',
  index: 'full',
  from: 0,
  head: 100,
  finalized: 90,
  lag_seconds: 2,
  covered: [
    { from: 0, to: 90, evidence: 'receipts-root', scope: 'full' },
    { from: 91, to: 100, evidence: 'bloom', scope: 'full' },
  ],
  complete: true,
  eta_seconds: null,
  rates: { blocks_per_second: 1, rows_per_second: 2, bytes_per_second: 3 },
  rpc: [{ endpoint: 'node.example', healthy: true, latency_ms: 12 }],
}

describe('events', () => {
  const report = (head: number): StatusReport => ({ chains: { eth: { ...chainStatus, head } }, solana: {} })

  test('begin with the past and the state, and tell new blocks', async () => {
    let head = 100
    await serve({ parts: { status: async () => report(head) } })
    const reader = await EventReader.open()
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream')
    await expect.poll(() => reader.of('status', liveStatus).length).toBeGreaterThan(0)
    expect(reader.events[0]!.name).toBe('history')
    expect(reader.of('status', liveStatus)[0]).toMatchObject({
      version: '0.0.0-test',
      store: { engine: 'sqlite' },
      chains: { eth: { head: 100, coverage: { blocks: { 'receipts-root': 91, bloom: 10 } }, contracts: { total: 0 } } },
    })
    expect(reader.of('block', liveBlock)).toEqual([])
    head = 101
    await expect.poll(() => reader.of('block', liveBlock)).toEqual([{ chain: 'eth', number: 101 }])
    await expect.poll(() => reader.of('sample', liveSample).length).toBeGreaterThan(1)

    const late = await EventReader.open()
    await expect.poll(() => late.of('history', livePast)[0]?.at.length).toBeGreaterThan(1)
    const { at, lines } = late.of('history', livePast)[0]!
    expect(lines.map(({ measure }) => measure)).toEqual([
      'requests_per_second',
      'errors_per_second',
      'lag_seconds',
      'blocks_per_second',
      'rows_per_second',
      'healthy',
      'latency_ms',
    ])
    for (const { values } of lines) expect(values).toHaveLength(at.length)
  })

  test('tell of the requests of clients: how many, how fast, and with which key', async () => {
    await serve()
    const secret = await keyWith({ scopes: ['ops', 'nft-transfers'] })
    for (let times = 0; times < 5; times++) await api.get('/api/v2.2/web3/version', { 'x-api-key': secret })
    expect((await api.get('/api/v2.2/nft/0x12/transfers', { 'x-api-key': secret })).status).toBe(400)
    // What operators ask for is not counted, nor what the console does; a key that cannot use it is a client's anywhere.
    for (let times = 0; times < 50; times++) await api.get('/status')
    const ownPage = { 'sec-fetch-site': 'same-origin' }
    for (let times = 0; times < 50; times++) await api.get('/api/v2.2/web3/version', ownPage)
    const shop = await keyWith({ name: 'shop', scopes: ['nft-transfers'] })
    await api.get('/api/v2.2/web3/version', { ...ownPage, 'x-api-key': shop })
    // What no key is admitted to is refused, and no request of the day, of the minute or of the plots.
    for (let times = 0; times < 50; times++) await api.get('/api/v2.2/web3/version', { 'x-api-key': 'unknown' })
    for (let times = 0; times < 3; times++)
      expect((await api.get(`/api/v2.2/0x${'12'.repeat(20)}/balance`, { 'x-api-key': shop })).status).toBe(403)
    const reader = await EventReader.open(secret)
    const told = () => reader.of('status', liveStatus).at(-1)?.api
    await expect.poll(() => told()?.keys[0]?.name, { timeout: 8_000 }).toBe('giver')
    const { requests_per_second: requests, refused_per_second: refused, ...figures } = told()!
    expect(requests).toBeGreaterThan(0)
    expect(requests).toBeLessThanOrEqual(7)
    expect(refused).toBeGreaterThan(requests)
    expect(figures.errors_per_second).toBe(0)
    expect(figures.p99_ms!).toBeGreaterThanOrEqual(figures.p50_ms!)
    await expect.poll(() => told()?.requests_today, { timeout: 20_000 }).toBe(7)
    expect(told()).toMatchObject({
      keys_used_today: 2,
      keys: [{ name: 'giver' }, { name: 'shop', today: 1, refused_last_hour: 3 }],
    })
    const { keys } = keyList.parse(await (await api.get('/keys')).json())
    expect(keys.find(({ name }) => name === 'test')).toMatchObject({ requests_today: 0 })
    // The quota counts all of them.
    expect(keys.find(({ name }) => name === 'test')!.used_today).toBeGreaterThanOrEqual(100)
    expect(keys.find(({ name }) => name === 'shop')).toMatchObject({
      ...{ requests_today: 1, used_today: 1, last_used_on: new Date().toISOString().slice(0, 10) },
    })
  })

  test('say when the status cannot be read, without its insides', async () => {
    await serve({ parts: { status: () => Promise.reject(new Error('/secret/path')) } })
    const reader = await EventReader.open()
    const trouble = z.object({ message: z.string() })
    await expect.poll(() => reader.of('trouble', trouble)[0]?.message).toBe('The status cannot be read (internal).')
  })

  test('end once the key is revoked', async () => {
    await serve()
    const secret = await keyWith({})
    const reader = await EventReader.open(secret)
    await expect.poll(() => reader.events.length).toBeGreaterThan(0)
    const key = (await api.store.keys()).find(({ name }) => name === 'giver')!
    await api.store.endKey(key.id, { revokedAt: Date.now() })
    await expect.poll(() => reader.ended).toBe(true)
    expect(reader.events.at(-1)!.name).toBe('unauthorized')
    expect((await EventReader.open(secret)).response.status).toBe(401)
  })

  test('end with the service, which does not wait for them', async () => {
    await serve()
    const reader = await EventReader.open()
    await expect.poll(() => reader.events.length).toBeGreaterThan(0)
    await api.close()
    await expect.poll(() => reader.ended).toBe(true)
    await serve()
  })

  const opened = async (count: number, key?: string) => {
    const readers = await Promise.all(Array.from({ length: count }, () => EventReader.open(key)))
    expect(readers.every(({ response }) => response.ok)).toBe(true)
    return readers
  }

  test('are for a bounded number of clients, and those who leave make room', async () => {
    await serve()
    const [reader] = await opened(16)
    for (let others = 0; others < 3; others++) await opened(16, await keyWith({}))
    const refused = await EventReader.open(await keyWith({}))
    expect(refused.response.status).toBe(503)
    expect(refused.response.headers.get('retry-after')).toBe('10')
    await reader!.close()
    await expect.poll(async () => (await EventReader.open()).response.status).toBe(200)
  })

  test('are refused to a key that has many of them, and not to other keys', async () => {
    await serve()
    await opened(16)
    expect((await EventReader.open()).response.status).toBe(503)
    await opened(1, await keyWith({}))
  })

  test('that need no key are bounded by address, and leave room for keys', async () => {
    await serve({ settings: { opsOpen: true } })
    await opened(16, '')
    expect((await EventReader.open('')).response.status).toBe(503)
    await opened(16)
    const wrong = await EventReader.open('not a key')
    expect(wrong.response.status).toBe(503)
  })

  test('that need no key never take the last places', async () => {
    const live = new LiveFeed({ status: async () => report(1), store: api.store, version: '0' })
    const listener = { hear: () => undefined, end: () => undefined }
    for (let at = 0; at < 48; at++) live.listen({ owner: { address: `10.0.0.${at}` }, ...listener })
    expect(() => live.listen({ owner: { address: '10.0.1.1' }, ...listener })).toThrow('full')
    for (let at = 0; at < 16; at++) live.listen({ owner: { key: 'a' }, ...listener })
    expect(() => live.listen({ owner: { key: 'b' }, ...listener })).toThrow('full')
    live.close()
    await serve()
  })

  test('leave nothing behind of a client that finds no room', async () => {
    let checks = 0
    const gatekeeper: Gatekeeper = {
      admit: () => ({ key: {} as KeyRecord, rateLimit: undefined, isConsole: false }),
      spend: async () => undefined,
      stillHolds: async () => {
        checks++
        return true
      },
    }
    const status = async () => report(1)
    const live = new LiveFeed({ status, store: { info: () => api.store.info() }, version: '0', listenersMax: 0 })
    await serve({ parts: { live, gatekeeper } })
    expect((await EventReader.open()).response.status).toBe(503)
    await delay(2 * keyCheckMs)
    live.close()
    expect(checks).toBe(0)
  })

  test('end with the client, and wait for one that reads slowly', async () => {
    let listening = 0
    let hear: ((event: LiveEvent) => void) | undefined
    const live = {
      listen(listener: { hear: (event: LiveEvent) => void }) {
        listening++
        hear = listener.hear
        return () => listening--
      },
    } as unknown as LiveFeed
    const text = 'x'.repeat(100_000)
    await serve({ parts: { live } })
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    socket.write(`GET /events HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\n\r\n`)
    await expect.poll(() => listening).toBe(1)
    // Less than is kept for a client that lags, and more than the system takes for it.
    for (let sent = 0; sent < 30; sent++) hear!({ name: 'trouble', data: { message: text } })
    await delay(50)
    let bytes = 0
    socket.on('data', chunk => {
      bytes += chunk.length
    })
    await expect.poll(() => bytes).toBeGreaterThan(30 * text.length)
    expect(listening).toBe(1)
    socket.destroy()
    await expect.poll(() => listening).toBe(0)
  })

  test('need the scope ops', async () => {
    await serve()
    expect((await fetch(`${api.url}/events`)).status).toBe(401)
    expect((await EventReader.open(await keyWith({ scopes: ['portfolio'] }))).response.status).toBe(403)
    expect((await api.get('/events', {}, 'HEAD')).status).toBe(200)
  })
})

describe('files', () => {
  const plain = Buffer.from('export const almanac = 1\n'.repeat(100))
  const script: StaticFile = {
    type: 'text/javascript; charset=utf-8',
    tag: 'W/"abc"',
    immutable: true,
    plain,
    br: brotliCompressSync(plain),
  }

  test('come compressed, with a tag, and the hashed ones for good', async () => {
    await serve({ parts: { console: new Map([['/assets/a.js', script]]) } })
    const raw = await fetch(`${api.url}/assets/a.js`, { headers: { 'accept-encoding': 'br' } })
    expect(raw.headers.get('content-encoding')).toBe('br')
    expect(raw.headers.get('content-length')).toBe(`${script.br!.length}`)
    expect(raw.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(brotliDecompressSync(script.br!).equals(plain)).toBe(true)
    expect(await raw.text()).toBe(plain.toString())
    const known = await fetch(`${api.url}/assets/a.js`, { headers: { 'if-none-match': 'W/"abc"' } })
    expect(known.status).toBe(304)
    expect(await known.text()).toBe('')
    const identity = await fetch(`${api.url}/assets/a.js`, { headers: { 'accept-encoding': 'identity' } })
    expect(identity.headers.get('content-encoding')).toBeNull()
  })

  test('allow nothing from elsewhere', async () => {
    await serve({
      parts: { console: new Map([['/', { ...script, type: 'text/html; charset=utf-8', immutable: false }]]) },
    })
    const page = await fetch(api.url)
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const policy = page.headers.get('content-security-policy')!.split('; ')
    expect(policy[0]).toBe("default-src 'none'")
    for (const rule of policy) expect(rule).not.toMatch(/https?:|\*|unsafe|blob:/)
  })

  test('a page of the documentation that is not there is a page to a browser, and an error to others', async () => {
    const missing = { ...script, type: 'text/html; charset=utf-8', plain: Buffer.from('<h1>Page not found</h1>') }
    await serve({ parts: { docs: new Map([['/docs/404.html', async () => missing]]) } })
    const page = await fetch(`${api.url}/docs/guides/nope.html`, {
      headers: { accept: 'text/html,*/*;q=0.8', 'accept-encoding': 'identity' },
    })
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('vary')).toContain('Accept,')
    expect(await page.text()).toBe('<h1>Page not found</h1>')
    const error = await fetch(`${api.url}/docs/nope`)
    expect(error.status).toBe(404)
    expect(await error.json()).toMatchObject({ message: 'There is nothing at /docs/nope; see /docs' })
  })

  test('the name of an operation behind /reference leads to it', async () => {
    await serve({})
    const asked = (name: string) => fetch(`${api.url}/reference/${name}`, { redirect: 'manual' })
    const led = await asked('getNFTOwners')
    expect([led.status, led.headers.get('location')]).toEqual([308, '/reference#/getNFTOwners'])
    expect((await asked('getNothing.md')).status).toBe(404)
  })

  test('a page of the documentation is found without its ending, and is Markdown with that of its source', async () => {
    const markdown = { ...script, type: 'text/markdown; charset=utf-8' }
    const names = ['html', 'md'].map(ending => `/docs/guides/moving.${ending}`)
    await serve({ parts: { docs: new Map(names.map(name => [name, async () => markdown])) } })
    expect((await fetch(api.url + names[1])).status).toBe(200)
    for (const path of ['/docs/guides/moving', '/docs/guides/moving/']) {
      const answer = await fetch(api.url + path, { redirect: 'manual' })
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 308, '/docs/guides/moving.html'])
    }
  })

  test('where the console was not built, its place says so', async () => {
    await serve()
    for (const path of ['/', '/reference']) {
      const answer = await api.get(path)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({
        message: 'The console is not built here: run `npm run build:console` and start again, or read /openapi.json',
      })
    }
    const docs = await api.get('/docs')
    expect(docs.status).toBe(404)
    expect(await docs.json()).toMatchObject({
      message: 'The documentation is not built here: run `npm run docs` and start again',
    })
  })
})
