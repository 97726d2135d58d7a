// The subscriptions on one WebSocket to a Solana node. A new connection starts with none: the user must subscribe again
// and catch up on what was missed.
import { AlmanacError } from '../errors.ts'
import { type Log, LogThrottle } from '../log.ts'
import type { SolanaNetwork, TokenProgram } from '../model.ts'
import { type Redactor, redactorOf, redactUrl } from '../redact.ts'
import { isError } from '../rpc/answers.ts'
import { ReconnectingSocket, type SocketMessage } from '../rpc/socket.ts'
import { tokenProgramAddresses } from './decode.ts'
import { exactLamports } from './read-accounts.ts'

const answerTimeoutMs = 10_000
/** A slot takes 0.4 s: a socket that is silent for this long is dead. */
export const usualSilenceMs = 10_000

/** What to subscribe to, under a key of our own. */
export type Subscription = { key: string; method: string; params: readonly unknown[] }

export type SubscriptionsOptions = {
  network: SolanaNetwork
  url: string
  log: Log
  /** How long the socket may be silent. */
  silenceMaxMs?: number
  onUp: () => void
  onDown: () => void
  onNotification: (key: string, result: unknown) => void
}

type Wanted = { request: number; method: string; confirmation: Promise<void>; subscription: number | undefined }

type Request = {
  key: string
  method: string
  resolve: () => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #socket: ReconnectingSocket
  readonly #redact: Redactor
  readonly #throttle = new LogThrottle()
  readonly #requests = new Map<number, Request>()
  readonly #keysById = new Map<number, string>()
  /** With the request that asked the node for it, and the node's number once it is confirmed. */
  readonly #wanted = new Map<string, Wanted>()
  #nextId = 1

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    this.#redact = redactorOf(options.url)
    this.#socket = new ReconnectingSocket({
      url: options.url,
      silenceMaxMs: options.silenceMaxMs ?? usualSilenceMs,
      retryMs: { first: 250, max: 15_000 },
      onOpen: options.onUp,
      onMessage: message => this.#hear(message),
      amend: exactLamports,
      onDown: (reason, wasOpen) => this.#down(reason, wasOpen),
    })
  }

  get up(): boolean {
    return this.#socket.isOpen
  }

  get reconnects(): number {
    return this.#socket.reconnects
  }

  get size(): number {
    return this.#wanted.size
  }

  isConfirmed(key: string): boolean {
    return this.#wanted.get(key)?.subscription !== undefined
  }

  /** Resolves when the node has confirmed the subscription; rejects when it refuses or the socket goes down. */
  add({ key, method, params }: Subscription): Promise<void> {
    if (!this.up) return Promise.reject(this.#fault('is not connected'))
    const known = this.#wanted.get(key)
    if (known !== undefined) return known.confirmation
    const id = this.#nextId++
    const confirmation = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        // The request stays known, so that a late confirmation is recognised and ended.
        if (this.#wanted.get(key)?.request === id) this.#wanted.delete(key)
        reject(this.#fault(`did not answer ${method} within ${answerTimeoutMs} ms`))
      }, answerTimeoutMs)
      this.#requests.set(id, { key, method, resolve, reject, timer })
      this.#socket.send({ jsonrpc: '2.0', id, method, params })
    })
    this.#wanted.set(key, { request: id, method, confirmation, subscription: undefined })
    return confirmation
  }

  remove(key: string): void {
    const wanted = this.#wanted.get(key)
    this.#wanted.delete(key)
    // Without a confirmation there is no number to unsubscribe by: it is ended when the confirmation comes.
    if (wanted?.subscription === undefined) return
    this.#keysById.delete(wanted.subscription)
    this.#unsubscribe(wanted.method, wanted.subscription)
  }

  /** Makes a new connection: the way out of any doubt about what was missed. */
  reset(reason: string): void {
    this.#socket.reset(reason)
  }

  close(): void {
    const wasUp = this.up
    this.#socket.close()
    this.#forget(wasUp)
  }

  #hear(message: SocketMessage | undefined): void {
    if (message === undefined) {
      this.reset('it sent something that is not JSON-RPC')
      return
    }
    this.#socket.heard()
    if (typeof message.id === 'number') this.#hearAnswer(message.id, message)
    const { subscription, result } = (message.params ?? {}) as { subscription?: unknown; result?: unknown }
    const key = this.#keysById.get(subscription as number)
    if (key !== undefined) this.#options.onNotification(key, result)
  }

  #hearAnswer(id: number, { result, error }: SocketMessage): void {
    const request = this.#settle(id)
    if (request === undefined) return
    const { key, method } = request
    // It may have been removed, and even asked for again, while it was being confirmed.
    const wanted = this.#wanted.get(key)
    const isWanted = wanted?.request === id
    if (isError(error) || typeof result !== 'number') {
      if (isWanted) this.#wanted.delete(key)
      request.reject(this.#fault(`refused ${method}: ${this.#redact(JSON.stringify(error ?? null))}`))
    } else if (isWanted) {
      this.#keysById.set(result, key)
      wanted.subscription = result
      request.resolve()
    } else {
      this.#unsubscribe(method, result)
      request.reject(this.#fault('was asked to subscribe and then not to'))
    }
  }

  #unsubscribe(method: string, subscription: number): void {
    const request = { jsonrpc: '2.0', id: this.#nextId++, method: method.replace('Subscribe', 'Unsubscribe') }
    this.#socket.send({ ...request, params: [subscription] })
  }

  #settle(id: number): Request | undefined {
    const request = this.#requests.get(id)
    clearTimeout(request?.timer)
    this.#requests.delete(id)
    return request
  }

  #down(reason: string, wasUp: boolean): void {
    this.#forget(wasUp)
    const { log, network, url } = this.#options
    this.#throttle.say('down', repeated => {
      const facts = { network, endpoint: redactUrl(url), reason, repeated }
      log.warn(facts, 'Solana socket down; reconnecting')
    })
  }

  #forget(wasUp: boolean): void {
    this.#keysById.clear()
    this.#wanted.clear()
    for (const id of [...this.#requests.keys()]) this.#settle(id)?.reject(this.#fault('lost its connection'))
    if (wasUp) this.#options.onDown()
  }

  #fault(what: string): AlmanacError {
    const { network, url } = this.#options
    const message = `solana ${network} socket ${redactUrl(url)} ${what}.`
    return new AlmanacError('upstream_failed', message, { operatorsOnly: true, retryable: true })
  }
}

const options = { commitment: 'confirmed', encoding: 'base64' }

export const slotSubscription: Subscription = { key: 'slot', method: 'slotSubscribe', params: [] }

export function accountSubscription(address: string): Subscription {
  return { key: accountKey(address), method: 'accountSubscribe', params: [address, options] }
}

export function accountKey(address: string): string {
  return `account:${address}`
}

/** Undefined for the key of another kind of subscription. */
export function addressOfKey(key: string): string | undefined {
  return key.startsWith('account:') ? key.slice('account:'.length) : undefined
}

/** The owner stands at byte 32 of every token account of both programs. */
export function ownerSubscription(program: TokenProgram, owner: string): Subscription {
  const filters = [{ memcmp: { offset: 32, bytes: owner } }]
  return {
    key: `owner:${program}:${owner}`,
    method: 'programSubscribe',
    params: [tokenProgramAddresses[program], { ...options, filters }],
  }
}
