// Endpoints that change under a running client: calls under way end where they are, and what waits goes elsewhere.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { ChainRpc } from './chain-rpc.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Answers each request with its own name, at once or when it is told to. */
async function server(result: string, { holds = false } = {}) {
  const held: (() => void)[] = []
  let asked = 0
  const http = createServer((request, response: ServerResponse) => {
    request.resume().on('end', () => {
      asked++
      const answer = () => response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result }))
      if (holds) held.push(answer)
      else answer()
    })
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  cleanups.push(
    () => http.closeAllConnections(),
    () => http.close(),
  )
  const connections = () => new Promise(resolve => http.getConnections((_, count) => resolve(count)))
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, held, connections, asked: () => asked }
}

const signal = new AbortController().signal
const call = [{ method: 'eth_getCode', params: [] }]

test('no call is lost when the endpoints of a client change', async () => {
  const [before, after] = [await server('0xa', { holds: true }), await server('0xb')]
  const rpc = new ChainRpc({
    chain: { name: 'sim', id: undefined },
    endpoints: [{ url: before.url, requestsPerSecond: 2 }],
  })
  cleanups.push(() => rpc.close())
  const named = rpc.endpoints
  // Two are under way, and the others wait for the rate.
  const asked = Array.from({ length: 6 }, () => rpc.ask(call, { signal }))
  await vi.waitFor(() => expect(before.held).toHaveLength(2), { timeout: 60_000 })
  rpc.setEndpoints([{ url: after.url }])
  expect(rpc.endpoints).not.toBe(named)
  const moved = await Promise.all(asked.slice(2))
  expect(moved.map(({ values }) => values[0])).toEqual(['0xb', '0xb', '0xb', '0xb'])
  for (const answer of before.held) answer()
  const stayed = await Promise.all(asked.slice(0, 2))
  expect(stayed.map(({ values }) => values[0])).toEqual(['0xa', '0xa'])
  // Then its connections go.
  await vi.waitFor(async () => expect(await before.connections()).toBe(0), { timeout: 60_000 })
  expect(before.asked()).toBeLessThan(6)
})

test('an endpoint that stays keeps what was learnt of it', async () => {
  const [one, two] = [await server('0xa'), await server('0xb')]
  const rpc = new ChainRpc({ chain: { name: 'sim', id: undefined }, endpoints: [{ url: one.url }] })
  cleanups.push(() => rpc.close())
  await rpc.ask(call, { signal })
  rpc.setEndpoints([{ url: two.url }, { url: one.url }])
  expect(rpc.status().map(({ requests }) => requests)).toEqual([0, 1])
  rpc.setEndpoints([{ url: one.url, requestsPerSecond: 9 }])
  expect(rpc.status().map(({ requests }) => requests)).toEqual([0])
})
