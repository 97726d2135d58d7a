// The transport against simulated nodes: every fault on its own, several endpoints together, and nothing that leaks.
import { createServer, type Server } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { SimEndpoint } from '../../../test/sim/endpoint.ts'
import type { Fault } from '../../../test/sim/faults.ts'
import { hastyClock } from '../../../test/sim/hasty-clock.ts'
import { ManualClock } from '../../../test/sim/manual-clock.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { describeError } from '../../errors.ts'
import { readAnswers } from '../../rpc/answers.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { ChainRpc, type ChainRpcOptions } from './chain-rpc.ts'
import { RangeRefused } from './port.ts'

const secret = 's3cr3t-t0ken-0123456789'
const { signal } = new AbortController()
const blockNumber = { method: 'eth_blockNumber', params: [] }
const logsOf = (from: number, to: number) => ({
  method: 'eth_getLogs',
  params: [{ fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }],
})

let node: SimNode
let rpc: ChainRpc
const others: Server[] = []

/** One endpoint for each list of faults; URLs carry a secret in path and query. */
async function start(faults: readonly (readonly Fault[])[], options: Partial<ChainRpcOptions> = {}): Promise<void> {
  node = await startSimNode({ chain: { height: 300, seed: 8 }, endpoints: faults.map(list => ({ faults: list })) })
  const endpoints = node.endpoints.map(({ url }) => ({ url: `${url}/v3/${secret}?apikey=${secret}` }))
  rpc = new ChainRpc({ chain: { name: 'eth', id: 1 }, endpoints, timeoutMs: 10_000, ...options })
}

afterEach(async () => {
  await rpc.close()
  await node.close()
  for (const server of others.splice(0)) server.close()
})

const failureOf = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  const shown = [
    describeError(error),
    inspect(error, { depth: 9 }),
    JSON.stringify(error),
    JSON.stringify(rpc.status()),
  ]
  for (const text of shown) expect(text).not.toContain(secret)
  return error as Error
}

