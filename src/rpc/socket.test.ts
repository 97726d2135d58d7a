// The reconnecting socket against peers that misbehave: silent ones, ones that leave at once, ones that send junk.
import { createHash } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { ReconnectingSocket, type SocketOptions } from './socket.ts'

const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const open = new Set<Socket>()
let server: Server
let socket: ReconnectingSocket
let connections = 0
let reasons: string[] = []
let heads: string[] = []

afterEach(async () => {
  socket.close()
  for (const each of open) each.destroy()
  await new Promise(done => server.close(done))
})

/** A peer that upgrades every connection and then does only what `onUpgrade` says: it answers no close frame. */
async function connect(
  onUpgrade: (peer: Socket) => void,
  { url = 'ws://', ...options }: Partial<SocketOptions> = {},
): Promise<void> {
  connections = 0
  reasons = []
  heads = []
  server = createServer(peer => {
    connections++
    open.add(peer)
    peer.on('close', () => open.delete(peer)).on('error', () => undefined)
    peer.once('data', head => {
      heads.push(head.toString('latin1'))
      const key = /sec-websocket-key: (.*)\r\n/i.exec(head.toString('latin1'))![1]!
      const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64')
      const lines = ['HTTP/1.1 101 Yes', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
      peer.write(`${lines.join('\r\n')}\r\n\r\n`)
      onUpgrade(peer)
    })
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as { port: number }
  socket = new ReconnectingSocket({
    url: url.replace(/^ws:\/\/([^@]*@)?/, `$&127.0.0.1:${port}`),
    silenceMaxMs: 60_000,
    retryMs: { first: 20, max: 10_000 },
    onOpen: () => undefined,
    onMessage: () => socket.heard(),
    onDown: reason => reasons.push(reason),
    ...options,
  })
}

const frame = (text: string) => Buffer.from([0x81, text.length, ...Buffer.from(text)])

test('a peer that says nothing, not even to a close, keeps no connection', async () => {
  await connect(() => undefined, { silenceMaxMs: 100 })
  await expect.poll(() => connections, { timeout: 5_000 }).toBeGreaterThan(3)
  expect(open.size).toBeLessThan(3)
  socket.close()
  await expect.poll(() => open.size).toBe(0)
})

test('a peer that greets and leaves is asked less and less often', async () => {
  await connect(peer => peer.end(frame('{}')))
  await new Promise(resolve => setTimeout(resolve, 1_000))
  // 20, 40, 80 … ms, each at least half of that; without the back-off there would be 50 or more.
  expect(connections).toBeGreaterThan(2)
  expect(connections).toBeLessThan(10)
})

test('what a message makes the listener throw costs the connection, not the process', async () => {
  await connect(peer => peer.write(frame('{"params":null}')), {
    onMessage: message => {
      throw new TypeError(`cannot read ${JSON.stringify(message)}`)
    },
  })
  await expect.poll(() => reasons).toContain('what it sent failed: cannot read {"params":null}')
  await expect.poll(() => connections).toBeGreaterThan(1)
})

test('credentials of the URL become a header, and its fragment stays here', async () => {
  await connect(() => undefined, { url: 'ws://user:pa%3Ass@/v2/key?x=1#part' })
  await expect.poll(() => heads[0]).toMatch(/^GET \/v2\/key\?x=1 HTTP\/1\.1\r\n/)
  expect(heads[0]).toContain(`authorization: Basic ${Buffer.from('user:pa:ss').toString('base64')}\r\n`)
})
