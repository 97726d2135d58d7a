import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LiveHistory, liveSample } from './live-history.ts'

test('the past has one value for each moment and line, and forgets lines of which nothing is left', () => {
  const value = fc.record({ chain: fc.constantFrom('eth', 'bsc testnet'), value: fc.integer() })
  fc.assert(
    fc.property(
      fc.array(fc.array(value, { maxLength: 2 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      (samples, max) => {
        const history = new LiveHistory(max)
        for (const [at, values] of samples.entries()) {
          history.add({ at, values: values.map(each => ({ ...each, measure: 'lag_seconds' as const })) })
        }
        const { at, lines } = history.past()
        const kept = samples.slice(-max)
        expect(at).toEqual(kept.map((_, index) => samples.length - kept.length + index))
        for (const chain of ['eth', 'bsc testnet']) {
          const expected = kept.map(values => values.findLast(each => each.chain === chain)?.value ?? null)
          const line = lines.find(each => each.chain === chain)
          expect(line?.values ?? expected.map(() => null)).toEqual(expected)
          if (samples.length > max && expected.every(each => each === null)) expect(line).toBeUndefined()
        }
      },
    ),
  )
})

test('an endpoint that is asked nothing for a minute has a gap from then on, until it is asked again', () => {
  const seen = new Map()
  const isDrawn = (requests: number, atMs: number) => {
    const rpc = [{ endpoint: 'a', healthy: true, latency_ms: 140, requests }]
    const network = { state: 'live', slot: 1, lag_seconds: 0, watched: 0, rpc } as const
    const { values } = liveSample({ chains: {}, solana: { mainnet: network } }, atMs, seen)
    return values.some(({ measure }) => measure === 'latency_ms')
  }
  expect([0, 5_000, 59_000, 60_000, 900_000].map(atMs => isDrawn(1, atMs))).toEqual([true, true, true, false, false])
  expect(isDrawn(2, 905_000)).toBe(true)
})

test('an endpoint that does not answer has a gap, and not the latency of its last answer', () => {
  const chain = { state: 'live', head: 1, finalized: 1, lag_seconds: 0, covered: [], complete: true } as const
  const rpc = [
    { endpoint: 'a', healthy: true, latency_ms: 12 },
    { endpoint: 'b', healthy: false, latency_ms: 341 },
  ]
  const { values } = liveSample({ chains: { eth: { ...chain, eta_seconds: null, rpc } }, solana: {} }, 0)
  expect(values.filter(({ measure }) => measure === 'latency_ms')).toEqual([
    { chain: 'eth', measure: 'latency_ms', endpoint: 'a', value: 12 },
  ])
})
