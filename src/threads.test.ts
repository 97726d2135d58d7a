import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { AlmanacError } from './errors.ts'
import { callThread, serveThread } from './threads.ts'

const channels: MessageChannel[] = []
afterEach(() => {
  for (const { port1, port2 } of channels.splice(0)) {
    port1.close()
    port2.close()
  }
})

const refusal = { hint: 'free some space.', retryable: true, retryAfterMs: 10_000, details: { free: 0 } }

function linked() {
  const channel = new MessageChannel()
  channels.push(channel)
  serveThread(channel.port1, {
    add: async (a: number, b: number) => a + b,
    refuse: async () => {
      throw new AlmanacError('store_full', 'No room.', { ...refusal, cause: new Error('SQLITE_FULL') })
    },
    never: () => new Promise(() => {}),
    odd: async () => () => 1,
    oddly: async () => {
      throw Object.create(null)
    },
  })
  type Far = {
    add(a: number, b: number): Promise<number>
    refuse(): Promise<void>
    never(): Promise<void>
    odd(): Promise<unknown>
    oddly(): Promise<void>
  }
  return callThread<Far>(channel.port2)
}

test('calls answer in whatever order they end', async () => {
  const { far } = linked()
  expect(await Promise.all([far.add(1, 2), far.add(3, 4)])).toEqual([3, 7])
})

test('an error keeps every field', async () => {
  const { far } = linked()
  const expected = { code: 'store_full', message: 'No room.', ...refusal, cause: new Error('SQLITE_FULL') }
  await expect(far.refuse()).rejects.toMatchObject(expected)
})

test('what a message cannot carry fails the call instead of leaving it waiting', async () => {
  const { far } = linked()
  await expect(far.odd()).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('cloned') })
  await expect(far.oddly()).rejects.toMatchObject({ code: 'internal' })
  expect(await far.add(1, 2)).toBe(3)
})

test('when the far thread ends, every waiting and later call fails', async () => {
  const { far, fail } = linked()
  const waiting = far.never()
  fail(new Error('the thread ended'))
  await expect(waiting).rejects.toThrow('the thread ended')
  await expect(far.add(1, 1)).rejects.toThrow('the thread ended')
})
