// One JSON-RPC endpoint: sends calls in batches that it takes, within its limits, and turns what comes back into bodies
// or an AlmanacError. What refusals mean, and which answers can be true, is up to the family and the caller.
import type { Clock } from '../abort.ts'
import { AlmanacError } from '../errors.ts'
import { problemIn, type RpcRefusal, readAnswers, refusalIn, type Tolerated, UnreadableAnswer } from './answers.ts'
import { Batches, type NumberedCall, type RpcCall } from './batches.ts'
import type { EndpointAddress } from './endpoint-address.ts'
import {
  type FailureRule,
  type Refusal,
  type RpcFailure,
  type RpcFailureKind,
  rpcError,
  rpcFailureOf,
  type SortedRefusal,
} from './failures.ts'
import { EndpointHealth } from './health.ts'
import { HttpChannel, HttpFailure } from './http.ts'
import { AdaptiveLimit, LimitExceeded, type LimitOptions, type Outcome } from './limits.ts'

/** What one family of chains adds to the transport. */
export type RpcFamily = {
  /** Names the chain in messages. */
  chain: string
  sort(refusal: Refusal): SortedRefusal
  /** Worth another try at the endpoint that failed so. */
  isRepeatable(kind: RpcFailureKind, calls: readonly RpcCall[]): boolean
  rules?: Partial<Record<RpcFailureKind, Partial<FailureRule>>>
  /** A batch goes by the first of these methods that it holds, otherwise by its first call. */
  heavyMethods?: readonly string[]
  /** Asked once, before any answer is believed. `objection` says what is wrong with the result. */
  identity?: { call: RpcCall; objection(value: unknown): string | undefined } | undefined
  /** Changes the text of a body before it is parsed. */
  amend?: (text: string) => string
}

export type EndpointAsk = {
  timeoutMs: number
  bytesMax: number
  signal: AbortSignal
  urgent?: boolean | undefined
  idle?: boolean | undefined
  tolerated?: Tolerated | undefined
  /** Called when the first request leaves, after it has waited for the limits. */
  onSent?: () => void
}

export type EndpointAnswer = {
  bodies: Buffer[]
  bytes: number
  /** The calls travelled in more than one request, so different backends may have answered them. */
  split: boolean
}

/** Called for each request and each hedge; made for counters and histograms. */
export type RpcObserver = {
  request(facts: {
    endpoint: string
    method: string
    outcome: 'ok' | RpcFailureKind
    elapsedMs: number
    bytes: number
  }): void
  hedge(facts: { endpoint: string; method: string }): void
}

export type EndpointOptions = Omit<LimitOptions, 'isPrivate'> & {
  family: RpcFamily
  clock: Clock
  observer: RpcObserver | undefined
  /** Refuses what waits when the endpoint begins to rest. */
  failsFast: boolean
}

const batchCallsMax = { private: 500, public: 100 }
const longRestMs = 60_000

export class RpcEndpoint {
  readonly name: string
  readonly health: EndpointHealth
  readonly limit: AdaptiveLimit
  /** Requests in flight or waiting. */
  pending = 0
  readonly #family: RpcFamily
  readonly #address: EndpointAddress
  readonly #clock: Clock
  readonly #channel: HttpChannel
  readonly #observer: RpcObserver | undefined
  readonly #batches: Batches
  #identified: Promise<void> | undefined

  constructor(address: EndpointAddress, { family, clock, observer, failsFast, ...limits }: EndpointOptions) {
    const { name, isPrivate } = address
    this.name = name
    this.#address = address
    this.#family = family
    this.#clock = clock
    this.#observer = observer
    this.#channel = new HttpChannel(address)
    this.#batches = new Batches(isPrivate ? batchCallsMax.private : batchCallsMax.public)
    this.limit = new AdaptiveLimit(clock, { isPrivate, ...limits })
    this.health = new EndpointHealth(clock, failsFast ? restMs => this.limit.refuseWaiting(restMs) : undefined)
  }

  async ask(calls: readonly RpcCall[], options: EndpointAsk): Promise<EndpointAnswer> {
    this.pending++
    try {
      await this.#identify(options)
      const numbered = calls.map((call, id) => ({ ...call, id }))
      const bodies = await this.#send(numbered, options)
      return { bodies, bytes: bodies.reduce((sum, body) => sum + body.length, 0), split: bodies.length > 1 }
    } finally {
      this.pending--
    }
  }

