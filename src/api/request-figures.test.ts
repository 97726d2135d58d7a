import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ErrorCode } from '../errors.ts'
import { RequestMeter } from './request-figures.ts'

test('quantiles are right to a tenth, whatever the durations', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.002, max: 10_000, noNaN: true }), { minLength: 1, maxLength: 300 }),
      all => {
        const meter = new RequestMeter(() => 1_000)
        for (const durationMs of all) meter.count({ atMs: 1_000, durationMs, status: 200, keyId: 'a' })
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

test('a minute is told as rates of what a key was admitted to, by outcome and by key, and forgotten afterwards', () => {
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
  // What fails before a key is looked at is no request of the day, and is an error all the same.
  expect(figures.requestsPerSecond).toBeCloseTo(11, 1)
  expect(figures.errorsPerSecond).toBeCloseTo(0.5, 1)
  expect(figures.errorShare).toBeCloseTo(0.5 / 11.5, 2)
  expect(figures.refusedPerSecond).toBeCloseTo(1, 1)
  expect(figures.notServedPerSecond).toBeCloseTo(0.5, 1)
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

test('of each key the outcomes of an hour are told, and its last refusals, within bounds', () => {
  let now = 0
  const meter = new RequestMeter(() => now)
  const refuse = (id: string, status: number, code: ErrorCode) =>
    meter.count({
      ...{ atMs: now, durationMs: 1, status, route: '/x', keyId: undefined },
      refusal: { code, keyId: id },
    })
  meter.count({ atMs: now, durationMs: 1, status: 200, keyId: 'a' })
  refuse('a', 403, 'forbidden')
  now = 30 * 60_000
  for (let times = 0; times < 30; times++) refuse('a', 429, 'rate_limited')
  meter.count({ atMs: now, durationMs: 1, status: 503, keyId: 'a', refusal: { code: 'timeout', keyId: undefined } })
  meter.count({ atMs: now, durationMs: 1, status: 404, keyId: 'a', refusal: { code: 'not_found', keyId: undefined } })
  const { counts, refusals } = meter.hourOf('a')
  expect(counts).toEqual({ answered: 1, forbidden: 1, limited: 30, failed: 1, refused: 1 })
  expect(refusals).toHaveLength(20)
  expect(refusals[0]).toEqual({ atMs: now, status: 503, code: 'timeout', route: '' })
  expect(refusals[1]).toEqual({ atMs: now, status: 429, code: 'rate_limited', route: '/x' })
  // Nobody was admitted to what was refused.
  expect(meter.figures().keys.get('a')).toBeCloseTo(2 / 60, 1)
  expect(meter.refusedKeys()).toEqual(['a'])
  now = 61 * 60_000
  expect(meter.hourOf('a').counts).toEqual({ answered: 0, forbidden: 0, limited: 30, failed: 1, refused: 1 })
  now = 91 * 60_000
  expect(meter.refusedKeys()).toEqual([])
  refuse('a', 429, 'rate_limited')
  expect(meter.hourOf('a').counts).toMatchObject({ limited: 1 })
  // The key that is silent for longest makes room.
  for (let key = 0; key < 200; key++) refuse(`k${key}`, 429, 'rate_limited')
  expect(meter.hourOf('a')).toEqual({
    counts: { answered: 0, forbidden: 0, limited: 0, failed: 0, refused: 0 },
    refusals: [],
  })
  expect(meter.refusedKeys()).toHaveLength(200)
})
