import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { AlmanacError } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { createMetrics } from '../../metrics.ts'
import { LentBytes, lentBytes, takeMemory } from '../answer-memory.ts'
import { ListSender, type ListSenderOptions } from './list-sender.ts'

const lentBefore = lentBytes()
let isStopped = false

function senderOf(options: Partial<ListSenderOptions> = {}, rows = 1): ListSender {
  isStopped = false
  const batches = async function* () {
    try {
      for (let batch = 0; batch < 3; batch++) yield { rows, lines: new LentBytes(takeMemory(10), 10) }
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
