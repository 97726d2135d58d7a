// How much an endpoint is asked at once, with time moved by hand.
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../test/sim/manual-clock.ts'
import { DailyBudget } from './daily-budget.ts'
import { AdaptiveLimit, type LimitOptions, type Permit } from './limits.ts'

const { signal } = new AbortController()

function started(options: Partial<LimitOptions> = {}, clock = new ManualClock()) {
  const limit = new AdaptiveLimit(clock, { isPrivate: false, ...options })
  const permits: Permit[] = []
  const ask = (count: number, { cost = 1, urgent = false } = {}): void => {
    for (let at = 0; at < count; at++) void limit.acquire({ cost, urgent, signal }).then(permit => permits.push(permit))
  }
  const release = (count: number, result: 'ok' | 'limited' | 'slow' | 'neutral', retryAfterMs?: number): void => {
    for (const permit of permits.splice(0, count)) limit.release(permit, { result, retryAfterMs })
  }
  return { clock, limit, permits, ask, release }
}

describe('concurrency', () => {
  test('a local node is asked without a throttle from the start, a public one politely', async () => {
    const local = started({ isPrivate: true })
    const far = started()
    local.ask(100)
    far.ask(100)
    await local.clock.advance(0)
    expect([local.permits.length, far.permits.length]).toEqual([64, 4])
  })

  test('grows by about one for each round of successes, up to a maximum', async () => {
    const { limit, clock, permits, ask, release } = started({ queueMax: 5_000 })
    ask(5_000)
    const seen = [limit.concurrency]
    for (let round = 0; round < 10; round++) {
      await clock.advance(0)
      release(permits.length, 'ok')
      seen.push(limit.concurrency)
    }
    expect(seen.at(-1)).toBeGreaterThanOrEqual(11)
    expect(seen.every((value, at) => at === 0 || value - seen[at - 1]! <= 1)).toBe(true)
    for (let round = 0; round < 70; round++) {
      await clock.advance(0)
      release(permits.length, 'ok')
    }
    expect(limit.concurrency).toBe(64)
  })

  test('halves once for one overload, however many requests tell of it', async () => {
    const { limit, clock, ask, release } = started({ isPrivate: true })
    ask(64)
    await clock.advance(1)
    release(64, 'limited')
    expect(limit.concurrency).toBe(32)
    ask(32)
    await clock.advance(1_000)
    release(1, 'slow')
    expect(limit.concurrency).toBe(16)
  })

  test('nothing is learnt from a request that was called off', async () => {
    const { limit, clock, ask, release } = started()
    ask(4)
    await clock.advance(1)
    release(4, 'neutral')
    expect(limit.concurrency).toBe(4)
  })
})

describe('pauses', () => {
  test('Retry-After is waited for, to the millisecond', async () => {
    const { limit, clock, permits, ask, release } = started()
    ask(1)
    await clock.advance(0)
    release(1, 'limited', 3_000)
    ask(1)
    expect(limit.availableInMs).toBe(3_000)
    await clock.advance(2_999)
    expect(permits.length).toBe(0)
    await clock.advance(1)
    expect(permits.length).toBe(1)
  })

  test('a pause that is too long to wait for refuses at once, also what waits already', async () => {
    const { clock, limit, permits, ask, release } = started()
    ask(4)
    await clock.advance(0)
    const waiting = limit.acquire({ cost: 1, urgent: false, signal })
    release(1, 'limited', 60_000)
    await expect(waiting).rejects.toMatchObject({ reason: 'paused', retryAfterMs: 60_000 })
    await clock.advance(40_000)
    await expect(limit.acquire({ cost: 1, urgent: true, signal })).rejects.toMatchObject({ retryAfterMs: 20_000 })
    release(3, 'neutral')
    await clock.advance(20_000)
    ask(1)
    await clock.advance(0)
    expect(permits.length).toBe(1)
  })

  test('without Retry-After the pause doubles until it answers again', async () => {
    const { limit, clock, permits, ask, release } = started()
    const pauses: number[] = []
    for (let round = 0; round < 4; round++) {
      ask(1)
      while (permits.length === 0) await clock.advance(50)
      release(1, 'limited')
      pauses.push(limit.availableInMs)
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000])
    ask(1)
    while (permits.length === 0) await clock.advance(50)
    release(1, 'ok')
    ask(1)
    await clock.advance(1)
    release(1, 'limited')
    expect(limit.availableInMs).toBe(250)
  })
})

