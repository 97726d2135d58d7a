// What bad answers cost: the endpoint that gives them, and nothing that others or it itself answered well.
import { afterEach, describe, expect, test } from 'vitest'
import type { Forgery } from '../../../test/sim/endpoint.ts'
import type { Fault } from '../../../test/sim/faults.ts'
import { forgedAnswers, forgedResults, gzipBomb, onlyFor, refusedWith, withText } from '../../../test/sim/hostile.ts'
import { ManualClock } from '../../../test/sim/manual-clock.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { describeError } from '../../errors.ts'
import { readAnswers } from '../../rpc/answers.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { ChainRpc, type ChainRpcOptions } from './chain-rpc.ts'
import { RangeRefused } from './port.ts'

const { signal } = new AbortController()
const blockNumber = { method: 'eth_blockNumber', params: [] }
const receiptsOf = (number: number) => ({ method: 'eth_getBlockReceipts', params: [`0x${number.toString(16)}`] })
const headerOf = (number: number) => ({ method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] })
const headers = Array.from({ length: 33 }, (_, at) => headerOf(at))

let node: SimNode
let rpc: ChainRpc

/** One endpoint for each forgery. */
async function start(
  forgeries: readonly (Forgery | undefined)[],
  { faults = [], ...options }: Partial<ChainRpcOptions> & { faults?: readonly Fault[] } = {},
): Promise<void> {
  node = await startSimNode({ chain: { height: 300, seed: 8 }, endpoints: forgeries.map(() => ({ faults })) })
  for (const [at, forgery] of forgeries.entries()) node.endpoints[at]!.forgery = forgery
  const endpoints = node.endpoints.map(({ url }) => ({ url }))
  rpc = new ChainRpc({ chain: { name: 'eth', id: 1 }, endpoints, ...options })
}

afterEach(async () => {
  await rpc.close()
  await node.close()
})

const failureOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it was answered'),
    (error: Error) => error,
  )

/** Strikes the first time that a call of the method with this parameter comes. */
function once(param: string, forge: (id: unknown) => object): Forgery {
  let struck = false
  return forgedAnswers((answer, { id, params }) => {
    if (struck || params[0] !== param) return answer
    struck = true
    return forge(id)
  })
}

const errorOf = (message: string) => (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32000, message } })

describe('a call of a batch', () => {
  test.each([
    ['header not found', errorOf('header not found')],
    ['a rate limit', errorOf('too many requests')],
    ['a time-out', errorOf('query timeout exceeded')],
    ['an unknown error', errorOf('internal error')],
    ['null', (id: unknown) => ({ jsonrpc: '2.0', id, result: null })],
  ])('that fails by %s is sent again alone, and counts', async (_, forge) => {
    await start([once('0x11', forge)])
    const { values, endpoint } = await rpc.ask(headers, { signal, nullIsMissing: true })
    expect(values.map(value => Number((value as { number: string }).number))).toEqual(headers.map((_each, at) => at))
    expect(endpoint).toBe(rpc.endpoints[0])
    expect(node.endpoints[0]!.calls.get('eth_getBlockByNumber')).toBe(34)
    expect(rpc.status()[0]).toMatchObject({ healthy: true, errors: 1 })
  })

  test('that fails is sent again alone where each call is a request', async () => {
    await start([once('0x11', errorOf('internal error'))], {
      faults: [{ kind: 'batch-limit', calls: 1, provider: 'unsupported' }],
    })
    expect((await rpc.ask(headers, { signal })).values).toHaveLength(33)
    expect(node.endpoints[0]!.calls.get('eth_getBlockByNumber')).toBe(34)
  })

  test('that fails leaves raw bodies that can be read together', async () => {
    await start([once('0x11', errorOf('header not found'))])
    const { bodies } = await rpc.askRaw(headers, { signal })
    expect(bodies).toHaveLength(2)
    expect(readAnswers(bodies, 33)).toEqual({ values: (await rpc.ask(headers, { signal })).values })
  })

  test('that always fails at one endpoint is answered by another', async () => {
    const never = forgedAnswers((answer, { id, params }) =>
      params[0] === '0x11' ? errorOf('header not found')(id) : answer,
    )
    await start([never, undefined])
    const { endpoint, values } = await rpc.ask(headers, { signal })
    expect([endpoint, values.length]).toEqual([rpc.endpoints[1], 33])
  })

  test('that always fails halves the range in the end', async () => {
    const calls = [receiptsOf(5), receiptsOf(6)]
    await start([refusedWith(['eth_getBlockReceipts'], { code: -32000, message: 'header not found' })])
    expect(await failureOf(rpc.ask(calls, { signal }))).toBeInstanceOf(RangeRefused)
    expect(rpc.status()[0]?.errors).toBeGreaterThan(0)
  })
})

describe('a refusal because of size', () => {
  test.each(['query returned more than 10000 results', 'response too large'])(
    '%j at one block excludes the endpoint and counts',
    async message => {
      await start([refusedWith(['eth_getBlockReceipts'], { code: -32000, message }), undefined])
      for (let at = 0; at < 10; at++)
        expect((await rpc.ask([receiptsOf(at)], { signal })).endpoint).toBe(rpc.endpoints[1])
      expect(node.endpoints[0]!.calls.get('eth_getBlockReceipts')).toBe(1)
      expect(rpc.status()[0]).toMatchObject({ healthy: false, errors: 1, reason: expect.stringContaining(message) })
    },
  )

  test('of several blocks is asked of another endpoint, and then for less', async () => {
    const tooLarge = refusedWith(['eth_getBlockReceipts'], { code: -32000, message: 'response too large' })
    await start([tooLarge, undefined])
    const calls = [receiptsOf(1), receiptsOf(2)]
    expect((await rpc.ask(calls, { signal })).endpoint).toBe(rpc.endpoints[1])
    expect(rpc.status()[0]).toMatchObject({ healthy: true, errors: 0 })
    node.endpoints[1]!.forgery = tooLarge
    expect(await failureOf(rpc.ask(calls, { signal }))).toBeInstanceOf(RangeRefused)
    node.endpoints[1]!.forgery = honest => ({ ...honest, status: 502, parts: [] })
    expect(await failureOf(rpc.ask(calls, { signal }))).toBeInstanceOf(RangeRefused)
  })
})

