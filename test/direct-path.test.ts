// The short way past the framework answers as the long way does, to the byte; and bodies that are lent never mix.
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rawRequest } from './raw-request.ts'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi
let taken = 0

beforeAll(async () => {
  api = await serveApi({ fill: seed, settings: { corsOrigins: ['https://a.example'] } })
  const { direct } = api.app
  api.app.direct = (incoming, outgoing) => {
    const isTaken = direct(incoming, outgoing)
    if (isTaken) taken++
    return isTaken
  }
})

afterAll(async () => await api.close())

const transfers = (contract: string, query: string, version = 'v2') =>
  `/api/${version}/nft/${contract}/transfers${query}`

const targets = [
  transfers(seeded.collection, '?limit=3&disable_total=false'),
  transfers(seeded.collection, '?limit=3&format=hex&order=ASC', 'v2.2'),
  transfers(seeded.editions.toUpperCase().replace('0X', '0x'), '/?chain=eth', 'v2.1'),
  transfers(seeded.range, '?limit=100'),
  transfers(seeded.collection, '?limit=none'),
  transfers(seeded.collection, '?from_date=2022-12-10T00:00:00.000Z&limit='),
  transfers('0x12', ''),
  `/api/v2.2/wallets/${seeded.alice}/chains?chains[0]=eth&chains[1]=0x89`,
  `/api/v2/wallets/${seeded.bob}/chains`,
  '/account/mainnet/EJpLyTeE8XHG9CeREeHd6pr6hNhaRnTRJx4Z5DPhEJJ6/portfolio',
  '/account/nowhere/EJpLyTeE8XHG9CeREeHd6pr6hNhaRnTRJx4Z5DPhEJJ6/portfolio',
]

const headers = fc.record(
  {
    'X-API-Key': fc.constantFrom('', 'wrong'),
    Origin: fc.constantFrom('https://a.example', 'https://b.example'),
    Accept: fc.constantFrom('application/json', 'application/problem+json'),
    'Accept-Encoding': fc.constantFrom('gzip', 'br', 'identity', 'gzip;q=0'),
    'If-None-Match': fc.constantFrom('*', 'W/"x"'),
    'X-Moralis-Platform': fc.constant('JS SDK'),
  },
  { requiredKeys: [] },
)

/** Everything that differs from one answer to the next by itself is left out. */
async function answerTo(method: string, target: string, given: Record<string, string>) {
  const lines = Object.entries({ Host: 'localhost', 'X-API-Key': api.key, Connection: 'close', ...given })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const answer = await rawRequest(api.url, `${method} ${target} HTTP/1.1\r\n${head}\r\n`)
  const body = answer.body.replace(/"request_id":"[^"]*"/, '')
  // The ids of requests grow longer, and bodies that hold one with them.
  if (body !== answer.body) answer.headers.set('content-length', `${body.length}`)
  const kept = [...answer.headers].filter(([name]) => !['date', 'age', 'x-request-id'].includes(name)).sort()
  return { status: answer.status, headers: kept.filter(([name]) => name !== 'content-length' || body !== ''), body }
}

test('plain requests for the operations are answered past the framework, as the framework would', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'HEAD'),
      fc.constantFrom(...targets),
      headers,
      async (method, target, given) => {
        const before = taken
        const direct = await answerTo(method, target, given)
        expect(taken).toBe(before + 1)
        // A request that may have a body is not a plain one.
        const framework = await answerTo(method, target, { ...given, 'Content-Length': '0' })
        expect(taken).toBe(before + 1)
        expect(direct).toEqual(framework)
      },
    ),
    { numRuns: 150 },
  )
})

test.each([
  ['POST', transfers(seeded.collection, ''), 'localhost', 405],
  ['GET', transfers(seeded.collection, '?limit=%31'), 'localhost', 200],
  ['GET', transfers(seeded.collection, '?limit=1#x'), 'localhost', 200],
  ['GET', `/api/v2/../v2/nft/${seeded.collection}/transfers`, 'localhost', 200],
  ['GET', `/api/v2/nft/%30x${seeded.collection.slice(2)}/transfers`, 'localhost', 200],
  ['GET', `/api/v2/nft/${seeded.collection}/transfers/more`, 'localhost', 404],
  ['GET', transfers(seeded.collection, ''), '[', 400],
  ['GET', transfers(seeded.collection, ''), 'a:99999', 400],
  ['GET', '/health', 'localhost', 200],
])('%s %s of host %s is left to the framework', async (method, target, host, status) => {
  const before = taken
  expect((await answerTo(method, target, { Host: host })).status).toBe(status)
  expect(taken).toBe(before)
})

test('answers on many connections at once, some cut in the middle and some taken late, never mix', async () => {
  const pages = [seeded.collection, seeded.editions, seeded.range].flatMap(contract =>
    Array.from({ length: 20 }, (_, index) => transfers(contract, `?limit=${5 * index + 1}`, index % 2 ? 'v2' : 'v2.2')),
  )
  const expected = new Map<string, string>()
  for (const page of pages) expected.set(page, (await answerTo('GET', page, { 'Content-Length': '0' })).body)
  const shuffled = (by: number, count: number) =>
    Array.from({ length: count }, (_, index) => pages[(index * 7 + by * 13) % pages.length]!)
  const quick = Array.from({ length: 8 }, (_, by) => by)
  // More than the system takes for a client that does not read, so that bodies wait in the server meanwhile.
  const late = [shuffled(1, 800), shuffled(2, 800)].map(order => ask(order))
  await Promise.all(quick.map(by => ask(shuffled(by, 200), by % 4 === 3 ? 30_000 : undefined).read(expected)))
  await Promise.all(late.map(walk => walk.read(expected)))
})

/** Asks for all pages in one go; they come back in the same order. */
function ask(pages: readonly string[], leaveAfterBytes = Number.POSITIVE_INFINITY) {
  const { hostname, port } = new URL(api.url)
  const socket = connect({ host: hostname, port: Number(port) })
  const once = () => Math.random().toString(36).slice(2)
  socket.write(
    pages.map(page => `GET ${page}&x=${once()} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\n\r\n`).join(''),
  )
  return {
    async read(expected: ReadonlyMap<string, string>): Promise<void> {
      let text = ''
      let bytes = 0
      let next = 0
      for await (const chunk of socket) {
        text += chunk.toString('latin1')
        bytes += chunk.length
        if (bytes > leaveAfterBytes) return
        for (let end = wholeAnswer(text); end !== undefined; end = wholeAnswer(text)) {
          const body = text.slice(text.indexOf('\r\n\r\n') + 4, end)
          if (body !== expected.get(pages[next]!)) expect(body).toBe(expected.get(pages[next]!))
          text = text.slice(end)
          next++
        }
        if (next === pages.length) socket.end()
      }
      expect(next).toBe(pages.length)
    },
  }
}

/** Where the first answer ends, if it is whole. */
function wholeAnswer(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  const length = Number(/content-length: *(\d+)/i.exec(text)?.[1])
  return head === -1 || text.length < head + 4 + length ? undefined : head + 4 + length
}