  /** Reads the bodies of an answer; what cannot be read counts against the endpoint. */
  read(bodies: readonly Buffer[], calls: readonly RpcCall[], tolerated?: Tolerated): unknown[] {
    try {
      const answers = readAnswers(bodies, calls.length, tolerated, this.#family.amend)
      if (!('refusal' in answers)) return answers.values
      const { refusal, call } = answers
      throw this.#refused({ status: 200, refusal, method: calls[call ?? 0]?.method ?? 'batch' })
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error
      throw this.invalid(methodOf(calls, this.#family), error.message)
    }
  }

  /** The answer cannot be one to the method. */
  invalid(method: string, what: string): AlmanacError {
    const said = this.#address.redact(what)
    const error = this.fail({ kind: 'invalid-answer', method }, said)
    this.health.failed(withCause(error.message, said))
    return error
  }

  fail(
    failure: Omit<RpcFailure, 'endpoint'>,
    said: string,
    context: { retryAfterMs?: number | undefined; rule?: Partial<FailureRule> } = {},
  ): AlmanacError {
    const { chain, rules } = this.#family
    const rule = { ...rules?.[failure.kind], ...context.rule }
    return rpcError({ ...failure, endpoint: this.name }, { chain, said, retryAfterMs: context.retryAfterMs, rule })
  }

  async close(): Promise<void> {
    await this.#channel.close()
  }

  #identify(options: EndpointAsk): Promise<void> {
    const { identity } = this.#family
    if (identity === undefined) return Promise.resolve()
    // A caller that has given up must not start the check: its failure would go unhandled.
    if (options.signal.aborted) return Promise.reject(options.signal.reason)
    const { call, objection } = identity
    this.#identified ??= this.#send([{ ...call, id: 0 }], { ...options, signal: new AbortController().signal })
      .then(bodies => {
        const said = objection(this.read(bodies, [call])[0])
        if (said === undefined) return
        const failure = this.fail({ kind: 'wrong-chain', method: call.method }, said)
        this.health.failed(withCause(failure.message, said), { restMs: longRestMs })
        throw failure
      })
      .catch(error => {
        this.#identified = undefined
        throw error
      })
    // All callers share the check: one that gives up must not end it for the others.
    return untilAborted(this.#identified, options.signal)
  }

  #send(calls: readonly NumberedCall[], options: EndpointAsk): Promise<Buffer[]> {
    return this.#batches.send(calls, options.signal, (part, signal) => this.#sendOne(part, { ...options, signal }))
  }

  async #sendOne(calls: readonly NumberedCall[], options: EndpointAsk): Promise<Buffer> {
    const permit = await this.#acquire(calls, options)
    const startedAt = this.#clock.now()
    const method = methodOf(calls, this.#family)
    let outcome: Outcome = { result: 'neutral' }
    let kind: 'ok' | RpcFailureKind = 'ok'
    let bytes = 0
    try {
      options.onSent?.()
      this.health.requests++
      const body = await this.#exchange(calls, options)
      bytes = body.length
      outcome = { result: 'ok' }
      this.health.answered(method, this.#clock.now() - startedAt)
      return body
    } catch (error) {
      kind = rpcFailureOf(error)?.kind ?? 'transport'
      outcome = outcomeOf(kind, error)
      throw error
    } finally {
      this.limit.release(permit, outcome)
      if (!options.signal.aborted || kind === 'ok') {
        const elapsedMs = this.#clock.now() - startedAt
        this.#observer?.request({ endpoint: this.name, method, outcome: kind, elapsedMs, bytes })
      }
    }
  }

  async #acquire(calls: readonly NumberedCall[], { urgent = false, idle = false, signal }: EndpointAsk) {
    try {
      return await this.limit.acquire({ cost: calls.length, urgent, idle, signal })
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error
      const { reason, message, retryAfterMs, hint } = error
      const kind = kindOfLimit[reason]
      if (kind === undefined) {
        const waiting = `${this.#family.chain} endpoint ${this.name} has too many requests waiting.`
        const later = retryAfterMs === undefined ? {} : { retryAfterMs }
        const options = { cause: error, retryable: true, hint: 'ask for less at once.', ...later }
        throw new AlmanacError('overloaded', waiting, options)
      }
      const rule = hint === undefined ? {} : { hint }
      throw this.fail({ kind, method: methodOf(calls, this.#family) }, message, { retryAfterMs, rule })
    }
  }

  async #exchange(calls: readonly NumberedCall[], options: EndpointAsk): Promise<Buffer> {
    const messages = calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))
    const request = JSON.stringify(calls.length === 1 ? messages[0] : messages)
    const method = methodOf(calls, this.#family)
    try {
      const { status, body, retryAfterMs } = await this.#channel.post(request, options)
      if (status >= 300) throw this.#refused({ status, refusal: refusalIn(body), method, retryAfterMs })
      const problem = problemIn(body, calls, options.tolerated)
      if (problem === undefined) return body
      if ('unreadable' in problem) throw this.invalid(method, problem.unreadable)
      const failing = calls.find(({ id }) => id === problem.call)?.method ?? method
      throw this.#refused({ ...problem, status, method: failing, retryAfterMs })
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      const failure = this.fail({ kind: error.kind, method }, error.message)
      if (error.kind !== 'response-too-large') this.health.failed(failure.message)
      throw failure
    }
  }

  #refused(answer: {
    status: number
    refusal: RpcRefusal | undefined
    method: string
    retryAfterMs?: number | undefined
    aboutBatch?: boolean
  }): AlmanacError {
    const { status, refusal, method, retryAfterMs, aboutBatch } = answer
    const rpcCode = refusal?.rpcCode
    const text = refusal?.text ?? `HTTP status ${status}`
    const sorted = this.#family.sort({ status, rpcCode, text, method })
    if (aboutBatch === true && sorted.kind === 'refused') sorted.kind = 'batch-refused'
    const said = this.#address.redact(text)
    const failure = { ...sorted, method, status, ...(rpcCode === undefined ? {} : { rpcCode }) }
    const malformed = sorted.kind === 'refused' && (rpcCode === -32600 || rpcCode === -32602)
    const error = this.fail(failure, said, { retryAfterMs, ...(malformed ? { rule: { retryable: false } } : {}) })
    this.#judge(sorted.kind, { method, reason: withCause(error.message, said), retryAfterMs })
    return error
  }

  /** What a refusal says about the endpoint's health: a limit on one question does not count. */
  #judge(kind: RpcFailureKind, facts: { method: string; reason: string; retryAfterMs: number | undefined }): void {
    const { method, reason, retryAfterMs } = facts
    if (kind === 'method-missing') this.health.lacks(method)
    if (kind === 'quota') this.health.failed(reason, { restMs: retryAfterMs ?? longRestMs })
    if (kind === 'unauthorized') this.health.failed(reason, { restMs: longRestMs })
    if (illnesses.has(kind)) this.health.failed(reason)
  }
}

