// What Solana shares with EVM: failover, Retry-After, hedges, the adaptive limit, compression and cancelling.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { ManualClock } from '../../test/sim/manual-clock.ts'
import { realClock } from '../abort.ts'
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
/** Moves the clock in small steps until the promise settles: pauses and real requests take turns. */
async function passing<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  while (!settled) {
    await clock.advance(50)
    await turn()
  }
  return promise
}
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

test('a Retry-After that is too long to wait for fails at once, with the setting to change', async () => {
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
  expect((error as Error).message).toBe('No solana devnet endpoint answers getMultipleAccounts.')
  expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThanOrEqual(100)
  expect((error as { cause: Error }).cause.message).toBe(
    `solana devnet endpoint ${new URL(node.url).host} answered 503 to getMultipleAccounts: HTTP status 503`,
  )
  expect(node.requests()).toBe(sent)
})

test('a call that a set rate would delay by more than ten seconds is refused, with the time to come back', async () => {
  const clock = new ManualClock()
  const node = await serve(gives(7))
  const rpc = connect([node], { requestsPerSecond: 10, clock })
  const refusals: { code: string; retryAfterMs: number }[] = []
  const asked = Array.from({ length: 130 }, () => lamportsOf(rpc).then(String, error => void refusals.push(error)))
  await expect.poll(node.requests).toBe(10)
  await rpc.close()
  const outcomes = await Promise.all(asked)
  const overRate = refusals.filter(({ code }) => code === 'upstream_rate_limited')
  expect(overRate.map(({ retryAfterMs }) => Math.round(retryAfterMs))).toEqual(Array.from({ length: 20 }, () => 10_100))
  expect(outcomes.filter(outcome => outcome === '7').length).toBeLessThanOrEqual(10)
})

test('a call behind requests that hang is refused after ten seconds', async () => {
  const clock = new ManualClock()
  const node = await serve(never)
  const rpc = connect([node], { isPrivate: () => false, timeoutMs: 60_000, clock })
  const hanging = Array.from({ length: 4 }, () => lamportsOf(rpc).catch(({ code }) => code))
  await expect.poll(node.requests).toBe(4)
  const waiting = expect(lamportsOf(rpc)).rejects.toMatchObject({
    code: 'overloaded',
    cause: { message: 'it could not be sent within 10000 ms' },
    retryAfterMs: 1_000,
  })
  await turn()
  await clock.advance(10_000)
  await waiting
  expect(node.requests()).toBe(4)
  await rpc.close()
  await Promise.all(hanging)
})

test('a call ends after half a minute, whatever its endpoints do', async () => {
  const clock = new ManualClock()
  const node = await serve(never)
  const rpc = connect([node], { timeoutMs: 60_000, clock })
  const asked = expect(lamportsOf(rpc)).rejects.toMatchObject({
    code: 'upstream_failed',
    message: 'No solana devnet endpoint answers getMultipleAccounts.',
    cause: { message: 'no answer within 30000 ms' },
  })
  await expect.poll(node.requests).toBe(1)
  await clock.advance(30_000)
  await asked
})

test('what waits for an endpoint that begins to rest goes to another', async () => {
  const clock = new ManualClock()
  const held: ServerResponse[] = []
  const broken = await serve((_, outgoing) => void held.push(outgoing))
  const good = await serve(gives(7))
  const rpc = connect([broken, good], { isPrivate: () => false, clock })
  // More than both take at once: some wait for the first.
  const asked = Array.from({ length: 20 }, () => lamportsOf(rpc))
  await expect.poll(() => held.length).toBe(4)
  for (const outgoing of held) outgoing.writeHead(503).end()
  expect(await passing(clock, Promise.all(asked))).toEqual(asked.map(() => 7n))
  // The first two failures let one more go each; the third makes it rest.
  expect(broken.requests()).toBeLessThanOrEqual(6)
})

test('an endpoint that rests is not asked by later attempts either', async () => {
  const clock = new ManualClock()
  let [first, second] = [503, 200]
  const resting = await serve((_, outgoing) => outgoing.writeHead(first).end(body(5)))
  const other = await serve((_, outgoing) => outgoing.writeHead(second).end(body(7)))
  const rpc = connect([resting, other], { clock })
  for (let at = 0; at < 3; at++) expect(await lamportsOf(rpc)).toBe(7n)
  expect(rpc.status()[0]).toMatchObject({ healthy: false, errors: 3 })
  ;[first, second] = [200, 503]
  await expect(passing(clock, lamportsOf(rpc))).rejects.toMatchObject({ code: 'upstream_failed' })
  expect([resting.requests(), other.requests()]).toEqual([3, 6])
})

test('answers of another shape make an endpoint rest', async () => {
  const node = await serve((_, outgoing) =>
    outgoing.end('{"jsonrpc":"2.0","id":0,"result":{"context":{"slot":1000},"value":[]}}'),
  )
  const rpc = connect([node], { clock: { ...realClock, now: () => 1 } })
  for (let at = 0; at < 2; at++) await expect(lamportsOf(rpc)).rejects.toMatchObject({ code: 'upstream_invalid' })
  expect(rpc.status()).toMatchObject([
    { healthy: false, requests: 3, errors: 3, fault: expect.stringContaining('an answer of another shape') },
  ])
})

test('one 403 is a failure like any other', async () => {
  let requests = 0
  const node = await serve((_, outgoing) => outgoing.writeHead(++requests === 1 ? 403 : 200).end(body(7)))
  const rpc = connect([node])
  expect(await lamportsOf(rpc)).toBe(7n)
  expect(rpc.status()).toMatchObject([{ healthy: true, errors: 1 }])
})

test('a 429 without Retry-After says to come back in a second', async () => {
  const node = await serve((_, outgoing) => outgoing.writeHead(429).end())
  await expect(lamportsOf(connect([node]))).rejects.toMatchObject({
    code: 'upstream_rate_limited',
    retryAfterMs: 1_000,
  })
})
