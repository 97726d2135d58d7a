// Listens to `newHeads` on a WebSocket and says "look now". It carries no facts: polling stays the truth, and a silent
// or broken connection only delays the next look until the next poll.

import { isError } from '../../rpc/answers.ts'
import { endpointAddresses } from '../../rpc/endpoint-address.ts'
import { ReconnectingSocket, type SocketMessage } from '../../rpc/socket.ts'
import type { SocketStatus } from '../../status.ts'

export type HeadsOptions = {
  url: string
  /** Called for each head, and once after each (re)connection: something may have been missed. */
  lookNow: () => void
  silenceMaxMs?: number
}

/** The feed of a chain: there is one while somebody listens and a URL is set, which may change meanwhile. */
export class HeadsNews {
  #url: string | undefined
  readonly #looks = new Set<() => void>()
  #feed: HeadsFeed | undefined

  constructor(url: string | undefined) {
    this.#url = url
  }

  /** Returns what ends it. */
  tell(look: () => void): () => void {
    this.#looks.add(look)
    if (this.#looks.size === 1) this.#open()
    return () => {
      this.#looks.delete(look)
      if (this.#looks.size === 0) this.#open()
    }
  }

  move(url: string | undefined): void {
    if (url === this.#url) return
    this.#url = url
    this.#open()
  }

  status(): { ws?: SocketStatus } {
    return this.#feed === undefined ? {} : { ws: this.#feed.status() }
  }

  #open(): void {
    this.#feed?.close()
    const url = this.#url
    const lookNow = (): void => {
      for (const look of this.#looks) look()
    }
    this.#feed = url === undefined || this.#looks.size === 0 ? undefined : new HeadsFeed({ url, lookNow })
  }
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
