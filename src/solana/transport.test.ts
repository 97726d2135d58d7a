// What Solana shares with EVM: failover, Retry-After, hedges, the adaptive limit, compression and cancelling.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { ManualClock } from '../../test/sim/manual-clock.ts'
import { systemProgram } from './decode.ts'
import { SolanaRpc, type SolanaRpcOptions } from './rpc.ts'

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const servers: Server[] = []
const opened: SolanaRpc[] = []
afterEach(async () => {
  for (const rpc of opened.splice(0)) await rpc.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  }
})

async function serve(answer: Answer): Promise<{ url: string; requests: () => number }> {
  let requests = 0
  const server = createServer((incoming, outgoing) => {
    requests++
    incoming.resume().on('end', () => answer(incoming, outgoing))
  })
  servers.push(server)
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests }
}

function connect(nodes: readonly { url: string }[], options: Partial<SolanaRpcOptions> = {}): SolanaRpc {
  const rpc = new SolanaRpc({ network: 'devnet', urls: nodes.map(({ url }) => url), ...options })
  opened.push(rpc)
  return rpc
}

const body = (lamports: number | string) =>
  `{"jsonrpc":"2.0","id":0,"result":{"context":{"slot":1000},"value":[{"lamports":${lamports},"owner":"${systemProgram}","data":["","base64"]}]}}`
const gives =
  (lamports: number): Answer =>
  (_, outgoing) =>
    outgoing.end(body(lamports))
const never: Answer = () => {}
const lamportsOf = async (rpc: SolanaRpc) => (await rpc.accounts([systemProgram])).value[0]?.lamports
const turn = () => new Promise(resolve => setTimeout(resolve, 5))

test.each([
  ['answers 503', (_, outgoing) => outgoing.writeHead(503).end()],
  ['answers 403', (_, outgoing) => outgoing.writeHead(403).end('<html>no</html>')],
  ['cuts its answers', (_, outgoing) => outgoing.end(body(5).slice(0, 40))],
  ['resets connections', incoming => incoming.socket.destroy()],
  [
    'lacks the method',
    (_, outgoing) => outgoing.end('{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}'),
  ],
  [
    'is not healthy',
    (_, outgoing) => outgoing.end('{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":"Node is unhealthy"}}'),
  ],
] satisfies [string, Answer][])(
  'a second endpoint takes over from one that %s, which is left alone',
  async (_, answer) => {
    const [broken, good] = [await serve(answer), await serve(gives(7))]
    const rpc = connect([broken, good])
    const startedAt = performance.now()
    for (let at = 0; at < 20; at++) expect(await lamportsOf(rpc)).toBe(7n)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(broken.requests()).toBeLessThan(8)
  },
)

test('an account that one node excludes from its index says nothing against the node', async () => {
  const excluded =
    '{"jsonrpc":"2.0","id":0,"error":{"code":-32010,"message":"excluded from account secondary indexes"}}'
  const [odd, good] = [await serve((_, outgoing) => outgoing.end(excluded)), await serve(gives(7))]
  const rpc = connect([odd, good])
  for (let at = 0; at < 5; at++) expect(await lamportsOf(rpc)).toBe(7n)
  expect(rpc.status()).toMatchObject([
    { healthy: true, errors: 0 },
    { healthy: true, errors: 0 },
  ])
  await expect(lamportsOf(connect([odd]))).rejects.toMatchObject({
    details: { kind: 'question-refused', rpcCode: -32010 },
  })
})

test('Retry-After is respected, by those who come later too', async () => {
  const sentAt: number[] = []
  const node = await serve((_, outgoing) => {
    sentAt.push(performance.now())
    if (sentAt.length === 1) outgoing.writeHead(429, { 'retry-after': '1' }).end()
    else outgoing.end(body(7))
  })
  const rpc = connect([node])
  const first = lamportsOf(rpc)
  await expect.poll(() => sentAt.length).toBe(1)
  await turn()
  expect(await Promise.all([first, lamportsOf(rpc)])).toEqual([7n, 7n])
  for (const at of sentAt.slice(1)) expect(at - sentAt[0]!).toBeGreaterThan(950)
})

