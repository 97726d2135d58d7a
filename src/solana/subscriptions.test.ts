import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createLog } from '../log.ts'
import { accountSubscription, Subscriptions } from './subscriptions.ts'

type Request = { id: number; method: string; params: unknown[] }

const log = createLog({ level: 'silent', format: 'json' })
const subscription = accountSubscription('11111111111111111111111111111111')

let server: WebSocketServer
let node: WebSocket
let requests: Request[]
let heard: unknown[]
let subscriptions: Subscriptions

beforeEach(async () => {
  requests = []
  heard = []
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  server.on('connection', socket => {
    node = socket
    socket.on('message', text => requests.push(JSON.parse(String(text))))
  })
  await new Promise<void>(onUp => {
    subscriptions = new Subscriptions({
      network: 'devnet',
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      log,
      onUp,
      onDown: () => {},
      onNotification: (_, result) => heard.push(result),
    })
  })
})
afterEach(() => {
  subscriptions.close()
  for (const socket of server.clients) socket.terminate()
  server.close()
})

const confirm = (id: number, result: number) => node.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
const notify = (subscription: number, result: string) =>
  node.send(JSON.stringify({ jsonrpc: '2.0', method: 'accountNotification', params: { subscription, result } }))
const unsubscribed = () =>
  requests.flatMap(({ method, params }) => (method === 'accountUnsubscribe' ? [params[0]] : []))

test('unsubscribes at the node what was removed while it was being confirmed', async () => {
  const confirmation = subscriptions.add(subscription)
  const refused = expect(confirmation).rejects.toThrow('then not to')
  await expect.poll(() => requests.length).toBe(1)
  subscriptions.remove(subscription.key)
  confirm(requests[0]!.id, 71)
  await refused
  await expect.poll(unsubscribed).toEqual([71])
  expect(subscriptions.size).toBe(0)
})

test('keeps only the later subscription of a subject that was removed and added again', async () => {
  const first = expect(subscriptions.add(subscription)).rejects.toThrow('then not to')
  subscriptions.remove(subscription.key)
  const second = subscriptions.add(subscription)
  await expect.poll(() => requests.length).toBe(2)
  confirm(requests[0]!.id, 71)
  confirm(requests[1]!.id, 72)
  await first
  await second
  notify(71, 'of the first')
  notify(72, 'of the second')
  await expect.poll(() => heard).toEqual(['of the second'])
  await expect.poll(unsubscribed).toEqual([71])
  subscriptions.remove(subscription.key)
  await expect.poll(unsubscribed).toEqual([71, 72])
})

test('takes a confirmation with an error of null for what it is', async () => {
  const confirmation = subscriptions.add(subscription)
  await expect.poll(() => requests.length).toBe(1)
  node.send(JSON.stringify({ jsonrpc: '2.0', id: requests[0]!.id, result: 71, error: null }))
  await confirmation
  expect(subscriptions.isConfirmed(subscription.key)).toBe(true)
})
