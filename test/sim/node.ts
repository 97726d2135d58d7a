// Simulated nodes over HTTP and WebSocket: one chain, one truth, as many endpoints as wanted, each with its own faults.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { SimChain } from './chain.ts'
import { type Control, controlAnswer } from './control.ts'
import { type Reply, SimEndpoint } from './endpoint.ts'
import type { Fault } from './faults.ts'
import { headerText, quantity } from './json.ts'
import { SimMethods } from './methods.ts'
import type { SimChainOptions } from './options.ts'
import { type Move, makeMove } from './story.ts'
import { ServerWebSocket } from './websocket.ts'

export type SimNodeOptions = {
  chain?: SimChain | Partial<SimChainOptions>
  /** Faults of each endpoint; one endpoint without faults by default. */
  endpoints?: readonly { faults?: readonly Fault[]; seed?: number; port?: number }[]
  host?: string
  /** Lets clients move the head and change faults by `sim_` methods, for a node in its own process. */
  control?: boolean
  /** Bytes of ready-made answers that are kept. */
  cacheBytes?: number
}

export type RunningEndpoint = SimEndpoint & {
  readonly url: string
  readonly webSocketUrl: string
  /** Most requests that were under way at once. */
  readonly inFlightMax: number
  /** Cuts every open WebSocket. */
  dropWebSockets(): void
  /** Stops telling of new heads while connections stay open. */
  silent: boolean
}

export type SimNode = {
  chain: SimChain
  endpoints: readonly RunningEndpoint[]
  /** Of the first endpoint. */
  url: string
  mine(count?: number): void
  reorg(move: { depth: number; length: number }): void
  /** The next moves of a seeded story; see `story.ts`. */
  tell(moves: readonly Move[]): void
  /** Makes the answers of a range ready, so that a benchmark measures its reader. */
  warm(range: { from: number; to: number }, options?: { receipts?: boolean }): void
  close(): Promise<void>
}

export async function startSimNode(options: SimNodeOptions = {}): Promise<SimNode> {
  const chain = options.chain instanceof SimChain ? options.chain : new SimChain(options.chain, { shares: true })
  const { host = '127.0.0.1', cacheBytes } = options
  const methods = new SimMethods(chain, cacheBytes === undefined ? {} : { cacheBytes })
  const control = options.control === true ? (body: string) => controlAnswer(body, chain, () => endpoints) : undefined
  const endpoints: EndpointServer[] = await Promise.all(
    (options.endpoints ?? [{}]).map(({ faults = [], seed, port = 0 }, at) => {
      const ownSeed = seed ?? chain.options.seed * 31 + at
      return new EndpointServer(methods, { faults, seed: ownSeed, control }).listen(host, port)
    }),
  )
  return {
    chain,
    endpoints,
    url: endpoints[0]!.url,
    mine: count => chain.mine(count),
    reorg: move => void chain.reorg(move),
    tell: moves => {
      for (const move of moves) makeMove(chain, move)
    },
    warm: (range, { receipts = true } = {}) => methods.warm(range, { receipts }),
    close: async () => {
      await Promise.all(endpoints.map(endpoint => endpoint.close()))
    },
  }
}

class EndpointServer extends SimEndpoint {
  url = ''
  webSocketUrl = ''
  inFlightMax = 0
  silent = false
  #inFlight = 0
  readonly #server: Server
  readonly #sockets = new Set<ServerWebSocket>()
  readonly #stopped = new AbortController()

  readonly #control: Control | undefined

  constructor(methods: SimMethods, options: { seed: number; faults: readonly Fault[]; control: Control | undefined }) {
    super(methods, options)
    this.#control = options.control
    this.#server = createServer(
      { keepAliveTimeout: 30_000 },
      (request, response) => void this.#handle(request, response),
    )
    this.#server.on('upgrade', (request, socket) => this.#subscribe(new ServerWebSocket(request, socket)))
  }

  async listen(host: string, port: number): Promise<this> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve))
    const address = `${host}:${(this.#server.address() as AddressInfo).port}`
    this.url = `http://${address}`
    this.webSocketUrl = `ws://${address}`
    return this
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    this.dropWebSockets()
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  dropWebSockets(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlightMax = Math.max(this.inFlightMax, ++this.#inFlight)
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const controlled = this.#control?.(body)
      if (controlled !== undefined) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(controlled)
        return
      }
      const reply = this.answer(body)
      if (reply.delayMs > 0) await delay(reply.delayMs, undefined, { signal: this.#stopped.signal })
      await this.#send(request, response, reply)
    } catch {
      response.destroy()
    } finally {
      this.#inFlight--
    }
  }

  async #send(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
    const { status, headers, parts, breaks } = reply
    if (breaks === 'reset') return void request.socket.resetAndDestroy()
    if (breaks === 'hang') return void (await new Promise(resolve => request.socket.once('close', resolve)))
    if (breaks === 'endless') return this.#sendEndless(response)
    if (breaks === 'drip' || breaks === 'crumbs') return this.#sendSlowly(response, reply)
    if (breaks === 'truncated') {
      const whole = Buffer.concat(parts)
      const cut = whole.subarray(0, Math.max(1, Math.floor(whole.length * 0.6)))
      return void response.writeHead(status, { ...headers, 'content-length': cut.length }).end(cut)
    }
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (
      length > 1_024 &&
      !('content-encoding' in headers) &&
      String(request.headers['accept-encoding']).includes('gzip')
    ) {
      const packed = gzipSync(Buffer.concat(parts), { level: 1 })
      const packedHeaders = { ...headers, 'content-encoding': 'gzip', 'content-length': packed.length }
      return void response.writeHead(status, packedHeaders).end(packed)
    }
    response.writeHead(status, { ...headers, 'content-length': length })
    for (const part of parts) response.write(part)
    response.end()
  }

  /** A byte now and then, or everything at once in pieces of a byte. */
  async #sendSlowly(response: ServerResponse, { status, headers, parts, breaks }: Reply): Promise<void> {
    response.writeHead(status, headers)
    for (const byte of Buffer.concat(parts)) {
      if (response.destroyed || this.#stopped.signal.aborted) return
      if (!response.write(Buffer.of(byte))) await drainedOrClosed(response)
      if (breaks === 'drip') await delay(100, undefined, { signal: this.#stopped.signal })
    }
    response.end()
  }

  async #sendEndless(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"jsonrpc":"2.0","id":1,"result":"0x')
    const chunk = Buffer.alloc(64 * 1_024, '0')
    while (!response.destroyed && !this.#stopped.signal.aborted) {
      if (!response.write(chunk)) await drainedOrClosed(response)
    }
  }

  #subscribe(socket: ServerWebSocket): void {
    this.#sockets.add(socket)
    let unsubscribe = (): void => {}
    socket.onClose(() => {
      unsubscribe()
      this.#sockets.delete(socket)
    })
    socket.onText(text => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: unknown[] }
      if (method !== 'eth_subscribe' || params[0] !== 'newHeads') {
        for (const part of this.answer(text).parts) socket.send(part.toString())
        return
      }
      socket.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":"0x9ce59a13059e417087c02d3236a0b1cc"}`)
      unsubscribe = this.chain.onHead(({ from, to }) => {
        for (let number = from; number <= to && !this.silent; number++) socket.send(this.#headNotice(number))
      })
    })
  }

  #headNotice(number: number): string {
    const result = `${headerText(this.chain.block(number))},"size":"${quantity(544)}"}`
    return `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9ce59a13059e417087c02d3236a0b1cc","result":${result}}}`
  }
}

function drainedOrClosed(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}
