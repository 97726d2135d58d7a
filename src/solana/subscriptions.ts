// One WebSocket to a node and the subscriptions on it. It reconnects by itself and says when it does; what was subscribed
// is then forgotten, because whoever subscribed must also catch up on what was missed.
import { WebSocket } from 'undici'
import { AlmanacError, messageOf } from '../errors.ts'
import { type Log, LogThrottle } from '../log.ts'
import type { SolanaNetwork } from '../model.ts'
import { redactText, redactUrl } from '../redact.ts'
import { clockSysvar, decodeClock } from './decode.ts'
import { exactLamports } from './endpoint.ts'
import { readAccount, type SolanaRpc } from './rpc.ts'

const answerTimeoutMs = 10_000
/** A slot takes 0.4 s: a socket that says nothing for so long is dead, whatever it claims. */
const silenceMs = 10_000
const pauseMsMin = 250
const pauseMsMax = 15_000
const messageCharactersMax = 2 ** 25

export type Subject = { key: string; method: string; params: readonly unknown[] }

export type SubscriptionsOptions = {
  network: SolanaNetwork
  url: string
  log: Log
  onUp: () => void
  onDown: () => void
  onNotification: (key: string, result: unknown) => void
}

type Waiting = {
  key: string
  method: string
  resolve: () => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #throttle = new LogThrottle()
  readonly #waiting = new Map<number, Waiting>()
  readonly #keysById = new Map<number, string>()
  readonly #idsByKey = new Map<string, number>()
  /** What is wanted: the request that asked the node for it, and whether the node has confirmed it. */
  readonly #wanted = new Map<string, { request: number; method: string; confirmation: Promise<void> }>()
  #socket: WebSocket | undefined
  #nextId = 1
  #failures = 0
  #heardAtMs = 0
  #up = false
  #closed = false
  #retry: NodeJS.Timeout | undefined
  readonly #watchdog: NodeJS.Timeout
  reconnects = 0

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    this.#watchdog = setInterval(() => this.#checkSilence(), 1_000)
    this.#watchdog.unref()
    this.#connect()
  }

  get up(): boolean {
    return this.#up
  }

  get size(): number {
    return this.#wanted.size
  }

  /** Milliseconds since the node said anything. */
  get silentForMs(): number {
    return performance.now() - this.#heardAtMs
  }

  /** Resolves when the node has confirmed the subscription, and rejects when it refuses or the socket goes down. */
  add({ key, method, params }: Subject): Promise<void> {
    const socket = this.#socket
    if (!this.#up || socket === undefined) return Promise.reject(this.#fault('is not connected'))
    const known = this.#wanted.get(key)
    if (known !== undefined) return known.confirmation
    const id = this.#nextId++
    const confirmation = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        // It stays among the waiting, so that a late answer is not a subscription that nobody knows of.
        if (this.#wanted.get(key)?.request === id) this.#wanted.delete(key)
        reject(this.#fault(`did not answer ${method} within ${answerTimeoutMs} ms`))
      }, answerTimeoutMs)
      this.#waiting.set(id, { key, method, resolve, reject, timer })
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
    this.#wanted.set(key, { request: id, method, confirmation })
    return confirmation
  }

  remove(key: string): void {
    const wanted = this.#wanted.get(key)
    const subscription = this.#idsByKey.get(key)
    this.#wanted.delete(key)
    // One that is not confirmed yet has no number to name it by: it is ended when its confirmation comes.
    if (wanted === undefined || subscription === undefined) return
    this.#idsByKey.delete(key)
    this.#keysById.delete(subscription)
    this.#unsubscribe(wanted.method, subscription)
  }

  /** Breaks the connection and makes a new one: the way back from any doubt about what was missed. */
  reset(reason: string): void {
    this.#down(reason)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#watchdog)
    clearTimeout(this.#retry)
    this.#down('closed')
  }

  #connect(): void {
    const socket = new WebSocket(this.#options.url)
    this.#socket = socket
    this.#heardAtMs = performance.now()
    socket.addEventListener('open', () => {
      if (this.#socket !== socket) return
      this.#up = true
      this.#heardAtMs = performance.now()
      this.#options.onUp()
    })
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#hear(data)
    })
    for (const event of ['close', 'error'] as const)
      socket.addEventListener(event, happened => {
        const reason = 'message' in happened ? String(happened.message) : 'it was closed'
        if (this.#socket === socket) this.#down(reason)
      })
  }

  #hear(data: unknown): void {
    this.#heardAtMs = performance.now()
    const message = typeof data === 'string' && data.length <= messageCharactersMax ? parseMessage(data) : undefined
    if (message === undefined) {
      this.#down('it sent no JSON-RPC')
      return
    }
    this.#failures = 0
    if (message.params !== undefined) {
      const key = this.#keysById.get(message.params.subscription)
      if (key !== undefined) this.#options.onNotification(key, message.params.result)
      return
    }
    if (message.id !== undefined) this.#hearAnswer(message.id, message)
  }

  #hearAnswer(id: number, { result, error }: Message): void {
    const waiting = this.#settle(id)
    if (waiting === undefined) return
    const { key, method } = waiting
    // It may have been removed, and even been asked for again, while it was being confirmed.
    const isWanted = this.#wanted.get(key)?.request === id
    if (error !== undefined || typeof result !== 'number') {
      if (isWanted) this.#wanted.delete(key)
      waiting.reject(this.#fault(`refused ${method}`, new Error(redactText(JSON.stringify(error ?? null)))))
    } else if (isWanted) {
      this.#keysById.set(result, key)
      this.#idsByKey.set(key, result)
      waiting.resolve()
    } else {
      this.#unsubscribe(method, result)
      waiting.reject(this.#fault('was asked to subscribe and then not to'))
    }
  }

  #unsubscribe(method: string, subscription: number): void {
    const unsubscribe = { jsonrpc: '2.0', id: this.#nextId++, method: method.replace('Subscribe', 'Unsubscribe') }
    this.#socket?.send(JSON.stringify({ ...unsubscribe, params: [subscription] }))
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    clearTimeout(waiting.timer)
    this.#waiting.delete(id)
    return waiting
  }

  #checkSilence(): void {
    if (this.#socket !== undefined && this.silentForMs > silenceMs) this.#down(`it said nothing for ${silenceMs} ms`)
  }

  #down(reason: string): void {
    const socket = this.#socket
    if (socket === undefined) return
    this.#socket = undefined
    const wasUp = this.#up
    this.#up = false
    try {
      socket.close()
    } catch {
      // A socket that never opened cannot be closed; it is dropped.
    }
    this.#keysById.clear()
    this.#idsByKey.clear()
    this.#wanted.clear()
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(this.#fault('lost its connection'))
    if (wasUp) this.#options.onDown()
    if (this.#closed) return
    this.reconnects++
    this.#throttle.say('down', repeated => {
      const endpoint = redactUrl(this.#options.url)
      this.#options.log.warn(
        { network: this.#options.network, endpoint, reason: redactText(reason), repeated },
        'The Solana socket is down; it is opened again.',
      )
    })
    const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** this.#failures++) * (0.5 + Math.random() / 2)
    this.#retry = setTimeout(() => this.#connect(), pauseMs)
  }

  #fault(what: string, cause?: Error): AlmanacError {
    const { network, url } = this.#options
    const because = cause === undefined ? '' : `: ${messageOf(cause)}`
    return new AlmanacError('upstream_failed', `solana ${network} socket ${redactUrl(url)} ${what}${because}.`, {
      retryable: true,
    })
  }
}

