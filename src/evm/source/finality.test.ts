// When a dispute ends, by a clock that the test moves.
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { defineChain } from '../../chains.ts'
import type { Hash } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { Header } from './chain-source.ts'
import { Finality } from './finality.ts'

afterEach(() => void vi.restoreAllMocks())

const { signal } = new AbortController()
const timestamp = Math.floor(Date.now() / 1_000)

/** Two endpoints; `other` has blocks of its own above `fork`, or is away. */
function setUp() {
  const state = { fork: 60, head: 100, otherHead: 100, away: false }
  const header = (name: string, number: number): Header => {
    const side = (at: number): string => (at > state.fork && name === 'other' ? 'f' : '1')
    const hash = (at: number): Hash => `0x${side(at).repeat(32)}${String(at).padStart(32, '0')}` as Hash
    return { number, hash: hash(number), parentHash: hash(number - 1), timestamp }
  }
  const headOf = (name: string): number => (name === 'other' ? state.otherHead : state.head)
  const rpc: Partial<RpcPort> = {
    endpoints: ['one', 'other'],
    ask: async (calls, { endpoint = 'one' }) => ({
      endpoint,
      bytes: 0,
      values: calls.map(({ params }) => {
        const named = { latest: headOf(endpoint), finalized: headOf(endpoint) - 20 }[String(params?.[0])]
        const { number, ...rest } = header(endpoint, named ?? Number(params?.[0]))
        return { ...rest, number: `0x${number.toString(16)}`, timestamp: `0x${timestamp.toString(16)}` }
      }),
    }),
    status: () => ['one', 'other'].map(endpoint => ({ endpoint, healthy: endpoint === 'one' || !state.away }) as never),
  }
  const finality = new Finality({
    chain: { ...defineChain({ name: 'sim', id: 7 }), finalityDepth: 20 },
    rpc: rpc as RpcPort,
  })
  const look = async () => {
    const report = { endpoint: 'one', latest: header('one', state.head), finalized: header('one', state.head - 20) }
    await finality.look(report, {}, signal)
    // Once more: after the first agreement votes go on in the background.
    await setImmediate()
    await finality.look(report, {}, signal)
    return finality.dispute?.block
  }
  return { state, finality, look }
}

test('a dispute does not end by agreement on a lower block', async () => {
  const { state, look } = setUp()
  expect(await look()).toBe(80)
  state.otherHead = 75
  expect(await look()).toBe(80)
  state.fork = 200
  expect(await look()).toBe(80)
  state.otherHead = 101
  state.head = 101
  expect(await look()).toBeUndefined()
})

test('a dispute ends ten minutes after one side fell silent', async () => {
  const { state, look } = setUp()
  expect(await look()).toBe(80)
  state.away = true
  expect(await look()).toBe(80)
  const nowMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs + 599_000)
  expect(await look()).toBe(80)
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs + 601_000)
  expect(await look()).toBeUndefined()
})
