// Whatever fails while an answer is made, the client gets one.
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import type { Answer, Handler } from './answer.ts'
import { type Context, defaultApiSettings } from './context.ts'
import type { ApiRequest } from './request.ts'
import { Responder } from './responder.ts'

const request = {
  ...{ method: 'GET', target: '/things', requestId: 'id-1', startedMs: 0, rateLimit: undefined },
  header: () => undefined,
} as unknown as ApiRequest

const broken = () => {
  throw new Error('broken')
}

async function answered(handler: Handler, parts: Partial<Context> = {}): Promise<[Answer, logged: string]> {
  const logged: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: line => logged.push(line) })
  const context = { settings: defaultApiSettings, metrics: createMetrics(), log, ...parts } as Context
  const endpoint = { label: '/things', handler, failureSchema: undefined, crossOrigin: true }
  return [await new Responder(context).answer(request, endpoint), logged.join('')]
}

const bare = {
  status: 500,
  headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'id-1' },
  body: Buffer.from('{"message":"Internal error","code":"internal","request_id":"id-1"}'),
}

const circular: Record<string, unknown> = {}
circular.itself = circular

test('an error that cannot be written becomes a bare 500', async () => {
  const unwritable = new AlmanacError('bad_request', 'No', { details: circular })
  const thrown = () => {
    throw unwritable
  }
  for (const handler of [thrown, () => Promise.reject(unwritable)]) {
    const [answer, logged] = await answered(handler)
    expect(answer).toMatchObject(bare)
    expect(logged).toContain('"request_id":"id-1","route":"/things","msg":"Answer could not be made"')
  }
})

test('an answer that cannot be finished gives its memory and its stream back', async () => {
  const metrics = createMetrics()
  metrics.http.duration.observe = broken
  for (const later of [false, true]) {
    let released = 0
    const stream = new Readable({ read: () => undefined })
    const lent: Answer = { status: 200, headers: {}, body: null, stream, release: () => void released++ }
    const [answer] = await answered(() => (later ? Promise.resolve(lent) : lent), { metrics })
    expect(answer).toMatchObject(bare)
    expect([released, stream.destroyed]).toEqual([1, true])
  }
})

test('a log that fails costs no answer', async () => {
  const log = { error: broken, isLevelEnabled: () => false } as unknown as Context['log']
  expect((await answered(broken, { log }))[0]).toMatchObject(bare)
})