type Message = {
  id?: number
  result?: unknown
  error?: unknown
  params?: { subscription: number; result: unknown }
}

function parseMessage(text: string): Message | undefined {
  try {
    const message = JSON.parse(exactLamports(text))
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}

// What the chain's own clock says: pushed by nodes that notify of it, read from those that do not.

/** The clock counts whole seconds: older than this it may be wrong. */
const maxAgeMs = 1_000

export type ClockReading = { slot: number; chainTime: number; atMs: number }

export class ChainClock {
  readonly #rpc: SolanaRpc
  #last: ClockReading = { slot: 0, chainTime: 0, atMs: 0 }
  #pushedSlot = 0
  #underWay: Promise<ClockReading> | undefined

  constructor(rpc: SolanaRpc) {
    this.#rpc = rpc
  }

  get last(): ClockReading {
    return this.#last
  }

  /** The slot of the last clock that was pushed: everything of the slots before it was pushed too. */
  get pushedSlot(): number {
    return this.#pushedSlot
  }

  push(entry: unknown, slot: number): void {
    const clock = decodeClock(readAccount(entry)?.data ?? new Uint8Array())
    if (clock === undefined || slot < this.#pushedSlot) return
    this.#pushedSlot = slot
    this.#last = { slot, chainTime: clock.unixTimestamp, atMs: Date.now() }
  }

  /** Forgets what was pushed: the socket is another one. */
  reset(): void {
    this.#pushedSlot = 0
  }

  /** At most a second old. */
  async now(): Promise<ClockReading> {
    if (Date.now() - this.#last.atMs <= maxAgeMs) return this.#last
    this.#underWay ??= this.#read().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #read(): Promise<ClockReading> {
    const atMs = Date.now()
    const { slot, value } = await this.#rpc.accounts([clockSysvar])
    const clock = value[0] === undefined ? undefined : decodeClock(value[0].data)
    if (clock !== undefined) this.#last = { slot, chainTime: clock.unixTimestamp, atMs }
    return this.#last
  }
}
