// Listens to `newHeads` on a WebSocket and says "look now". It carries no facts: polling stays the truth, and a silent or broken
// connection only means that the next poll is the next look.
import { WebSocket } from 'undici'
import { type Clock, realClock } from '../../abort.ts'
import { endpointAddresses } from '../../rpc/endpoint-address.ts'

export type HeadsOptions = {
  url: string
  /** Called for each head that is told, and once after each (re)connection: something may have been missed. */
  lookNow: () => void
  /** So long without a word and the connection is taken for dead. */
  silenceMaxMs?: number
  clock?: Clock
}

export type HeadsStatus = { endpoint: string; connected: boolean; connections: number; heads: number }

const retryFirstMs = 500
const retryMaxMs = 30_000

export class HeadsFeed {
  readonly #options: HeadsOptions
  readonly #clock: Clock
  readonly #endpoint: string
  #socket: WebSocket | undefined
  #cancelTimer = (): void => {}
  #subscribed = false
  #failures = 0
  #connections = 0
  #heads = 0
  #closed = false

  constructor(options: HeadsOptions) {
    this.#options = options
    this.#clock = options.clock ?? realClock
    this.#endpoint = endpointAddresses([options.url])[0]!.name
    this.#connect()
  }

  status(): HeadsStatus {
    return {
      endpoint: this.#endpoint,
      connected: this.#subscribed,
      connections: this.#connections,
      heads: this.#heads,
    }
  }

  close(): void {
    this.#closed = true
    this.#cancelTimer()
    this.#drop()
  }

  #connect(): void {
    const socket = new WebSocket(this.#options.url)
    this.#socket = socket
    this.#connections++
    this.#expectWord()
    socket.addEventListener('open', () => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
    })
    socket.addEventListener('message', event => {
      if (socket === this.#socket) this.#hear(event.data)
    })
    const broken = (): void => {
      if (socket === this.#socket) this.#reconnect()
    }
    socket.addEventListener('close', broken)
    socket.addEventListener('error', broken)
  }

  #hear(text: unknown): void {
    const kind = kindOf(text)
    if (kind === 'other') return
    if (kind === 'refused') {
      this.#reconnect()
      return
    }
    this.#failures = 0
    this.#expectWord()
    if (kind === 'subscribed') this.#subscribed = true
    else this.#heads++
    this.#options.lookNow()
  }

  #expectWord(): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#clock.after(this.#options.silenceMaxMs ?? 60_000, () => this.#reconnect())
  }

  #reconnect(): void {
    this.#cancelTimer()
    this.#drop()
    if (this.#closed) return
    const waitMs = Math.min(retryMaxMs, retryFirstMs * 2 ** this.#failures)
    this.#failures++
    this.#cancelTimer = this.#clock.after(waitMs, () => this.#connect())
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = undefined
    this.#subscribed = false
    socket?.close()
  }
}

function kindOf(text: unknown): 'subscribed' | 'head' | 'refused' | 'other' {
  if (typeof text !== 'string' || text.length > 1_000_000) return 'other'
  try {
    const message = JSON.parse(text) as { id?: unknown; method?: unknown; error?: unknown }
    if (message.method === 'eth_subscription') return 'head'
    if (message.id !== 1) return 'other'
    return message.error === undefined ? 'subscribed' : 'refused'
  } catch {
    return 'other'
  }
}