test('a Retry-After that is too long to wait for is told at once, with the setting to change', async () => {
  const node = await serve((_, outgoing) => outgoing.writeHead(429, { 'retry-after': '60' }).end())
  const rpc = connect([node])
  const refusal = {
    code: 'upstream_rate_limited',
    retryable: true,
    hint: 'lower solana.devnet.requests_per_second or add a second endpoint.',
  }
  await expect(lamportsOf(rpc)).rejects.toMatchObject({ ...refusal, retryAfterMs: 60_000 })
  await expect(lamportsOf(rpc)).rejects.toMatchObject(refusal)
  expect(node.requests()).toBe(1)
  expect(rpc.status()).toMatchObject([{ healthy: false, fault: expect.stringContaining('answered 429') }])
})

test('one that dawdles is overtaken by another, and its request is cancelled', async () => {
  const clock = new ManualClock()
  let cancelled = false
  const slow = await serve(incoming => incoming.socket.on('close', () => (cancelled = true)))
  const fast = await serve(gives(7))
  const rpc = connect([slow, fast], { clock, timeoutMs: 60_000 })
  const answer = lamportsOf(rpc)
  while (slow.requests() === 0) await turn()
  expect(fast.requests()).toBe(0)
  await clock.advance(1_000)
  expect(await answer).toBe(7n)
  await expect.poll(() => cancelled).toBe(true)
})

test('a public endpoint is asked by few at once, and by more as it answers', async () => {
  let [inFlight, most] = [0, 0]
  const node = await serve((_, outgoing) => {
    most = Math.max(most, ++inFlight)
    setTimeout(() => {
      inFlight--
      outgoing.end(body(7))
    }, 20)
  })
  const rpc = connect([node], { isPrivate: () => false })
  await Promise.all(Array.from({ length: 12 }, () => lamportsOf(rpc)))
  expect(most).toBeLessThanOrEqual(7)
  await Promise.all(Array.from({ length: 200 }, () => lamportsOf(rpc)))
  expect(most).toBeGreaterThan(10)
})

test('gzip is asked for on the way to public addresses, and large balances stay exact', async () => {
  const packed: Answer = ({ headers }, outgoing) => {
    if (headers['accept-encoding']?.includes('gzip') !== true) return outgoing.writeHead(406).end()
    return outgoing.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body('9007199254740993')))
  }
  const rpc = connect([await serve(packed)], { isPrivate: () => false })
  expect(await lamportsOf(rpc)).toBe(9_007_199_254_740_993n)
})

test('closing cancels what is under way', async () => {
  const node = await serve(never)
  const rpc = connect([node])
  const asked = expect(lamportsOf(rpc)).rejects.toMatchObject({ code: 'interrupted' })
  await expect.poll(node.requests).toBe(1)
  await rpc.close()
  await asked
  await expect.poll(() => new Promise(resolve => servers[0]!.getConnections((_, count) => resolve(count)))).toBe(0)
})

test('while every endpoint rests it fails at once, and says when to come back', async () => {
  const node = await serve((_, outgoing) => outgoing.writeHead(503).end())
  const rpc = connect([node])
  for (let at = 0; at < 2; at++) await expect(lamportsOf(rpc)).rejects.toMatchObject({ code: 'upstream_failed' })
  const sent = node.requests()
  const error = await lamportsOf(rpc).catch((failure: unknown) => failure)
  expect(error).toMatchObject({ code: 'upstream_failed', retryable: true, details: { kind: 'no-endpoint' } })
  expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThanOrEqual(100)
  expect(String((error as Error).cause)).toContain('answered 503')
  expect(node.requests()).toBe(sent)
})

test('no more wait for a set rate than ten seconds can serve', async () => {
  const node = await serve(gives(7))
  const rpc = connect([node], { requestsPerSecond: 10 })
  const asked = Array.from({ length: 130 }, () => lamportsOf(rpc).then(String, ({ code }) => String(code)))
  await expect.poll(node.requests).toBeGreaterThanOrEqual(10)
  expect(node.requests()).toBeLessThan(20)
  await rpc.close()
  const outcomes = await Promise.all(asked)
  expect(outcomes.filter(outcome => outcome === 'overloaded').length).toBe(20)
  expect(outcomes.filter(outcome => outcome === '7').length).toBeGreaterThanOrEqual(10)
})
