// The memory that answers are written in comes back to exactly zero, whatever way a request ends.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi
/** How long an indexer takes: requests for the deeds wait for it. */
const indexingMs = 150

beforeAll(async () => {
  const contract = async () => {
    await delay(indexingMs)
    return false
  }
  api = await serveApi({
    fill: seed,
    settings: { pageSizeMax: 1_000, requestTimeoutMs: 100, answerCacheBytes: 0 },
    serve: { stallTimeoutMs: 300, lingerMs: 100 },
    parts: { freshen: { contract } as never },
  })
})
afterAll(() => api.close())

type Held = { lent: number; unsent: number; running: number }

async function held(): Promise<Held> {
  const text = await (await api.get('/metrics')).text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1])
  return {
    lent: value('almanac_http_lent_bytes'),
    unsent: value('almanac_http_unsent_bytes'),
    running: value('almanac_http_requests_in_flight'),
  }
}

const nothing: Held = { lent: 0, unsent: 0, running: 0 }

type Way = { method?: string; headers?: string; rest?: string; contract?: string; end: (socket: Socket) => unknown }

const read = async (socket: Socket) => {
  socket.resume()
  await once(socket, 'close')
}
const close = 'Connection: close\r\n'
const chunked = `${close}Transfer-Encoding: chunked\r\n`
const later = (ms: number) => async (socket: Socket) => {
  await delay(ms)
  socket.resetAndDestroy()
}

const ways: Record<string, Way> = {
  'an answer that is read': { headers: close, end: read },
  HEAD: { method: 'HEAD', headers: close, end: read },
  '304': { headers: `${close}If-None-Match: *\r\n`, end: read },
  'a compressed answer': { headers: `${close}Accept-Encoding: gzip\r\n`, end: read },
  'a reset before the answer': { end: later(0) },
  'a reset while it is sent': { end: later(20) },
  'a reset while it is compressed': { headers: 'Accept-Encoding: br\r\n', end: later(2) },
  'a reset while an indexer is waited for': { contract: seeded.deeds, end: later(30) },
  'a request that times out meanwhile': { contract: seeded.deeds, headers: close, end: read },
  'a client that only sent and hears nothing': {
    end: async socket => {
      socket.end()
      await delay(500)
      socket.destroy()
    },
  },
  'a client that closes its half': { end: async socket => await read(socket.end()) },
  'half a body': { headers: 'Content-Length: 10\r\n', rest: 'abc', end: later(50) },
  'a body with trailers': { headers: `${chunked}Trailer: x\r\n`, rest: '3\r\nabc\r\n0\r\nx: y\r\n\r\n', end: read },
  'a broken chunk': { headers: chunked, rest: '3\r\nabc\r\nzz\r\n', end: read },
  'a broken chunk that comes late': {
    headers: chunked,
    rest: '3\r\nabc\r\n',
    contract: seeded.deeds,
    end: async socket => {
      await delay(30)
      socket.write('zz\r\n')
      await read(socket)
    },
  },
  'nonsense after it': { rest: 'nonsense\r\n\r\n', end: read },
  'a tunnel after it': { rest: 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', end: later(20) },
  'expecting to be told to go on': { headers: `${close}Expect: 100-continue\r\nContent-Length: 1\r\n`, end: later(50) },
  'a client that never reads': { end: () => delay(600) },
}

test.each(Object.entries(ways))('%s gives everything back', async (_, way) => {
  const { method = 'GET', headers = '', rest = '', contract = seeded.collection, end } = way
  const chain = contract === seeded.deeds ? 'polygon' : 'eth'
  const { hostname, port } = new URL(api.url)
  const sockets = await Promise.all(
    Array.from({ length: 8 }, async (_each, at) => {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on('error', () => undefined).pause()
      await once(socket, 'connect')
      const target = `/api/v2/nft/${contract}/transfers?chain=${chain}&limit=1000&x=${at}`
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.key}\r\n${headers}\r\n${rest}`)
      return socket
    }),
  )
  await Promise.all(sockets.map(end))
  await expect.poll(held, { timeout: 3_000, interval: 20 }).toEqual(nothing)
  for (const socket of sockets) socket.destroy()
})
