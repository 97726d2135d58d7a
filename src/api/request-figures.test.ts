import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RequestMeter } from './request-figures.ts'

test('quantiles are right to a tenth, whatever the durations', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.002, max: 10_000, noNaN: true }), { minLength: 1, maxLength: 300 }),
      all => {
        const meter = new RequestMeter(() => 1_000)
        for (const durationMs of all) meter.count({ atMs: 1_000, durationMs, status: 200, keyId: undefined })
        const sorted = all.toSorted((a, b) => a - b)
        const { p50Ms, p99Ms } = meter.figures()
        for (const [told, share] of [
          [p50Ms, 0.5],
          [p99Ms, 0.99],
        ] as const) {
          const exact = sorted[Math.ceil(all.length * share) - 1]!
          expect(told! / exact).toBeGreaterThan(0.9)
          expect(told! / exact).toBeLessThan(1.1)
        }
      },
    ),
  )
})

test('a minute is told as rates, by outcome and by key, and forgotten afterwards', () => {
  let now = 0
  const meter = new RequestMeter(() => now)
  const send = (status: number, keyId?: string) => meter.count({ atMs: now, durationMs: 1, status, keyId })
  for (let second = 0; second < 60; second++) {
    now = second * 1_000
    for (let times = 0; times < 10; times++) send(200, 'a')
    // An operation that is not served is refused, and nothing failed.
    send(second % 2 === 0 ? 404 : 501, 'b')
    if (second % 2 === 0) send(503)
  }
  now = 59_999
  const { keys, ...figures } = meter.figures()
  expect(figures.requestsPerSecond).toBeCloseTo(11.5, 1)
  expect(figures.errorsPerSecond).toBeCloseTo(0.5, 1)
  expect(figures.refusedPerSecond).toBeCloseTo(1, 1)
  expect(keys.get('a')).toBeCloseTo(10, 1)
  expect(keys.get('b')).toBeCloseTo(1, 1)
  expect(meter.figures('moment').keys.get('a')).toBe(10)
  now = 130_000
  expect(meter.figures()).toMatchObject({ requestsPerSecond: 0, p50Ms: undefined, p99Ms: undefined })
  send(200, 'a')
  expect(meter.figures().keys.size).toBe(1)
})

test('what arrives after a silence does not stand on old counts', () => {
  let now = 0
  const meter = new RequestMeter(() => now)
  meter.count({ atMs: now, durationMs: 1, status: 200, keyId: 'a' })
  // As many slots later, the same place of the ring is used again.
  now = 13 * 5_000
  meter.count({ atMs: now, durationMs: 1, status: 200, keyId: 'b' })
  expect([...meter.figures().keys.keys()]).toEqual(['b'])
})