describe('an answer that no node would give', () => {
  const odd = { toString: 1, valueOf: 1 }
  test.each([
    ['an error that cannot be made a text', refusedWith(['eth_blockNumber'], { code: odd, message: odd, data: odd })],
    ['a chain id that is an object', forgedResults(['eth_chainId'], () => odd)],
    ['2 MB for a number', forgedResults(['eth_blockNumber'], () => `"0x${'0'.repeat(2 ** 21)}"`)],
    ['a redirect', onlyFor(['eth_blockNumber'], honest => ({ ...honest, status: 302, headers: { location: '/' } }))],
    ['an id as text', forgedAnswers(answer => ({ ...answer, id: String(answer.id) }))],
  ])('%s is answered by the other endpoint', async (_, forgery) => {
    await start([forgery, undefined])
    expect(await rpc.ask([blockNumber], { signal })).toMatchObject({ endpoint: rpc.endpoints[1], values: ['0x12c'] })
    expect(rpc.status()[0]?.errors).toBeGreaterThan(0)
  })

  test('a caller can say what is wrong, and whatever it throws counts against the endpoint', async () => {
    await start([forgedResults(['eth_blockNumber'], () => odd), undefined])
    const objection = ([value]: readonly unknown[]) => (String(value) === '' ? 'nothing' : undefined)
    expect((await rpc.ask([blockNumber], { signal, objection })).endpoint).toBe(rpc.endpoints[1])
    expect(rpc.status()[0]?.reason).toContain('an answer that cannot be read')
  })

  test('a redirect is named and not followed', async () => {
    await start([honest => ({ ...honest, status: 307, headers: { location: '/' }, parts: [] })], { attemptsMax: 1 })
    const { cause } = await failureOf(rpc.ask([blockNumber], { signal }))
    expect((cause as Error).message).toBe('HTTP status 307, a redirect, which is not followed')
  })

  test('what unpacks to more than its bound is cut there', async () => {
    const packed = { 'content-encoding': 'gzip' }
    await start([onlyFor(['eth_blockNumber'], honest => withText(honest, gzipBomb(), packed))])
    gzipBomb()
    const before = process.memoryUsage().arrayBuffers
    const error = await failureOf(rpc.ask([blockNumber], { signal }))
    expect(rpcFailureOf(error)?.kind).toBe('response-too-large')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 2 ** 20)
  })
})

describe('silence', () => {
  /** The first request with this method is never answered. */
  const lost = (method: string): Forgery => {
    let struck = false
    return onlyFor([method], honest => {
      if (struck) return honest
      struck = true
      return { ...honest, breaks: 'hang' }
    })
  }

  test.each(['eth_chainId', 'eth_blockNumber', 'eth_getBlockByNumber', 'eth_getCode', 'eth_getTransactionCount'])(
    'a lost answer to %s costs a second, with one endpoint',
    async method => {
      await start([lost(method)])
      const params = method === 'eth_getBlockByNumber' ? ['0x1', false] : [`0x${'1'.repeat(40)}`, '0x1']
      const startedAt = performance.now()
      await rpc.ask([{ method, params }], { signal })
      expect(performance.now() - startedAt).toBeLessThan(3_500)
    },
  )

  test('is a reason after the first time-out', async () => {
    await start([honest => ({ ...honest, breaks: 'hang' })])
    const caller = new AbortController()
    const asked = failureOf(rpc.ask([blockNumber], { signal: caller.signal }))
    const startedAt = performance.now()
    await expect
      .poll(() => rpc.status()[0]?.reason, { timeout: 10_000 })
      .toMatch(/eth_chainId in time: no whole answer/)
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    caller.abort()
    await asked
  })
})

describe('the chain id', () => {
  const serves = { kind: 'wrong-chain-id', chainId: 137 } as const

  test('is asked again now and then', async () => {
    const clock = new ManualClock()
    await start([undefined], { clock })
    await rpc.ask([blockNumber], { signal })
    node.endpoints[0]!.faults = [serves]
    await rpc.ask([blockNumber], { signal })
    await clock.advance(61_000)
    const failure = await failureOf(rpc.ask([blockNumber], { signal }))
    expect(rpcFailureOf(failure)?.kind).toBe('wrong-chain')
    expect(describeError(failure).match(/check the URL/g)).toHaveLength(1)
    expect(rpc.status()[0]).toMatchObject({ healthy: false, wrong_chain: true })
    node.endpoints[0]!.faults = []
    await clock.advance(61_000)
    await rpc.ask([blockNumber], { signal })
    expect(rpc.status()[0]).not.toHaveProperty('wrong_chain')
  })

  test('is asked again soon after a distrust', async () => {
    const clock = new ManualClock()
    await start([undefined, undefined], { clock })
    const { endpoint } = await rpc.ask([blockNumber], { signal })
    node.endpoints[0]!.faults = [serves]
    rpc.distrust(endpoint, 'its blocks do not fit')
    await clock.advance(1_100)
    expect(rpcFailureOf(await failureOf(rpc.ask([blockNumber], { signal, endpoint })))?.kind).toBe('wrong-chain')
  })
})
