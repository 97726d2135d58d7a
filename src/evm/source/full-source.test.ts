// Whom a range that one endpoint cannot prove is asked of, and for how long nobody is waited for.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { defineChain, ethereumHeaders } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { packActivity } from '../../store/packed-activity.ts'
import type { RpcPort } from '../rpc/port.ts'
import { type Decoder, inlineDecoder } from './decode-pool.ts'
import { FullSource } from './full-source.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const sim = defineChain({ name: 'sim', id: 1337 })
const chain = { ...sim, quirks: { ...sim.quirks, headers: ethereumHeaders } }
const history = { from: 10, to: 19 }
const head = { from: 1_000, to: 1_000 }
const { signal } = new AbortController()

/** Nobody can prove anything. */
const doubting: Decoder = {
  ...inlineDecoder,
  range: async ({ request: { interval } }) => {
    const doubt = { reason: 'an unknown field', elsewhere: true }
    const found = { headers: [], transfers: [], activity: packActivity([]), bytes: 0, logs: 0, malformed: {} as never }
    return { ok: true, range: { interval, evidence: 'one-endpoint', doubt, ...found } }
  },
}

/** The first of the endpoints that may be asked; `lacks` says who lacks which block. */
function source(endpoints: readonly string[], lacks: (endpoint: string, block: number) => boolean = () => false) {
  const rpc: RpcPort = {
    endpoints,
    ask: async calls => ({ endpoint: endpoints[0]!, values: calls.map(() => null), bytes: 0 }),
    async askRaw(calls, { exclude }) {
      const endpoint = endpoints.find(name => exclude?.has(name) !== true)
      if (endpoint === undefined || lacks(endpoint, Number(calls[0]!.params[0])))
        throw new AlmanacError('upstream_failed', 'missing trie node', { retryable: true })
      return { endpoint, bodies: [], bytes: 0 }
    },
    distrust: (_, reason) => reason,
    hasDropped: async () => false,
    historyFrom: 0,
    status: () => [],
  }
  return new FullSource(chain, rpc, doubting)
}

test.each([
  [['provider', 'provider#2'], 'one-endpoint'],
  [['provider', 'other'], 'two-endpoints'],
])('%s that say the same are %s', async (endpoints, evidence) => {
  expect((await source(endpoints).range(head, 'block', signal)).evidence).toBe(evidence)
})

test('history that the second endpoint lacks is taken after a minute, though it answers at the head', async () => {
  const both = source(['archive', 'pruned'], (endpoint, block) => endpoint === 'pruned' && block < 1_000)
  for (let second = 0; second < 60; second += 10) {
    await expect(both.range(history, 'range', signal)).rejects.toThrow('missing trie node')
    expect((await both.range(head, 'block', signal)).evidence).toBe('two-endpoints')
    vi.advanceTimersByTime(10_000)
  }
  expect((await both.range(history, 'range', signal)).evidence).toBe('one-endpoint')
})
