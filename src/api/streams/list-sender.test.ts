import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { AlmanacError } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { createMetrics } from '../../metrics.ts'
import { LentBytes, lentBytes, takeMemory } from '../answer-memory.ts'
import { ListSender, type ListSenderOptions } from './list-sender.ts'

const lentBefore = lentBytes()
let isStopped = false

function senderOf(options: Partial<ListSenderOptions> = {}, rows = 1, bytes = 10): ListSender {
  isStopped = false
  const batches = async function* () {
    try {
      for (let batch = 0; batch < 3; batch++) yield { rows, lines: new LentBytes(takeMemory(bytes), bytes) }
    } finally {
      isStopped = true
    }
  }
  const list = { block: 1, complete: true, evidence: undefined, columns: ['a'], batches: batches() }
  return new ListSender(list, 'ndjson', {
    ...{ metrics: createMetrics().streams, log: createLog({ level: 'silent', format: 'json' }), requestId: 'r' },
    ...{ pageSize: 100, turn: async () => undefined, spend: async () => undefined, ...options },
  })
}

test('a list whose first rows the key cannot pay is stopped, and lets go of what it holds', async () => {
  const spend = async () => {
    throw new AlmanacError('quota_exceeded', 'Quota exceeded')
  }
  await expect(senderOf({ spend }, 101).start(1_000)).rejects.toMatchObject({ code: 'quota_exceeded' })
  expect([isStopped, lentBytes()]).toEqual([true, lentBefore])
})

test('a client that does not take the last line is cut', async () => {
  let isDestroyed = false
  const outgoing = Object.assign(new EventEmitter(), {
    socket: { destroyed: false },
    write: (_: unknown, done: () => void) => done(),
    // Never done.
    end: () => setImmediate(() => outgoing.emit('timeout')),
    destroy: () => {
      isDestroyed = true
    },
  })
  const sender = senderOf()
  await sender.start(1_000)
  await sender.send(outgoing as unknown as ServerResponse)
  expect([isDestroyed, lentBytes()]).toEqual([true, lentBefore])
})

/** Whether a list of three batches is sent whole to a client whose system takes bytes in such steps. */
async function isSentWhole(batchBytes: number, taken: { bytesPerSecond: number; stepBytes: number }) {
  vi.useFakeTimers()
  try {
    let isWhole = false
    let [given, tookAtMs] = [0, performance.now()]
    const outgoing = Object.assign(new EventEmitter(), {
      socket: { destroyed: false },
      write: (bytes: Uint8Array, done: () => void) => {
        const [stepsBefore, steps] = [given, given + bytes.length].map(sum => Math.floor(sum / taken.stepBytes))
        given += bytes.length
        tookAtMs += ((steps! - stepsBefore!) * taken.stepBytes * 1_000) / taken.bytesPerSecond
        setTimeout(done, tookAtMs - performance.now())
      },
      end: (_: unknown, done: () => void) => {
        isWhole = true
        done()
      },
      destroy: () => undefined,
    })
    const sender = senderOf({ rate: { bytesPerSecond: 32_768, windowMs: 20_000 } }, 1, batchBytes)
    await sender.start(1_000)
    const sent = sender.send(outgoing as unknown as ServerResponse)
    await vi.advanceTimersByTimeAsync(3_600_000)
    await sent
    return isWhole
  } finally {
    vi.useRealTimers()
  }
}

test('a client above the minimum rate gets all of a list whose batches take longer than the window', async () => {
  const stepBytes = 65_536
  expect(await isSentWhole(2 ** 20, { bytesPerSecond: 36_000, stepBytes })).toBe(true)
  expect(await isSentWhole(2 ** 20, { bytesPerSecond: 20_000, stepBytes })).toBe(false)
  expect(lentBytes()).toBe(lentBefore)
})

test('a client above the minimum rate whose system takes much at once, and then nothing for long, is not cut', async () => {
  const stepBytes = 1.5 * 2 ** 20
  expect(await isSentWhole(4 * 2 ** 20, { bytesPerSecond: 40_000, stepBytes })).toBe(true)
  expect(lentBytes()).toBe(lentBefore)
})
