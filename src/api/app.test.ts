import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { ChainTable } from '../chains.ts'
import { createMetrics } from '../metrics.ts'
import { UnsentAnswers } from './answer-memory.ts'
import { createApp, sendAnswer } from './app.ts'
import { type AppDependencies, defaultApiSettings } from './context.ts'

const unsent = new UnsentAnswers(100_000_000)
let close = async (): Promise<void> => undefined
afterEach(async () => await close())

/** A socket that has asked for `target`, and the response to it. */
async function asked(method = 'GET'): Promise<{ socket: ReturnType<typeof connect>; outgoing: ServerResponse }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`)
  const [, outgoing] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { socket, outgoing }
}

const lent = (length: number) => {
  const lending = { released: 0, answer: {} as Parameters<typeof sendAnswer>[1] }
  lending.answer = { status: 200, headers: {}, body: Buffer.alloc(length), release: () => void lending.released++ }
  return lending
}

test.each(['GET', 'HEAD'])('lent memory is released once it is sent to %s', async method => {
  const { socket, outgoing } = await asked(method)
  const lending = lent(100_000)
  sendAnswer(outgoing, lending.answer, unsent)
  socket.resume()
  await expect.poll(() => lending.released).toBe(1)
})

test('lent memory is released when the client goes away before or while it is sent', async () => {
  const during = await asked()
  const large = lent(50_000_000)
  sendAnswer(during.outgoing, large.answer, unsent)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(large.released).toBe(0)
  during.socket.destroy()
  await expect.poll(() => large.released).toBe(1)
  await close()

  const before = await asked()
  before.socket.destroy()
  await once(before.outgoing, 'close')
  const small = lent(10)
  const stream = Readable.from(['never read'])
  sendAnswer(before.outgoing, { ...small.answer, stream }, unsent)
  expect(small.released).toBe(1)
  expect(stream.destroyed).toBe(true)
})

test('lent memory is released once when it cannot be sent', async () => {
  const { outgoing } = await asked()
  const lending = lent(10)
  expect(() => sendAnswer(outgoing, { ...lending.answer, headers: { 'X-Name': 'a\nb' } }, unsent)).toThrow()
  outgoing.destroy()
  await expect.poll(() => lending.released).toBe(1)
})

test('a file of the console that would take the place of a route is refused', () => {
  const file = { type: 'text/plain', tag: '"1"', immutable: false, plain: Buffer.from('') }
  const parts = {
    chains: new ChainTable(),
    settings: defaultApiSettings,
    metrics: createMetrics(),
    store: { secret: 'kept' },
  }
  const app = (path: string) => createApp({ ...parts, console: new Map([[path, file]]) } as unknown as AppDependencies)
  expect(() => app('/status')).toThrow('There are two routes for GET /status')
  expect(() => app('/status.js')).not.toThrow()
})

test('a stream ends with its client', async () => {
  const { socket, outgoing } = await asked()
  const stream = new Readable({ read: () => undefined })
  sendAnswer(outgoing, { status: 200, headers: {}, body: null, stream }, unsent)
  stream.push('first')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  expect(chunk.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  socket.destroy()
  await expect.poll(() => stream.destroyed).toBe(true)
})
