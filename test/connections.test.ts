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

test('a client that asks and does not take its answers loses its place', async () => {
  api = await serveApi({ fill: seed, serve: { connectionsMax: 1, requestTimeoutMs: 0, stallTimeoutMs: 300 } })
  const request = `GET /api/v2/nft/${seeded.collection}/transfers HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\n\r\n`
  cling(request.repeat(300)).pause()
  await placeIsFree()
})

test('OPTIONS of the server as a whole says what it allows', async () => {
  api = await serveApi()
  const answer = await rawRequest(api.url, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
})

test('answers on many connections at once, some cut in the middle and some taken late, never mix', async () => {
  api = await serveApi({ fill: seed })
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
