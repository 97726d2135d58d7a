// Random requests, valid and hostile, over every parameter: never a 5xx, never an unhandled rejection, memory flat.
// ALMANAC_FUZZ_RUNS sets how many.
import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as schemas from '../src/api/schemas.ts'
import type { Hash } from '../src/model.ts'
import { type OpenApi, sendHostile } from './hostile-requests.ts'
import { rawRequest } from './raw-request.ts'
import { propertyRuns } from './release-runs.ts'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const runs = Number(process.env.ALMANAC_FUZZ_RUNS ?? propertyRuns(3_000))

let api: ServedApi
const unhandled: unknown[] = []
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
const remember = (reason: unknown) => unhandled.push(reason)

beforeAll(async () => {
  process.on('unhandledRejection', remember)
  // Without a Solana node an unread account is 503 by contract; here one answers that there is no such account.
  api = await serveApi({
    fill: seed,
    settings: { answerCacheBytes: 2 * 1024 * 1024 },
    parts: {
      freshen: {
        portfolio: async (network, owner) => {
          if ((await api.store.portfolioOf(network, owner)) !== undefined) return undefined
          await api.store.updateAccounts(network, {
            reading: { account: { owner, lamports: 0n, slot: 1, chainTime: 0, readAtMs: Date.now() }, holdings: [] },
          })
          return undefined
        },
        mint: async () => ({ slot: 1, readAtMs: Date.now(), facts: null }),
        balances: async ({ block = 7, wallets }) => ({
          ...{ block, hash: `0x${'0'.repeat(64)}` as Hash, timestamp: 6 },
          balances: wallets.map(() => '5'),
        }),
      },
    },
  })
})
afterAll(async () => {
  agent.destroy()
  await api.close()
  process.off('unhandledRejection', remember)
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1.5',
    '1e309',
    'NaN',
    'Infinity',
    '-0',
    '0x',
    '0x0',
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    "' OR 1=1 --",
    '"; DROP TABLE transfers; --',
    '%',
    '%%',
    '%00',
    '%0d%0aX-Injected: yes',
    '\r\nX-Injected: yes',
    '\0',
    '../../etc/passwd',
    '..%2f..%2f',
    '__proto__',
    'constructor',
    '\ud800',
    '🦄',
    '\u202e',
    '٣',
    '9'.repeat(400),
    'a'.repeat(5_000),
    '1970-01-01T00:00:00+99:99',
    '+275760-09-13T00:00:00.001Z',
    'Sat, 31 Feb 2022 25:61:61 +9999',
  ),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
)

const valid = {
  address: fc.constantFrom(seeded.collection, seeded.editions, seeded.range, seeded.deeds, seeded.silent, seeded.alice),
  chain: fc.constantFrom('eth', 'polygon', '0x1', '0x89', '137', 'bsc testnet', 'palm', 'ETH'),
  whole: fc.oneof(fc.nat(25_000), fc.maxSafeNat()).map(String),
  date: fc.oneof(
    fc.integer({ min: 1_599_900_000, max: 1_600_300_000 }).map(String),
    fc
      .date({ min: new Date('2020-09-13'), max: new Date('2020-09-17'), noInvalidDate: true })
      .map(date => date.toISOString()),
  ),
}
const cursor = fc.constantFrom('', 'REAL')
const mostly = <Value>(usual: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: hostile }) as fc.Arbitrary<string>

const parameter = fc.oneof(
  fc.tuple(fc.constant('chain'), mostly(valid.chain)),
  fc.tuple(fc.constantFrom('from_block', 'to_block', 'limit'), mostly(valid.whole)),
  fc.tuple(fc.constantFrom('from_date', 'to_date'), mostly(valid.date)),
  fc.tuple(fc.constant('format'), mostly(fc.constantFrom('decimal', 'hex'))),
  fc.tuple(fc.constant('order'), mostly(fc.constantFrom('ASC', 'DESC', 'asc'))),
  fc.tuple(fc.constant('disable_total'), mostly(fc.constantFrom('true', 'false'))),
  fc.tuple(fc.constant('cursor'), mostly(cursor)),
  fc.tuple(fc.constantFrom('wallet_addresses', 'wallet_addresses[]'), mostly(valid.address)),
  fc.tuple(fc.constantFrom('chains', 'chains[]', 'chains[0]', 'chains[9]', 'chains[x]'), mostly(valid.chain)),
  fc.tuple(hostile, hostile),
)
/** How a name or value is written into the URL: as clients do, half, or hardly at all. */
const spelling = fc.constantFrom(
  (text: string) => encodeURIComponent(text.toWellFormed()),
  (text: string) => encodeURI(text.toWellFormed()),
  (text: string) => text.replace(/[^\x21-\x7e]/g, '%').replaceAll('#', ''),
)
const version = fc.constantFrom('v2', 'v2.1', 'v2.2')
const path: fc.Arbitrary<string[]> = fc.oneof(
  fc.tuple(version, mostly(valid.address)).map(([v, address]) => ['api', v, 'nft', address, 'transfers']),
  fc.tuple(version, mostly(valid.address)).map(([v, address]) => ['api', v, 'wallets', address, 'chains']),
  fc
    .tuple(mostly(fc.constantFrom('mainnet', 'devnet')), mostly(fc.constant(seeded.solanaOwner)))
    .chain(([network, address]) =>
      fc.constantFrom(
        ...['portfolio', 'balance', 'tokens', 'nft'].map(name => ['account', network, address, name]),
        ...['nft', 'token'].map(kind => [kind, network, address, 'metadata']),
      ),
    ),
  fc.tuple(version, mostly(valid.address)).map(([v, address]) => ['api', v, address, 'balance']),
  fc.tuple(version).map(([v]) => ['api', v, 'wallets', 'balances']),
  fc.array(hostile, { maxLength: 4 }),
  fc.constantFrom<string[][]>(
    ['health'],
    ['ready'],
    ['status'],
    ['metrics'],
    ['openapi.json'],
    ['llms.txt'],
    ['reference'],
  ),
)
const headerText = fc.oneof(
  fc.constantFrom(
    'gzip',
    'br, gzip;q=0.5',
    'application/problem+json',
    '*',
    'W/"x"',
    'NodeJS SDK',
    'https://x.example',
  ),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }).map(text => text.replace(/[^\x20-\x7e]/g, '~')),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'accept',
    'accept-encoding',
    'if-none-match',
    'origin',
    'x-request-id',
    'x-moralis-platform',
    'range',
  ),
  headerText,
  { maxKeys: 3 },
)
const asked = fc.record({
  path,
  query: fc.array(parameter, { maxLength: 6 }),
  spelling,
  headers,
  method: fc.oneof(
    { weight: 9, arbitrary: fc.constant('GET') },
    fc.constantFrom('HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'),
  ),
  key: fc.oneof({ weight: 12, arbitrary: fc.constant('REAL') }, fc.constantFrom('', 'wrong', 'x'.repeat(300))),
})

