// The feed of heads against a simulated node: it says "look now", comes back after a cut, and notices silence.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { HeadsFeed, type HeadsOptions } from './heads.ts'

let node: SimNode
let feed: HeadsFeed
const lookNow = vi.fn()

async function start(options: Partial<HeadsOptions> = {}): Promise<void> {
  lookNow.mockClear()
  node = await startSimNode({ chain: { height: 50 } })
  feed = new HeadsFeed({ url: `${node.endpoints[0]!.webSocketUrl}/v3/s3cr3t-t0ken`, lookNow, ...options })
  await vi.waitFor(() => expect(feed.status().connected).toBe(true), 5_000)
}

afterEach(async () => {
  feed.close()
  await node.close()
})

test('says to look once it listens and at each head', async () => {
  await start()
  expect(lookNow).toHaveBeenCalledTimes(1)
  node.mine(3)
  await vi.waitFor(() => expect(lookNow).toHaveBeenCalledTimes(4), { timeout: 60_000 })
  node.reorg({ depth: 1, length: 2 })
  await vi.waitFor(() => expect(lookNow).toHaveBeenCalledTimes(6), { timeout: 60_000 })
  expect(JSON.stringify(feed.status())).not.toContain('s3cr3t')
})

test('comes back after the connection was cut, and says to look for what it missed', async () => {
  await start()
  node.endpoints[0]!.dropWebSockets()
  await vi.waitFor(() => expect(feed.status().connected).toBe(false), { timeout: 60_000 })
  node.mine(1)
  await vi.waitFor(() => expect(feed.status()).toMatchObject({ connected: true, reconnects: 1 }), 5_000)
  expect(lookNow).toHaveBeenCalledTimes(2)
  node.mine(1)
  await vi.waitFor(() => expect(lookNow).toHaveBeenCalledTimes(3), { timeout: 60_000 })
})

test('a connection that says nothing is taken for dead', async () => {
  await start({ silenceMaxMs: 200 })
  await vi.waitFor(() => expect(feed.status().reconnects).toBeGreaterThanOrEqual(1), 5_000)
})

test('nothing happens after it is closed', async () => {
  await start({ silenceMaxMs: 100 })
  feed.close()
  const { reconnects } = feed.status()
  await new Promise(resolve => setTimeout(resolve, 900))
  expect(feed.status()).toMatchObject({ connected: false, reconnects })
})

test('an address where nothing listens is tried again, without a word', async () => {
  await start()
  const { url } = node
  await node.close()
  feed.close()
  feed = new HeadsFeed({ url: url.replace('http', 'ws'), lookNow })
  await vi.waitFor(() => expect(feed.status().reconnects).toBeGreaterThanOrEqual(1), 5_000)
  expect(feed.status().connected).toBe(false)
})

test('a confirmation with an error of null is one', async () => {
  await start()
  feed.close()
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  server.on('connection', socket => socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1","error":null}'))
  feed = new HeadsFeed({ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, lookNow })
  await vi.waitFor(() => expect(feed.status()).toMatchObject({ connected: true, reconnects: 0 }), { timeout: 60_000 })
  feed.close()
  server.close()
})
