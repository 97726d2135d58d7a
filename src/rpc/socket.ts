// A WebSocket that reconnects by itself and takes a silent connection for dead. It knows nothing of what is sent over
// it.
import type { Socket } from 'node:net'
import { Agent, buildConnector, WebSocket } from 'undici'
import { messageOf } from '../errors.ts'
import { checkStructure } from './body-structure.ts'
import { type EndpointAddress, endpointAddresses } from './endpoint-address.ts'

export type SocketOptions = {
  url: string
  /** After this long without `heard`, the connection counts as dead. */
  silenceMaxMs: number
  /** Doubles with each failure, up to `max`. A connection that has been of use for as long as `max` ends the series. */
  retryMs: { first: number; max: number }
  onOpen: () => void
  /** Undefined for what is not a JSON object, or larger than any message in use. */
  onMessage: (message: SocketMessage | undefined) => void
  /** The reason may be shown. */
  onDown: (reason: string, wasOpen: boolean) => void
  /** Changes the text of a message before it is parsed. */
  amend?: (text: string) => string
}

/** What a peer claims: every field may be missing or of another type. */
export type SocketMessage = { id?: unknown; method?: unknown; result?: unknown; error?: unknown; params?: unknown }

const messageCharactersMax = 2 ** 25

export class ReconnectingSocket {
  readonly #options: SocketOptions
  readonly #address: EndpointAddress
  #wire: Wire | undefined
  #socket: WebSocket | undefined
  #isOpen = false
  #openedAt = 0
  #heardAt = 0
  #failures = 0
  #connections = 0
  /** Of the next try, or of the next look for silence. */
  #timer: NodeJS.Timeout | undefined

  constructor(options: SocketOptions) {
    this.#options = options
    this.#address = endpointAddresses([options.url])[0]!
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
    this.#heardAt = performance.now()
    if (this.#heardAt - this.#openedAt >= this.#options.retryMs.max) this.#failures = 0
  }

  /** Breaks the connection and makes a new one. */
  reset(reason: string): void {
    if (this.#socket === undefined) return
    const wasOpen = this.#isOpen
    this.close()
    const { first, max } = this.#options.retryMs
    const retryMs = Math.min(max, first * 2 ** this.#failures++) * (0.5 + Math.random() / 2)
    this.#timer = setTimeout(() => this.#connect(), retryMs)
    this.#options.onDown(this.#address.redact(reason), wasOpen)
  }

  close(): void {
    const socket = this.#socket
    const wire = this.#wire
    this.#socket = undefined
    this.#wire = undefined
    this.#isOpen = false
    clearTimeout(this.#timer)
    try {
      socket?.close()
    } catch {
      // A socket that never opened cannot be closed.
    }
    wire?.cut()
  }

  #connect(): void {
    const wire = new Wire(this.#options.silenceMaxMs)
    const { origin, path, authorization } = this.#address
    // A WebSocket takes no fragment, and sends no credentials that stand in its URL.
    const headers = authorization === undefined ? {} : { authorization }
    const socket = new WebSocket(`${origin}${path}`, { dispatcher: wire.agent, headers })
    this.#wire = wire
    this.#socket = socket
    this.#connections++
    this.#heardAt = performance.now()
    this.#watchSilence()
    const on = (event: 'open' | 'message' | 'close' | 'error', handle: (happened: Event) => void): void =>
      socket.addEventListener(event, happened => {
        if (socket !== this.#socket) return
        try {
          handle(happened)
        } catch (error) {
          // What a peer sends must not end the process.
          this.reset(`what it sent failed: ${messageOf(error)}`)
        }
      })
    on('open', () => {
      this.#isOpen = true
      this.#openedAt = this.#heardAt = performance.now()
      this.#options.onOpen()
    })
    on('message', message => this.#options.onMessage(this.#parse((message as MessageEvent).data)))
    on('close', () => this.reset('it was closed'))
    on('error', error => this.reset('message' in error ? String(error.message) : 'it failed'))
  }

  #parse(data: unknown): SocketMessage | undefined {
    if (typeof data !== 'string' || data.length > messageCharactersMax) return undefined
    try {
      checkStructure(data)
      const message: unknown = JSON.parse(this.#options.amend?.(data) ?? data)
      return typeof message === 'object' && message !== null ? message : undefined
    } catch {
      return undefined
    }
  }

  /** One timer that looks at the time: a timer for each message would cost more. */
  #watchSilence(): void {
    const { silenceMaxMs } = this.#options
    const leftMs = silenceMaxMs - (performance.now() - this.#heardAt)
    if (leftMs <= 0) this.reset(`it said nothing for ${silenceMaxMs} ms`)
    else this.#timer = setTimeout(() => this.#watchSilence(), leftMs)
  }
}

/** The connection below a WebSocket, whose own `close` waits for an answer that a dead peer never gives. */
class Wire {
  readonly agent: Agent
  #tcp: Socket | undefined

  constructor(timeoutMs: number) {
    const connect = buildConnector({ timeout: timeoutMs })
    this.agent = new Agent({
      connect: (address, done) =>
        connect(address, (...made) => {
          this.#tcp = made[1] ?? undefined
          done(...made)
        }),
    })
  }

  /** What was written is still sent. */
  cut(): void {
    this.#tcp?.destroySoon()
    this.agent.destroy().catch(() => undefined)
  }
}