type Received = { status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }

function send(method: string, target: string, given: Record<string, string>): Promise<Received> {
  const { hostname, port } = new URL(api.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path: target, headers: given, agent }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('hostile requests', () => {
  test(
    `get an answer and never a 5xx (${runs} of them)`,
    async () => {
      let realCursor = ''
      let heapAtStart = 0
      let count = 0
      const statuses = new Map<number, number>()
      await fc.assert(
        fc.asyncProperty(asked, async given => {
          const spell = given.spelling
          const query = given.query.map(
            ([name, value]) => `${spell(name)}=${value === 'REAL' ? realCursor : spell(value)}`,
          )
          const target = `/${given.path.map(spell).join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`
          const key = given.key === 'REAL' ? api.key : given.key
          const answer = await send(given.method, target, { ...given.headers, 'x-api-key': key })
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          expect(answer.status).toBeLessThan(500)
          expect(answer.headers['x-request-id']).toMatch(/./)
          expect(answer.headers).not.toHaveProperty('x-injected')
          if (answer.status === 400 && given.method === 'GET') checkRefusal(answer)
          realCursor = cursorOf(answer) ?? realCursor
          if (++count === Math.floor(runs / 4)) heapAtStart = heapUsed()
        }),
        { numRuns: runs },
      )
      expect(statuses.get(200)).toBeGreaterThan(runs / 20)
      expect(statuses.get(400)).toBeGreaterThan(runs / 20)
      expect(unhandled).toEqual([])
      // Caches fill during the first quarter; afterwards the heap may not grow with the number of requests.
      expect(heapUsed() - heapAtStart).toBeLessThan(16 * 1024 * 1024)
    },
    Math.max(120_000, runs * 20),
  )

  test('in raw bytes leave the service in order', async () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.constantFrom(
        'GET / HTTP/1.1',
        'GET  /health  HTTP/1.1',
        'GET /health HTTP/9.9',
        'get /health HTTP/1.1',
        'Host: x',
        'Host: ',
        'Host: x, y',
        'Content-Length: 5',
        'Content-Length: -1',
        'Transfer-Encoding: chunked',
        'Transfer-Encoding: gzip, chunked',
        'Upgrade: websocket',
        'Connection: upgrade',
        'Expect: 100-continue',
        ': no name',
        '',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), async lines => {
        const answer = await rawRequest(api.url, `${lines.join('\r\n')}\r\n\r\n0\r\n\r\n`).catch(noAnswer)
        // HTTP of another version is refused with 505.
        if (answer.status !== 505) expect(answer.status).toBeLessThan(500)
        if (answer.status >= 400) expect(answer.headers.get('x-request-id')).toMatch(/./)
      }),
      { numRuns: Math.max(50, Math.floor(runs / 50)) },
    )
    expect((await api.get('/health')).status).toBe(200)
    expect(unhandled).toEqual([])
  }, 120_000)
})

test(
  'hostile requests that are made from the OpenAPI document get an answer and no error of the service',
  async () => {
    const document = (await (await api.get('/openapi.json')).json()) as OpenApi
    const count = Math.floor(runs / 3)
    const statuses = await sendHostile({ url: api.url, key: api.key, document, count, seed: Date.now() })
    expect(statuses.failures).toEqual([])
    expect(statuses.answers.get(200)).toBeGreaterThan(count / 20)
    expect(statuses.answers.get(400)).toBeGreaterThan(count / 20)
    expect(unhandled).toEqual([])
  },
  Math.max(120_000, runs * 20),
)

/** A request that never ends, such as one whose body is not sent, is left waiting: that is its time-out's matter. */
function noAnswer() {
  return { status: 0, headers: new Map<string, string>(), body: '', text: '' }
}

function checkRefusal({ headers: received, body }: Received): void {
  const parsed = JSON.parse(body.toString())
  const isProblem = received['content-type'] === 'application/problem+json'
  const { request_id } = isProblem ? schemas.problem.parse(parsed) : schemas.failure.parse(parsed)
  expect(received['x-request-id']).toBe(request_id)
  expect(body.length).toBeLessThan(4_000)
}

function cursorOf({ status, headers: received, body }: Received): string | undefined {
  if (status !== 200 || received['content-encoding'] !== undefined || body.length === 0) return undefined
  return /"cursor":"([^"]+)"/.exec(body.toString('latin1', 0, 400))?.[1]
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapUsed(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
