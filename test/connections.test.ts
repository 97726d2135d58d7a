// What the listener does with connections that never become a request or never take an answer: nobody may hold a place for free.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import * as schemas from '../src/api/schemas.ts'
import { rawRequest } from './raw-request.ts'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await api.close()
})

/** A connection that this side never closes. */
function cling(bytes: string): Socket {
  const { hostname, port } = new URL(api.url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => socket.write(bytes))
  socket.on('error', () => undefined)
  sockets.push(socket)
  return socket
}

/** Resolves once the only place of the server is free again. */
async function placeIsFree(): Promise<void> {
  await expect
    .poll(async () => (await rawRequest(api.url, 'GET /health HTTP/1.0\r\n\r\n')).status, {
      timeout: 20_000,
      interval: 100,
    })
    .toBe(200)
}

test.each([
  ['no HTTP at all', 'nonsense\r\n\r\n', 400],
  ['CONNECT', 'CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
  ['headers without end', `GET / HTTP/1.1\r\nX: ${'a'.repeat(60_000)}`, 431],
])('%s is answered, and its place is free again though the client does not close', async (_, bytes, status) => {
  api = await serveApi({ serve: { connectionsMax: 1, lingerMs: 100 } })
  const [chunk] = (await once(cling(bytes), 'data')) as [Buffer]
  expect(chunk.toString('latin1')).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  await placeIsFree()
})

test('a request that does not arrive in time is answered with 408', async () => {
  api = await serveApi({ serve: { receiveTimeoutMs: 200 } })
  const answer = await rawRequest(api.url, 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  expect(answer.status).toBe(408)
  expect(answer.headers.get('connection')).toBe('close')
  expect(schemas.failure.parse(JSON.parse(answer.body))).toMatchObject({ code: 'request_timeout' })
})

test.each([
  ['asks', ''],
  ['asks for a tunnel after it', 'CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
])('a client that %s and does not take its answers loses its place', async (_, last) => {
  const serve = { connectionsMax: 1, requestTimeoutMs: 0, stallTimeoutMs: 300 }
  api = await serveApi({ fill: seed, settings: { pageSizeMax: 1_000 }, serve })
  // More than the system takes for a client that does not read.
  const request = `GET /api/v2/nft/${seeded.collection}/transfers?limit=1000 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\n\r\n`
  cling(request.repeat(32) + last).pause()
  await placeIsFree()
})

test('a client that asks for a tunnel and resets its connection ends nothing else', async () => {
  api = await serveApi()
  const { hostname, port } = new URL(api.url)
  const failures: unknown[] = []
  const hear = (error: unknown) => failures.push(error)
  process.on('uncaughtException', hear)
  for (let count = 0; count < 20; count++) {
    const socket = connect({ host: hostname, port: Number(port) })
    await once(socket, 'connect')
    socket.write('CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n')
    socket.resetAndDestroy()
  }
  await placeIsFree()
  process.off('uncaughtException', hear)
  expect(failures).toEqual([])
})

test('requests that are sent ahead are answered in order, up to 32 of them', async () => {
  api = await serveApi()
  const ahead = (count: number) =>
    Array.from({ length: count }, (_, at) => `GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: r${at}\r\n\r\n`).join('')
  const socket = cling(`${ahead(32)}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${ahead(5)}`)
  let text = ''
  for await (const chunk of socket) text += chunk.toString('latin1')
  expect([...text.matchAll(/X-Request-Id: (r\d+)/g)].map(([, id]) => id)).toEqual(
    Array.from({ length: 32 }, (_, at) => `r${at}`),
  )
  // Nothing follows the answer that closes the connection.
  expect(text.split('HTTP/1.1 200').length - 1).toBe(33)
})

test('what is not a request is refused after the answers to the requests before it', async () => {
  api = await serveApi({ fill: seed })
  const page = `GET /api/v2/nft/${seeded.collection}/transfers HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\n\r\n`
  let text = ''
  for await (const chunk of cling(`${page.repeat(3)}nonsense\r\n\r\n`)) text += chunk.toString('latin1')
  expect([...text.matchAll(/HTTP\/1.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '200', '200', '400'])
})

test('a connection that sends more ahead than may wait is closed, and the others are not', async () => {
  api = await serveApi()
  const honest = cling('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(honest, 'data')
  const greedy = cling('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000))
  greedy.on('error', error => greedy.emit('end', error))
  await once(greedy.resume(), 'end')
  honest.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(`${(await once(honest, 'data'))[0]}`).toMatch(/^HTTP\/1.1 200 /)
})

test.each([
  ['with headers of exactly the bound', `X: ${'a'.repeat(16_384 - 5 - 9)}\r\n`, 200],
  ['with a byte more', `X: ${'a'.repeat(16_384 - 4 - 9)}\r\n`, 431],
  ['with 20 kB of headers', `X: ${'a'.repeat(10_000)}\r\nY: ${'a'.repeat(10_000)}\r\n`, 431],
  ['with more headers than a parser counts', `${'a:\r\n'.repeat(3_000)}Host: y\r\n`, 400],
])('a request %s is answered with its status', async (_, headers, status) => {
  api = await serveApi()
  const answer = await rawRequest(api.url, `GET /health HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
  expect(answer.status).toBe(status)
  if (status !== 200) expect(answer.headers.get('connection')).toBe('close')
})

test.each([
  ['GET /health'],
  ['GET /health HTTP/0.9'],
  ['GET /health HTTP/2.0'],
  ['GET /health HTTP/9.9'],
  ['PRI * HTTP/2.0'],
])('%s is refused with 505', async line => {
  api = await serveApi()
  const answer = await rawRequest(api.url, `${line}\r\n\r\nSM\r\n\r\n`)
  expect([answer.status, answer.headers.get('connection')]).toEqual([505, 'close'])
  expect(schemas.failure.parse(JSON.parse(answer.body))).toMatchObject({ code: 'http_version_not_supported' })
})

test('OPTIONS of the server as a whole says what it allows', async () => {
  api = await serveApi()
  const answer = await rawRequest(api.url, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
})

test('answers on many connections at once, some cut in the middle and some taken late, never mix', async () => {
  api = await serveApi({ fill: seed, settings: { overloadRequestsMax: 1_000 } })
  const pages = [seeded.collection, seeded.editions, seeded.range].flatMap(contract =>
    Array.from(
      { length: 20 },
      (_, index) => `/api/${index % 2 ? 'v2' : 'v2.2'}/nft/${contract}/transfers?limit=${5 * index + 1}`,
    ),
  )
  const expected = new Map<string, string>()
  const identity = { 'accept-encoding': 'identity' }
  for (const page of pages) {
    const bytes = Buffer.from(await (await api.get(page, identity)).arrayBuffer())
    expected.set(page, bytes.toString('latin1'))
  }
  const shuffled = (by: number) =>
    Array.from({ length: 32 }, (_, index) => pages[(index * 7 + by * 13) % pages.length]!)
  const quick = Array.from({ length: 50 }, (_, by) => by)
  const late = Array.from({ length: 16 }, (_, by) => ask(shuffled(by)))
  await Promise.all(quick.map(by => ask(shuffled(by), by % 4 === 3 ? 30_000 : undefined).read(expected)))
  await Promise.all(late.map(walk => walk.read(expected)))
})

/** Asks for all pages in one go, as many as may wait; they come back in the same order. */
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