describe('one endpoint', () => {
  test('is not asked by a caller who has given up, so that no failure is left without a taker', async () => {
    await start([[]])
    await node.close()
    const untaken: unknown[] = []
    const note = (reason: unknown) => untaken.push(reason)
    process.on('unhandledRejection', note)
    try {
      const stopped = AbortSignal.abort(new Error('stopped'))
      await expect(rpc.ask([blockNumber], { signal: stopped })).rejects.toThrow()
      await new Promise(resolve => setTimeout(resolve, 300))
      expect(untaken).toEqual([])
      expect(rpc.status()[0]).toMatchObject({ requests: 0 })
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  test('answers calls in order, in one batch, and names itself by host', async () => {
    await start([[]])
    const answers = await rpc.ask([blockNumber, logsOf(10, 12), { method: 'eth_chainId', params: [] }], { signal })
    expect(answers.values[0]).toBe('0x12c')
    expect(answers.values[2]).toBe('0x1')
    expect(answers.endpoint).toBe(new URL(node.url).host)
    // The check of the chain id, then one batch.
    expect(node.endpoints[0]!.requests).toBe(2)
    expect(rpc.status()[0]).toMatchObject({ healthy: true, head: 300, requests: 2, errors: 0 })
  })

  test('answers out of order are put in order', async () => {
    await start([[{ kind: 'batch-unordered' }]])
    const { values } = await rpc.ask([blockNumber, { method: 'eth_chainId', params: [] }], { signal })
    expect(values).toEqual(['0x12c', '0x1'])
  })

  test('raw bodies can be read elsewhere', async () => {
    await start([[]])
    const calls = [logsOf(10, 20), blockNumber]
    const { bodies, bytes } = await rpc.askRaw(calls, { signal })
    expect(bodies).toHaveLength(1)
    expect(bytes).toBe(bodies[0]!.length)
    expect(readAnswers(bodies, 2)).toEqual({ values: (await rpc.ask(calls, { signal })).values })
  })

  test.each([
    [{ kind: 'rate-limit', rate: 1, retryAfterSeconds: 60 }, 'rate-limited'],
    [{ kind: 'server-error', rate: 1, status: 502 }, 'transport'],
    [{ kind: 'server-error', rate: 1, status: 504 }, 'timeout'],
    [{ kind: 'truncated', rate: 1 }, 'invalid-answer'],
    [{ kind: 'html', rate: 1 }, 'invalid-answer'],
    [{ kind: 'html', rate: 1, status: 403 }, 'unauthorized'],
    [{ kind: 'not-json-rpc', rate: 1 }, 'invalid-answer'],
    [{ kind: 'reset', rate: 1 }, 'transport'],
    [{ kind: 'hang', rate: 1 }, 'timeout'],
    [{ kind: 'method-missing', methods: ['eth_blockNumber'] }, 'method-missing'],
    [{ kind: 'wrong-chain-id', chainId: 137 }, 'wrong-chain'],
    [{ kind: 'timeout-error', rate: 1, provider: 'geth' }, 'timeout'],
  ] satisfies [Fault, string][])('%j fails as %s', async (fault, kind) => {
    await start([[fault]], {
      timeoutMs: 300,
      attemptsMax: 2,
      chain: { name: 'eth', id: fault.kind === 'wrong-chain-id' ? 1 : undefined },
    })
    const error = await failureOf(rpc.ask([blockNumber], { signal }))
    const endpoint = new URL(node.url).host
    expect(rpcFailureOf(error)).toMatchObject({
      kind,
      endpoint,
      method: kind === 'wrong-chain' ? 'eth_chainId' : 'eth_blockNumber',
    })
    expect(error.message).toContain(endpoint)
    if (fault.kind !== 'rate-limit') return
    expect(error).toMatchObject({ retryable: true, retryAfterMs: 60_000 })
    // The next one is not even sent.
    const { requests } = node.endpoints[0]!
    expect(await failureOf(rpc.ask([blockNumber], { signal }))).toMatchObject({ code: 'upstream_rate_limited' })
    expect(node.endpoints[0]!.requests).toBe(requests)
  })

  test.each([
    [{ kind: 'rate-limit', rate: 0.4 }],
    [{ kind: 'server-error', rate: 0.3 }],
    [{ kind: 'truncated', rate: 0.3 }],
    [{ kind: 'html', rate: 0.3 }],
    [{ kind: 'reset', rate: 0.3 }],
  ] satisfies [Fault][])('%j now and then is survived', async fault => {
    await start([[fault]], { attemptsMax: 12, clock: hastyClock(5) })
    const answers = await Promise.all(Array.from({ length: 25 }, (_, at) => rpc.ask([logsOf(at, at + 3)], { signal })))
    expect(answers.every(({ values }) => Array.isArray(values[0]))).toBe(true)
    expect(node.endpoints[0]!.fired.get(fault.kind)).toBeGreaterThan(0)
  })

  test.each([
    [{ kind: 'range-limit', blocks: 10, provider: 'quicknode' }, 'range-too-large', 10],
    [{ kind: 'range-limit', blocks: 10, provider: 'ankr' }, 'range-too-large', undefined],
    [{ kind: 'result-limit', results: 5, provider: 'infura' }, 'too-dense', undefined],
    [{ kind: 'size-limit', bytes: 500, provider: 'alchemy' }, 'too-dense', 11],
  ] satisfies [Fault, string, number | undefined][])('%j asks for less', async (fault, reason, blocksAllowed) => {
    await start([[fault]])
    const error = await failureOf(rpc.ask([logsOf(100, 120), blockNumber], { signal }))
    expect(error).toBeInstanceOf(RangeRefused)
    expect(error).toMatchObject({ reason, blocksAllowed })
    // A limit on questions says nothing against the endpoint.
    expect(rpc.status()[0]).toMatchObject({ healthy: true, errors: 0 })
  })

  test('pruned history and a node without receipts are told apart', async () => {
    await start([[{ kind: 'pruned', below: 100, answer: 'geth' }]])
    expect(rpcFailureOf(await failureOf(rpc.ask([logsOf(1, 2)], { signal })))?.kind).toBe('pruned')
    node.endpoints[0]!.faults = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }]
    const missing = await failureOf(rpc.ask([{ method: 'eth_getBlockReceipts', params: ['0x64'] }], { signal }))
    expect(missing).toMatchObject({ code: 'not_found', retryable: false })
  })

  test.each(['geth', 'nethermind', 'jsonrpsee', 'unsupported'] as const)(
    'a batch that is refused as %s does is sent in parts, and the size is remembered',
    async provider => {
      await start([[{ kind: 'batch-limit', calls: 4, provider }]])
      const calls = Array.from({ length: 20 }, (_, at) => ({
        method: 'eth_getBlockByNumber',
        params: [`0x${at.toString(16)}`, false],
      }))
      expect((await rpc.askRaw(calls, { signal })).bodies.length).toBeGreaterThan(1)
      const { values } = await rpc.ask(calls, { signal })
      expect(values.map(value => Number((value as { number: string }).number))).toEqual(calls.map((_, at) => at))
      const before = node.endpoints[0]!.requests
      await rpc.ask(calls, { signal })
      expect(node.endpoints[0]!.requests - before).toBeLessThanOrEqual(20)
    },
  )

  test('an endless answer is cut at its bound', async () => {
    await start([[{ kind: 'endless', rate: 1, methods: ['eth_getLogs'] }]])
    const before = process.memoryUsage().arrayBuffers
    const error = await failureOf(rpc.ask([logsOf(1, 2)], { signal, bytesMax: 4 * 2 ** 20 }))
    expect(error).toMatchObject({ name: 'RangeRefused', reason: 'too-dense' })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 2 ** 20)
  })

  test('can be called off while it waits, and after', async () => {
    await start([[{ kind: 'hang', rate: 1, methods: ['eth_blockNumber'] }]])
    const caller = new AbortController()
    setTimeout(() => caller.abort(new Error('gave up')), 100)
    const startedAt = performance.now()
    const error = await failureOf(rpc.ask([blockNumber], { signal: caller.signal }))
    expect(error).toMatchObject({ code: 'interrupted' })
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    expect(await failureOf(rpc.ask([blockNumber], { signal: caller.signal }))).toMatchObject({ code: 'interrupted' })
  })

  test('too many waiting requests are refused, not kept', async () => {
    await start([[{ kind: 'latency', delayMs: 200 }]], { queueMax: 10, isPrivate: () => false })
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => rpc.ask([blockNumber], { signal })))
    const refused = results.filter(result => result.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'overloaded', retryable: true })
    expect(node.endpoints[0]!.inFlightMax).toBeLessThanOrEqual(8)
  })

  test('a local node is asked by many at once, a public one by few', async () => {
    // Long enough for all to be sent before the first is answered, however busy the machine.
    await start([[{ kind: 'latency', delayMs: 1_500 }]])
    await Promise.all(Array.from({ length: 60 }, () => rpc.ask([blockNumber], { signal })))
    const local = node.endpoints[0]!.inFlightMax
    await rpc.close()
    await node.close()
    await start([[{ kind: 'latency', delayMs: 50 }]], { isPrivate: () => false })
    await Promise.all(Array.from({ length: 12 }, () => rpc.ask([blockNumber], { signal })))
    expect(local).toBeGreaterThan(30)
    expect(node.endpoints[0]!.inFlightMax).toBeLessThanOrEqual(7)
  })

  test('gzip is asked for on the way to public addresses, and unpacked', async () => {
    await start([[]], { isPrivate: () => false })
    const { values } = await rpc.ask([logsOf(100, 120)], { signal })
    expect((values[0] as unknown[]).length).toBeGreaterThan(50)
  })
})

