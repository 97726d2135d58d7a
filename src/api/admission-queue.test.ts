import { describe, expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import { AdmissionQueue, TurnLoad } from './admission-queue.ts'

const code = (error: unknown) => (error as AlmanacError).code

describe('the queue', () => {
  test('bounds what runs and what waits, and refuses the rest at once', async () => {
    let shed = 0
    const queue = new AdmissionQueue({ concurrencyMax: 2, queueMax: 3, timeoutMs: 5_000, onShed: () => shed++ })
    const started: number[] = []
    const releases: (() => void)[] = []
    const work = (index: number) => () => {
      started.push(index)
      return new Promise<number>(resolve => releases.push(() => resolve(index)))
    }
    const results = Array.from({ length: 7 }, (_, index) => queue.run(work(index)).catch(code))
    expect(started).toEqual([0, 1])
    expect(queue.running).toBe(2)
    for (let index = 0; index < 5; index++) {
      releases[index]!()
      await results[index]
      await new Promise(setImmediate)
    }
    expect(await Promise.all(results)).toEqual([0, 1, 2, 3, 4, 'overloaded', 'overloaded'])
    expect(started).toEqual([0, 1, 2, 3, 4])
    expect(shed).toBe(2)
    expect(queue.running).toBe(0)
  })

  test('gives up on work that takes too long, running or waiting, and keeps its slot until it ends', async () => {
    const queue = new AdmissionQueue({ concurrencyMax: 1, queueMax: 1, timeoutMs: 20 })
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const running = queue.run(() => promise)
    let ran = false
    const waiting = queue.run(async () => {
      ran = true
    })
    expect(await running.catch(code)).toBe('timeout')
    expect(await waiting.catch(code)).toBe('timeout')
    expect(queue.running).toBe(1)
    release()
    await new Promise(setImmediate)
    expect(queue.running).toBe(0)
    expect(ran).toBe(false)
    expect(await queue.run(async () => 'free again')).toBe('free again')
  })

  test('passes failures on, also those before the first await', async () => {
    const queue = new AdmissionQueue({ concurrencyMax: 1, queueMax: 0, timeoutMs: 1_000 })
    await expect(queue.run(() => Promise.reject(new AlmanacError('conflict', 'no')))).rejects.toThrow('no')
    const throwing = () => {
      throw new Error('at once')
    }
    await expect(queue.run(throwing)).rejects.toThrow('at once')
    expect(queue.running).toBe(0)
    await expect(queue.run(async () => 1)).resolves.toBe(1)
  })
})

test('work that waits for something else gives its slot to others', async () => {
  const queue = new AdmissionQueue({ concurrencyMax: 1, queueMax: 1, timeoutMs: 5_000 })
  let release = (): void => {}
  const indexed = new Promise<void>(resolve => {
    release = resolve
  })
  const waiting = queue.run(async () => {
    await queue.withoutSlot(() => indexed)
    return 'first'
  })
  expect(await queue.run(async () => 'second')).toBe('second')
  await new Promise(resolve => setImmediate(resolve))
  // Only `queueMax` may wait without a slot; the next one keeps its own.
  const kept = queue.run(() => queue.withoutSlot(() => indexed))
  const third = queue.run(async () => 'third')
  await expect(queue.run(async () => 'fourth')).rejects.toMatchObject({ code: 'overloaded' })
  release()
  expect(await waiting).toBe('first')
  await kept
  expect(await third).toBe('third')
  await new Promise(resolve => setImmediate(resolve))
  expect(queue.running).toBe(0)
})

test('work that waits for several things at once frees one slot', async () => {
  const queue = new AdmissionQueue({ concurrencyMax: 2, queueMax: 9, timeoutMs: 5_000 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const several = queue.run(() => Promise.all([1, 2, 3].map(() => queue.withoutSlot(() => promise))))
  let [running, most] = [0, 0]
  const others = Array.from({ length: 5 }, () =>
    queue.run(async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
    }),
  )
  await Promise.all(others)
  expect(most).toBe(2)
  resolve()
  await several
  await new Promise(setImmediate)
  expect(queue.running).toBe(0)
})

test('work that ends after its time is told so, and hands its result to be discarded', async () => {
  const queue = new AdmissionQueue({ concurrencyMax: 1, queueMax: 0, timeoutMs: 10 })
  const { promise, resolve } = Promise.withResolvers<string>()
  const discarded: string[] = []
  const late: string[] = []
  const run = queue.run(() => promise, {
    discard: result => discarded.push(result),
    onLate: ({ code }) => late.push(code),
  })
  await expect(run).rejects.toMatchObject({ code: 'timeout' })
  expect(late).toEqual(['timeout'])
  resolve('late')
  await new Promise(setImmediate)
  expect(discarded).toEqual(['late'])
})

describe('the load of turns', () => {
  const requestsMax = 4

  /** One turn with so many requests, each of which takes so long. Returns how many were refused. */
  async function turn(load: TurnLoad, requests: number, eachMs: number): Promise<number> {
    let refused = 0
    for (let request = 0; request < requests; request++) {
      if (load.isTooMuch(performance.now())) refused++
      else work(eachMs)
    }
    await new Promise(setImmediate)
    return refused
  }

  function work(forMs: number): void {
    const endMs = performance.now() + forMs
    while (performance.now() < endMs);
  }

  test('refuses nothing in a burst, and what is too much once the load has lasted', async () => {
    const load = new TurnLoad(requestsMax, 250)
    expect(await turn(load, 10, 10)).toBe(0)
    // Each request takes 10 ms: a turn admits the four that are allowed, which take longer than a short turn.
    const endMs = performance.now() + 2_000
    let refused = 0
    while (refused === 0 && performance.now() < endMs) refused = await turn(load, 20, 10)
    expect(refused).toBe(16)
    expect(await turn(load, 20, 10)).toBe(16)
    // As many as are allowed are answered meanwhile, and more of them where they are quick.
    expect(await turn(load, requestsMax, 10)).toBe(0)
    expect(await turn(load, 20, 0)).toBe(0)
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(await turn(load, 20, 10)).toBe(0)
  })
})
