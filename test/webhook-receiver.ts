// A receiver of webhooks: it verifies every delivery with the library of Standard Webhooks, and behaves as it is told.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'

export type Change = {
  id: string
  state: 'seen' | 'retracted' | 'final'
  kind: string
  chain: string
  block_number: number
  block_hash: string
  data: Record<string, unknown>
}
export type Body =
  | { type: 'changes'; webhook: string; chain: string; changes: Change[]; position: string }
  | { type: 'gone'; webhook: string; chain: string; from_block: number; position: string }
  | { type: 'test'; webhook: string; chain: string; changes: [] }
export type Delivered = { id: string; body: Body; text: string; headers: IncomingHttpHeaders }

/** `ok` and `slow` acknowledge; `lost` takes it in, and its acknowledgement does not arrive. */
export type Behaviour =
  | 'ok'
  | 'slow'
  | 'fails'
  | 'gone'
  | 'resets'
  | 'lost'
  | 'hangs'
  | ((response: ServerResponse) => void)

export class Receiver {
  behaviour: Behaviour = 'ok'
  secret = ''
  readonly requests: Delivered[] = []
  /** Those that were taken in, the same ones again too. */
  onBody: (delivered: Delivered) => void = () => {}
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  get states(): string[] {
    return this.requests.flatMap(({ body }) =>
      body.type === 'changes' ? body.changes.map(({ state, block_number }) => `${state} ${block_number}`) : [body.type],
    )
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { behaviour } = this
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { headers } = request
    const delivered = { id: `${headers['webhook-id']}`, body: JSON.parse(text) as Body, text, headers }
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1_024)
    this.#verify(delivered)
    this.requests.push(delivered)
    if (typeof behaviour === 'function') return behaviour(response)
    if (behaviour === 'fails') return void response.writeHead(500).end('broken')
    if (behaviour === 'gone') return void response.writeHead(410).end()
    if (behaviour === 'resets') return void request.socket.destroy()
    if (behaviour === 'hangs') return
    this.onBody(delivered)
    if (behaviour === 'lost') return void request.socket.destroy()
    if (behaviour === 'slow') await new Promise(resolve => setTimeout(resolve, 150))
    response.writeHead(204).end()
  }

  /** As the library does, which looks at the clock too: a simulated one is not that of the machine. */
  #verify({ id, text, headers }: Delivered): void {
    const seconds = Number(headers['webhook-timestamp'])
    const signed = new Webhook(this.secret).sign(id, new Date(seconds * 1_000), text)
    expect(`${headers['webhook-signature']}`.split(' ')).toContain(signed)
    if (Math.abs(Date.now() / 1_000 - seconds) < 60)
      new Webhook(this.secret).verify(text, headers as Record<string, string>)
  }
}

/** Receivers by their paths, on one port of this machine. */
export class ReceiverServer {
  readonly #receivers = new Map<string, Receiver>()
  /** What went wrong in a receiver, such as a signature. */
  readonly failures: unknown[] = []
  readonly #server = createServer((request, response) => {
    this.#receivers
      .get(request.url!)!
      .take(request, response)
      .catch(error => {
        this.failures.push(error)
        request.socket.destroy()
      })
  })

  static async open(): Promise<ReceiverServer> {
    const made = new ReceiverServer()
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server, 'listening')
    return made
  }

  add(path: string): Receiver {
    const receiver = new Receiver(path)
    this.#receivers.set(path, receiver)
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
