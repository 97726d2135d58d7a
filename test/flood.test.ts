// Clients that ask for much and take nothing, against the service in a process of its own: its memory and its other
// clients stay as they are.
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openStore } from '../src/store/open.ts'
import { type RunningAlmanac, startAlmanac } from './running-almanac.ts'
import { seed, seeded } from './seed.ts'

const key = 'a-key-for-the-flood'
const megabyte = 1_000_000
let folder: string
let almanac: RunningAlmanac
const sockets: Socket[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-flood-'))
  const url = `file:${join(folder, 'store.db')}`
  const store = await openStore(url, { role: 'owner' })
  await seed(store)
  await store.close()
  almanac = await startAlmanac({ store: url, key })
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  await almanac.stop()
  await rm(folder, { recursive: true })
})

/** Sends the same request many times on each of many connections and reads no answer. */
function flood(request: string, { connections, times }: { connections: number; times: number }): void {
  const { hostname, port } = new URL(almanac.url)
  const bytes = Buffer.from(request.repeat(times))
  for (let count = 0; count < connections; count++) {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes)).pause()
    socket.on('error', () => undefined)
    sockets.push(socket)
  }
}

/** What the process has in memory now, or the most that it had. */
function residentBytes(kind: 'VmRSS' | 'VmHWM'): number {
  const text = readFileSync(`/proc/${almanac.processId}/status`, 'utf8')
  return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(text)![1]) * 1_024
}

/** The longest that an honest client waits for an answer within the time. */
async function longestWaitMs(target: string, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs
  let longest = 0
  while (performance.now() < endMs) {
    const askedMs = performance.now()
    const answer = await fetch(almanac.url + target, { headers: { 'x-api-key': key } })
    await answer.arrayBuffer()
    longest = Math.max(longest, performance.now() - askedMs)
    await delay(20)
  }
  return longest
}

const pages = `GET /api/v2/nft/${seeded.collection}/transfers HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`

test('a busy service answers all of 32 clients that ask again and again', async () => {
  const { hostname, port } = new URL(almanac.url)
  const statuses = new Set<string>()
  const endMs = performance.now() + 2_500
  // Bodies would keep this process as busy as the service.
  const ask = (client: number, page: number) =>
    pages.replace('GET', 'HEAD').replace('transfers', `transfers?limit=100&x=${client}.${page}`)
  const loop = async (client: number) => {
    const socket = connect({ host: hostname, port: Number(port) })
    sockets.push(socket)
    let page = 0
    socket.write(ask(client, page++))
    for await (const chunk of socket) {
      statuses.add(chunk.toString('latin1', 9, 12))
      if (performance.now() > endMs) return
      socket.write(ask(client, page++))
    }
  }
  await Promise.all(Array.from({ length: 32 }, (_, client) => loop(client)))
  expect([...statuses]).toEqual(['200'])
})

test.runIf(process.platform === 'linux').each([
  ['without a key', 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n', { connections: 200, times: 1_500 }],
  ['with a key', pages, { connections: 500, times: 400 }],
  ['of as many requests as a connection may have waiting', pages, { connections: 500, times: 32 }],
])('pipelining %s costs less than 150 MB, and others are answered', async (_, request, size) => {
  // Forgets the most that it ever had.
  writeFileSync(`/proc/${almanac.processId}/clear_refs`, '5')
  const before = residentBytes('VmRSS')
  flood(request, size)
  // Without bounds it waits for six seconds and more. Other suites run beside this one.
  expect(await longestWaitMs('/health', 1_500)).toBeLessThan(4_000)
  expect((residentBytes('VmHWM') - before) / megabyte).toBeLessThan(150)
})
