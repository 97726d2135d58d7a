import { describe, expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import { AdmissionQueue } from './admission-queue.ts'

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