describe('several endpoints', () => {
  test('who answered can be left out the next time', async () => {
    await start([[], []])
    const { endpoint } = await rpc.ask([blockNumber], { signal })
    const second = await rpc.ask([blockNumber], { signal, exclude: new Set([endpoint]) })
    expect(second.endpoint).not.toBe(endpoint)
    const nobody = await failureOf(rpc.ask([blockNumber], { signal, exclude: new Set(rpc.endpoints) }))
    expect(rpcFailureOf(nobody)?.kind).toBe('no-endpoint')
    expect((await rpc.ask([blockNumber], { signal, endpoint })).endpoint).toBe(endpoint)
  })

  test.each([
    [[{ kind: 'server-error', rate: 1 }]],
    [[{ kind: 'rate-limit', rate: 1, retryAfterSeconds: 120 }]],
    [[{ kind: 'html', rate: 1 }]],
    [[{ kind: 'reset', rate: 1 }]],
    [[{ kind: 'method-missing', methods: ['eth_blockNumber'] }]],
    [[{ kind: 'wrong-chain-id', chainId: 5 }]],
    [[{ kind: 'truncated', rate: 1 }]],
    [[{ kind: 'not-json-rpc', rate: 1 }]],
  ] satisfies [Fault[]][])('%j at one is answered by the other, without delay', async faults => {
    await start([faults, []])
    const startedAt = performance.now()
    for (let at = 0; at < 20; at++) {
      const { endpoint } = await rpc.ask([blockNumber], { signal })
      expect(endpoint).toBe(rpc.endpoints[1])
    }
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    // It is left alone after a few failures.
    expect(node.endpoints[0]!.requests).toBeLessThan(8)
  })

  test('a black hole does not stall what others can answer', async () => {
    const hole = createServer(() => {})
    others.push(hole)
    await new Promise<void>(resolve => hole.listen(0, '127.0.0.1', resolve))
    const port = (hole.address() as { port: number }).port
    node = await startSimNode({ chain: { height: 300 } })
    rpc = new ChainRpc({
      chain: { name: 'eth', id: undefined },
      endpoints: [{ url: `http://127.0.0.1:${port}/${secret}` }, { url: node.url }],
      timeoutMs: 20_000,
    })
    const startedAt = performance.now()
    for (let at = 0; at < 30; at++) await rpc.ask([logsOf(at, at + 1)], { signal })
    // Less than one time-out.
    expect(performance.now() - startedAt).toBeLessThan(18_000)
  })

  test('one that dawdles is overtaken by another, and not for ever', async () => {
    const clock = new ManualClock()
    const hedged: string[] = []
    const observer = { request: () => {}, hedge: ({ endpoint }: { endpoint: string }) => void hedged.push(endpoint) }
    await start([[], []], { clock, observer, timeoutMs: 60_000 })
    const [usual, other] = rpc.endpoints as [string, string]
    // Time stands still, so both are equally fast and the order of the operator decides.
    for (let at = 0; at < 20; at++) expect((await rpc.ask([blockNumber], { signal })).endpoint).toBe(usual)

    node.endpoints[0]!.faults = [{ kind: 'hang', rate: 1 }]
    const before = node.endpoints[0]!.requests
    const answer = rpc.ask([blockNumber], { signal })
    while (node.endpoints[0]!.requests === before) await new Promise(resolve => setTimeout(resolve, 5))
    expect(hedged).toEqual([])
    await clock.advance(2_000)
    expect((await answer).endpoint).toBe(other)
    expect(hedged).toEqual([usual])

    node.endpoints[0]!.faults = []
    expect((await rpc.ask([blockNumber], { signal })).endpoint).toBe(other)
    await clock.advance(60 * 60_000)
    expect((await rpc.ask([blockNumber], { signal })).endpoint).toBe(usual)
  })

  test('what the second one fails with is not held against the first', async () => {
    const clock = new ManualClock()
    await start([[], []], { clock, timeoutMs: 1_000 })
    for (const endpoint of rpc.endpoints) await rpc.ask([blockNumber], { signal, endpoint })
    const [first, second] = node.endpoints as unknown as [SimEndpoint, SimEndpoint]
    first.faults = [{ kind: 'hang', rate: 1 }]
    second.faults = [{ kind: 'method-missing', methods: ['eth_blockNumber'] }]
    let settled = false
    const answer = rpc.ask([blockNumber], { signal }).finally(() => (settled = true))
    const [asked, askedSecond] = [first.requests, second.requests]
    while (first.requests === asked) await new Promise(resolve => setTimeout(resolve, 5))
    await clock.advance(2_000)
    while (second.requests === askedSecond) await new Promise(resolve => setTimeout(resolve, 5))
    first.faults = []
    // The silence of the first is worth another try; that the second lacks the method says nothing about it.
    while (!settled) await clock.advance(100).then(() => new Promise(resolve => setTimeout(resolve, 5)))
    expect((await answer).endpoint).toBe(rpc.endpoints[0])
  })

  test('an endpoint whose answers fail checks is asked last, and comes back', async () => {
    await start([[], []])
    const { endpoint } = await rpc.ask([blockNumber], { signal })
    rpc.distrust(endpoint, 'its logs do not match the bloom')
    expect(rpc.status().find(status => status.endpoint === endpoint)).toMatchObject({
      healthy: false,
      reason: 'its logs do not match the bloom',
    })
    expect((await rpc.ask([blockNumber], { signal })).endpoint).not.toBe(endpoint)
    expect((await rpc.ask([blockNumber], { signal, endpoint })).endpoint).toBe(endpoint)
  })

  test('load is spread over endpoints that are equally good', async () => {
    const latency = [{ kind: 'latency', delayMs: 20 }] satisfies Fault[]
    await start([latency, latency])
    await Promise.all(Array.from({ length: 200 }, () => rpc.ask([blockNumber], { signal })))
    for (const { requests } of node.endpoints) expect(requests).toBeGreaterThan(40)
  })
})