describe('waiting', () => {
  test('a request that has waited too long leaves the queue, and those after it go on', async () => {
    const { clock, limit, permits, ask, release } = started({ waitMaxMs: 10_000 })
    ask(4)
    await clock.advance(0)
    const early = limit.acquire({ cost: 1, urgent: false, signal })
    const refused = expect(early).rejects.toMatchObject({ reason: 'waited-too-long', retryAfterMs: 1_000 })
    await clock.advance(5_000)
    ask(1)
    await clock.advance(5_000)
    await refused
    expect(permits.length).toBe(4)
    release(1, 'ok')
    await clock.advance(0)
    expect(permits.length).toBe(4)
    // A permit in time is not taken back.
    await clock.advance(60_000)
    expect(permits.length).toBe(4)
  })

  test('a request is refused at once where the rate would keep it waiting too long', async () => {
    const { clock, limit, permits, ask } = started({ isPrivate: true, requestsPerSecond: 2, waitMaxMs: 1_000 })
    ask(4)
    await clock.advance(0)
    expect(permits.length).toBe(2)
    await expect(limit.acquire({ cost: 1, urgent: true, signal })).rejects.toMatchObject({
      reason: 'over-rate',
      retryAfterMs: 1_500,
    })
    await clock.advance(1_000)
    expect(permits.length).toBe(4)
  })

  test('what waits is refused when the endpoint begins to rest', async () => {
    const { clock, limit, ask } = started()
    ask(4)
    await clock.advance(0)
    const waiting = limit.acquire({ cost: 1, urgent: false, signal })
    limit.refuseWaiting(2_000)
    await expect(waiting).rejects.toMatchObject({ reason: 'resting', retryAfterMs: 2_000 })
  })
})

describe('budgets', () => {
  test('requestsPerSecond counts calls, not requests', async () => {
    const { clock, permits, ask, release } = started({ isPrivate: true, requestsPerSecond: 10 })
    ask(40)
    await clock.advance(0)
    expect(permits.length).toBe(10)
    release(10, 'ok')
    await clock.advance(1_000)
    expect(permits.length).toBe(10)
    release(10, 'ok')
    await clock.advance(2_000)
    release(permits.length, 'ok')
    ask(1, { cost: 30 })
    ask(1)
    await clock.advance(1_000)
    expect(permits.length).toBe(1)
    // The batch of thirty has to be paid off before the next call goes.
    await clock.advance(1_900)
    expect(permits.length).toBe(1)
    await clock.advance(300)
    expect(permits.length).toBe(2)
  })

  test('the daily budget ends at midnight UTC', async () => {
    const clock = new ManualClock()
    const { limit, permits, ask } = started({ budget: new DailyBudget(3, clock) }, clock)
    await clock.advance(23 * 3_600_000)
    ask(3)
    await clock.advance(0)
    expect(permits.length).toBe(3)
    await expect(limit.acquire({ cost: 1, urgent: false, signal })).rejects.toMatchObject({
      reason: 'daily-budget',
      retryAfterMs: 3_600_000,
    })
    await clock.advance(3_600_000)
    expect(limit.availableInMs).toBe(0)
  })

  test('the queue is bounded, the urgent go first and the idle last, and who gives up leaves it', async () => {
    const { clock, limit, permits, ask, release } = started({ queueMax: 4 })
    ask(4)
    await clock.advance(0)
    const order: string[] = []
    const giveUp = new AbortController()
    const idle = limit.acquire({ cost: 1, urgent: false, idle: true, signal }).then(() => order.push('idle'))
    const patient = limit.acquire({ cost: 1, urgent: false, signal }).then(() => order.push('patient'))
    const gone = limit.acquire({ cost: 1, urgent: false, signal: giveUp.signal })
    const urgent = limit.acquire({ cost: 1, urgent: true, signal }).then(() => order.push('urgent'))
    await expect(limit.acquire({ cost: 1, urgent: true, signal })).rejects.toMatchObject({ reason: 'queue-full' })
    giveUp.abort(new Error('gave up'))
    await expect(gone).rejects.toThrow('gave up')
    release(permits.length, 'neutral')
    await Promise.all([patient, urgent, idle])
    expect(order).toEqual(['urgent', 'patient', 'idle'])
  })
})
