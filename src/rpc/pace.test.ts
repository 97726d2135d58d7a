import { describe, expect, test } from 'vitest'
import { Breaker } from './health.ts'
import { Pace } from './limits.ts'

function clock() {
  let now = 0
  return { nowMs: () => now, pass: (ms: number) => (now += ms) }
}

describe('pace', () => {
  test('keeps to a set rate after its first burst', () => {
    const { nowMs, pass } = clock()
    const pace = new Pace(10, nowMs)
    const waits = Array.from({ length: 15 }, () => pace.reserveMs())
    expect(waits.slice(0, 10)).toEqual(Array(10).fill(0))
    expect(waits.slice(10).map(Math.round)).toEqual([100, 200, 300, 400, 500])
    pass(10_000)
    expect(pace.reserveMs()).toBe(0)
  })

  test('slows down when it is refused, once for calls that were under way together, and recovers', () => {
    const { nowMs, pass } = clock()
    const pace = new Pace(undefined, nowMs)
    for (let call = 0; call < 5; call++) pace.refused({ inFlight: 4, retryAfterMs: 2_000 })
    expect(pace.requestsPerSecond).toBe(50)
    expect(pace.reserveMs()).toBe(2_000)
    pass(2_000)
    expect(pace.reserveMs()).toBe(0)
    const slowed = pace.requestsPerSecond
    pass(20_000)
    pace.reserveMs()
    expect(pace.requestsPerSecond).toBeGreaterThan(slowed * 4)
  })

  test('never waits longer than half a minute on the word of an endpoint', () => {
    const { nowMs } = clock()
    const pace = new Pace(undefined, nowMs)
    pace.refused({ inFlight: 0, retryAfterMs: 86_400_000 })
    expect(pace.reserveMs()).toBe(30_000)
  })
})

describe('breaker', () => {
  test('opens after the third failure in a row, for longer each time, and closes with a success', () => {
    const { nowMs, pass } = clock()
    const breaker = new Breaker(nowMs)
    breaker.failed()
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    breaker.failed()
    expect(breaker.open).toBe(false)
    breaker.failed()
    expect(breaker.open).toBe(true)
    expect(breaker.opensInMs).toBe(1_000)
    pass(1_000)
    expect(breaker.open).toBe(false)
    breaker.failed()
    expect(breaker.opensInMs).toBe(2_000)
    for (let more = 0; more < 20; more++) breaker.failed()
    expect(breaker.opensInMs).toBe(30_000)
    breaker.succeeded()
    expect(breaker.open).toBe(false)
  })
})
