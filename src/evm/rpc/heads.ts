// Listens to `newHeads` on a WebSocket and says "look now". It carries no facts: polling stays the truth, and a silent
// or broken connection only delays the next look until the next poll.
import type { SocketStatus } from '../../model.ts'
import { isError } from '../../rpc/answers.ts'
import { endpointAddresses } from '../../rpc/endpoint-address.ts'
import { ReconnectingSocket, type SocketMessage } from '../../rpc/socket.ts'

export type HeadsOptions = {
  url: string
  /** Called for each head, and once after each (re)connection: something may have been missed. */
  lookNow: () => void
  silenceMaxMs?: number
}

export class HeadsFeed {
  readonly #socket: ReconnectingSocket
  readonly #endpoint: string
  readonly #lookNow: () => void
  #subscribed = false

  constructor({ url, lookNow, silenceMaxMs = 60_000 }: HeadsOptions) {
    this.#endpoint = endpointAddresses([url])[0]!.name
    this.#lookNow = lookNow
    this.#socket = new ReconnectingSocket({
      url,
      silenceMaxMs,
      retryMs: { first: 500, max: 30_000 },
      onOpen: () => this.#socket.send({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }),
      onMessage: message => this.#hear(message),
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

  #hear({ id, method, error }: SocketMessage = {}): void {
    const isAnswer = id === 1
    if (isAnswer && isError(error)) this.#socket.reset('it refused eth_subscribe')
    else if (isAnswer || method === 'eth_subscription') {
      this.#subscribed = true
      this.#socket.heard()
      this.#lookNow()
    }
  }
}