/** The failure that a limit of ours amounts to. Where there is none, too much waits. */
const kindOfLimit: Partial<Record<LimitExceeded['reason'], RpcFailureKind>> = {
  'daily-budget': 'quota',
  paused: 'rate-limited',
  'over-rate': 'rate-limited',
  resting: 'transport',
}

const illnesses = new Set<RpcFailureKind>(['rate-limited', 'transport', 'timeout', 'refused'])

/** The method that a request is known by: the heaviest of a batch. */
export function methodOf(calls: readonly RpcCall[], { heavyMethods = [] }: RpcFamily): string {
  const heavy = heavyMethods.find(method => calls.some(call => call.method === method))
  return heavy ?? calls[0]?.method ?? 'batch'
}

function withCause(message: string, said: string): string {
  return `${message.replace(/\.$/, '')}: ${said}`
}

function outcomeOf(kind: RpcFailureKind, error: unknown): Outcome {
  const retryAfterMs = error instanceof AlmanacError ? error.retryAfterMs : undefined
  // Retry-After counts with any status: a 503 with it asks for patience as much as a 429.
  if (kind === 'rate-limited' || retryAfterMs !== undefined) return { result: 'limited', retryAfterMs }
  return { result: kind === 'timeout' ? 'slow' : 'neutral' }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
