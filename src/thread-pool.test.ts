// A body that ends its thread fails alone; what waited for it here is read.
import { afterEach, expect, test } from 'vitest'
import type { TrialThread } from '../test/trial-thread.ts'
import { BodiesRefused, type PoolOptions, ThreadPool } from './thread-pool.ts'

const module = new URL('../test/trial-thread.ts', import.meta.url)
const memory = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 }

let pool: ThreadPool<Pick<TrialThread, 'read'>>
afterEach(() => pool.close())

function open(options: Partial<PoolOptions> = {}): void {
  pool = new ThreadPool({ module, memory, threads: 1, silentMsMax: 500, ...options })
}

const read = (text: string): Promise<number> => pool.run('read', { bodies: [new TextEncoder().encode(text)] })

test('small bodies are not for a thread, nor are usual ones before one is ready', async () => {
  open({ bytesMin: 10, bytesHereMax: 20 })
  const takes = (bytes: number): boolean => pool.takes([new Uint8Array(bytes)])
  expect([takes(9), takes(10), takes(21)]).toEqual([false, false, true])
  await read('ready')
  expect([takes(9), takes(10)]).toEqual([false, true])
})

test.each([
  ['hang', 500, /no answer within 0.5 s/],
  ['fill', 10_000, /memory/],
])('%s: the body is refused, and those that waited are read', async (how, silentMsMax, reason) => {
  open({ silentMsMax })
  await read('ready')
  const outcomes = await Promise.allSettled([read('a'), read(how), read('bb'), read('ccc'), read('dddd')])
  const values = outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason))
  expect(values).toEqual([1, expect.any(BodiesRefused), 2, 3, 4])
  expect(String(values[1])).toMatch(reason)
})

test('what waits at a thread that ends is lost, and can be asked again', async () => {
  open({ jobsPerThread: 3 })
  await read('ready')
  const outcomes = await Promise.allSettled([read('hang'), read('bb'), read('ccc'), read('dddd')])
  const lost = { status: 'rejected', reason: { code: 'interrupted', retryable: true } }
  expect(outcomes).toMatchObject([{ reason: expect.any(BodiesRefused) }, lost, lost, { value: 4 }])
})

test('threads start as they are needed, up to their number', async () => {
  open({ threads: 2 })
  expect(await Promise.all(['a', 'bb', 'ccc', 'dddd', 'eeeee'].map(read))).toEqual([1, 2, 3, 4, 5])
})

test('a closed pool reads nothing more', async () => {
  open()
  await read('ready')
  const outcomes = Promise.allSettled([read('hang'), read('a'), read('b')])
  await pool.close()
  const expected = { status: 'rejected', reason: { code: 'interrupted' } }
  expect(await outcomes).toMatchObject([expected, expected, expected])
  await expect(read('c')).rejects.toMatchObject({ code: 'interrupted' })
})
