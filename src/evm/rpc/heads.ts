// Listens to `newHeads` on a WebSocket and says "look now". It carries no facts: polling stays the truth, and a silent or broken
// connection only delays the next look until the next poll.
import type { Clock } from '../../abort.ts'
import type { SocketStatus } from '../../model.ts'
import { endpointAddresses } from '../../rpc/endpoint-address.ts'
import { ReconnectingSocket } from '../../rpc/socket.ts'

export type HeadsOptions = {
  url: string
  /** Called for each head, and once after each (re)connection: something may have been missed. */
  lookNow: () => void
  silenceMaxMs?: number
  clock?: Clock
}

export class HeadsFeed {
  readonly #socket: ReconnectingSocket
  readonly #endpoint: string
  readonly #lookNow: () => void
  #subscribed = false

  constructor({ url, lookNow, silenceMaxMs = 60_000, clock }: HeadsOptions) {
    this.#endpoint = endpointAddresses([url])[0]!.name
    this.#lookNow = lookNow
    this.#socket = new ReconnectingSocket({
      url,
      silenceMaxMs,
      retryMs: { first: 500, max: 30_000 },
      clock,
      onOpen: () => this.#socket.send({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }),
      onMessage: data => this.#hear(data),
      onDown: () => {
        this.#subscribed = false
      },
    })
  }

  status(): SocketStatus {
    return { endpoint: this.#endpoint, connected: this.#subscribed, reconnects: this.#socket.reconnects }
  }

  close(): void {
    this.#subscribed = false
    this.#socket.close()
  }

  #hear(data: unknown): void {
    const kind = kindOf(data)
    if (kind === 'refused') this.#socket.reset('it refused eth_subscribe')
    if (kind !== 'subscribed' && kind !== 'head') return
    this.#subscribed = true
    this.#socket.heard()
    this.#lookNow()
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
