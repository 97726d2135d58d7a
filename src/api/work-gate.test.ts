import { describe, expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import { WorkGate } from './work-gate.ts'

const code = (error: unknown) => (error as AlmanacError).code

describe('the gate', () => {
  test('runs so many at once, lets so many wait and refuses the rest at once', async () => {
    let shed = 0
    const gate = new WorkGate({ concurrencyMax: 2, queueMax: 3, timeoutMs: 5_000, onShed: () => shed++ })
    const started: number[] = []
    const releases: (() => void)[] = []
    const work = (index: number) => () => {
      started.push(index)
      return new Promise<number>(resolve => releases.push(() => resolve(index)))
    }
    const results = Array.from({ length: 7 }, (_, index) => gate.run(work(index)).catch(code))
    expect(started).toEqual([0, 1])
    expect(gate.running).toBe(2)
    for (let index = 0; index < 5; index++) {
      releases[index]!()
      await results[index]
      await new Promise(setImmediate)
    }
    expect(await Promise.all(results)).toEqual([0, 1, 2, 3, 4, 'overloaded', 'overloaded'])
    expect(started).toEqual([0, 1, 2, 3, 4])
    expect(shed).toBe(2)
    expect(gate.running).toBe(0)
  })

  test('gives up on work that takes too long, running or waiting, and keeps its place until it ends', async () => {
    const gate = new WorkGate({ concurrencyMax: 1, queueMax: 1, timeoutMs: 20 })
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const running = gate.run(() => promise)
    let ran = false
    const waiting = gate.run(async () => {
      ran = true
    })
    expect(await running.catch(code)).toBe('timeout')
    expect(await waiting.catch(code)).toBe('timeout')
    expect(gate.running).toBe(1)
    release()
    await new Promise(setImmediate)
    expect(gate.running).toBe(0)
    expect(ran).toBe(false)
    expect(await gate.run(async () => 'free again')).toBe('free again')
  })

  test('passes failures on, also those before the first await', async () => {
    const gate = new WorkGate({ concurrencyMax: 1, queueMax: 0, timeoutMs: 1_000 })
    await expect(gate.run(() => Promise.reject(new AlmanacError('conflict', 'no')))).rejects.toThrow('no')
    const throwing = () => {
      throw new Error('at once')
    }
    await expect(gate.run(throwing)).rejects.toThrow('at once')
    expect(gate.running).toBe(0)
    await expect(gate.run(async () => 1)).resolves.toBe(1)
  })
})

test('work that waits for somebody else gives its place to others', async () => {
  const gate = new WorkGate({ concurrencyMax: 1, queueMax: 1, timeoutMs: 5_000 })
  let release = (): void => {}
  const indexed = new Promise<void>(resolve => {
    release = resolve
  })
  const waiting = gate.run(async () => {
    await gate.aside(() => indexed)
    return 'first'
  })
  expect(await gate.run(async () => 'second')).toBe('second')
  await new Promise(resolve => setImmediate(resolve))
  // As many may stand aside as may wait in line; the next one keeps its place.
  const kept = gate.run(() => gate.aside(() => indexed))
  const third = gate.run(async () => 'third')
  await expect(gate.run(async () => 'fourth')).rejects.toMatchObject({ code: 'overloaded' })
  release()
  expect(await waiting).toBe('first')
  await kept
  expect(await third).toBe('third')
  await new Promise(resolve => setImmediate(resolve))
  expect(gate.running).toBe(0)
})
