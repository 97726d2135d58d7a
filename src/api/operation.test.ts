import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { AlmanacError } from '../errors.ts'
import { createMetrics } from '../metrics.ts'
import { AdmissionQueue, TurnLoad } from './admission-queue.ts'
import { AnswerCache, readyAnswer } from './answer.ts'
import { UnsentAnswers } from './answer-memory.ts'
import { type Context, defaultApiSettings } from './context.ts'
import { freshenWaitMsOf, perform } from './operation.ts'
import type { ApiRequest } from './request.ts'

const settings = { ...defaultApiSettings, freshenWaitMs: 3_000, requestTimeoutMs: 15_000 }
const waitOf = (prefer: string | undefined) =>
  freshenWaitMsOf({ header: (name: string) => (name === 'prefer' ? prefer : undefined) } as ApiRequest, settings)

test.each([
  [undefined, 3_000],
  ['', 3_000],
  ['respond-async', 3_000],
  ['wait=0', 0],
  ['wait=7', 7_000],
  ['respond-async, wait = "5"', 5_000],
  ['handling=lenient; WAIT=2', 2_000],
  ['wait=999999', 14_000],
  ['wait=-1', 3_000],
  ['await=9', 3_000],
])('%j waits %i ms', (prefer, waitMs) => {
  expect(waitOf(prefer)).toBe(waitMs)
})

function service({ unsent = new UnsentAnswers(100_000), timeoutMs = 1_000 } = {}) {
  const metrics = createMetrics()
  const context = {
    cache: new AnswerCache(1_000),
    gatekeeper: { admit: () => ({ key: {}, rateLimit: undefined }) },
    metrics,
    queue: new AdmissionQueue({ concurrencyMax: 1, queueMax: 0, timeoutMs }),
    revision: () => 1,
    settings,
    turnLoad: new TurnLoad(32),
    unsent,
  } as unknown as Context
  const lent = { released: 0 }
  const left: AlmanacError[] = []
  const request = {
    header: () => undefined,
    leave: (reason: AlmanacError) => void left.push(reason),
    startedMs: performance.now(),
    target: '/',
  } as unknown as ApiRequest
  const answer = async (waitMs = 0) => {
    const body = Buffer.alloc(50_000) as Buffer<ArrayBuffer>
    const ready = readyAnswer({ headers: {}, body, release: () => void lent.released++ })
    await new Promise(resolve => setTimeout(resolve, waitMs))
    return { ready, keep: false }
  }
  return {
    left,
    lent,
    shed: async () => (await metrics.http.shed.get()).values[0]?.value,
    ask: async (waitMs?: number) =>
      await perform(context, request, { scope: 'nft-transfers', work: () => answer(waitMs) }),
  }
}

test('requests are refused while clients do not take the answers to others', async () => {
  const unsent = new UnsentAnswers(100_000)
  const { ask, shed, lent } = service({ unsent })
  const response = () => new EventEmitter() as ServerResponse
  const refusal = { code: 'overloaded', retryAfterMs: 1_000 }
  const [first, second] = [response(), response()]
  unsent.add(first, new Uint8Array(60_000))
  // There is room before the answer is made, and none for the answer.
  await expect(ask()).rejects.toMatchObject(refusal)
  expect([await shed(), lent.released]).toEqual([1, 1])
  unsent.add(second, new Uint8Array(60_000))
  await expect(ask()).rejects.toMatchObject(refusal)
  expect([await shed(), lent.released]).toEqual([2, 1])
  first.emit('close')
  second.emit('close')
  expect((await ask()).status).toBe(200)
})

test('lent memory is released when the answer comes after its time', async () => {
  const { ask, left, lent } = service({ timeoutMs: 10 })
  await expect(ask(30)).rejects.toMatchObject({ code: 'timeout' })
  expect(left).toMatchObject([{ code: 'timeout' }])
  await expect.poll(() => lent.released).toBe(1)
})
