// A WebSocket that reconnects by itself and takes a silent connection for dead. It knows nothing of what is sent over it.
import { WebSocket } from 'undici'
import { type Clock, realClock } from '../abort.ts'

export type SocketOptions = {
  url: string
  /** After this long without `heard`, the connection counts as dead. */
  silenceMaxMs: number
  /** Doubles with each failure, up to `max`. */
  retryMs: { first: number; max: number }
  onOpen: () => void
  onMessage: (data: unknown) => void
  onDown: (reason: string, wasOpen: boolean) => void
  clock?: Clock | undefined
}

export class ReconnectingSocket {
  readonly #options: SocketOptions
  readonly #clock: Clock
  #socket: WebSocket | undefined
  #isOpen = false
  #heardAt = 0
  #failures = 0
  #connections = 0
  #cancelTimer = (): void => {}

  constructor(options: SocketOptions) {
    this.#options = options
    this.#clock = options.clock ?? realClock
    this.#connect()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get reconnects(): number {
    return this.#connections - 1
  }

  send(message: unknown): void {
    this.#socket?.send(JSON.stringify(message))
  }

  /** The peer said something that makes sense: it is alive. */
  heard(): void {
    this.#heardAt = this.#clock.now()
    this.#failures = 0
  }

  /** Breaks the connection and makes a new one. */
  reset(reason: string): void {
    if (this.#socket === undefined) return
    const wasOpen = this.#isOpen
    this.close()
    const { first, max } = this.#options.retryMs
    const retryMs = Math.min(max, first * 2 ** this.#failures++) * (0.5 + Math.random() / 2)
    this.#cancelTimer = this.#clock.after(retryMs, () => this.#connect())
    this.#options.onDown(reason, wasOpen)
  }

  close(): void {
    const socket = this.#socket
    this.#socket = undefined
    this.#isOpen = false
    this.#cancelTimer()
    try {
      socket?.close()
    } catch {
      // A socket that never opened cannot be closed.
    }
  }

  #connect(): void {
    const socket = new WebSocket(this.#options.url)
    this.#socket = socket
    this.#connections++
    this.#heardAt = this.#clock.now()
    this.#watchSilence()
    const on = (event: 'open' | 'message' | 'close' | 'error', handle: (happened: Event) => void): void =>
      socket.addEventListener(event, happened => {
        if (socket === this.#socket) handle(happened)
      })
    on('open', () => {
      this.#isOpen = true
      this.#heardAt = this.#clock.now()
      this.#options.onOpen()
    })
    on('message', message => this.#options.onMessage((message as MessageEvent).data))
    on('close', () => this.reset('it was closed'))
    on('error', error => this.reset('message' in error ? String(error.message) : 'it failed'))
  }

  /** One timer that looks at the time: a timer for each message would cost more. */
  #watchSilence(): void {
    const { silenceMaxMs } = this.#options
    const leftMs = silenceMaxMs - (this.#clock.now() - this.#heardAt)
    if (leftMs <= 0) this.reset(`it said nothing for ${silenceMaxMs} ms`)
    else this.#cancelTimer = this.#clock.after(leftMs, () => this.#watchSilence())
  }
}
