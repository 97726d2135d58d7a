// One endpoint: sends calls in batches that it takes, within its limits, and turns whatever comes back into bodies or an AlmanacError.

import type { Clock } from '../../abort.ts'
import { followSignals } from '../../abort.ts'
import { otherChain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { EndpointAddress } from '../../rpc/endpoint-address.ts'
import { EndpointHealth } from '../../rpc/health.ts'
import { HttpChannel, HttpFailure } from '../../rpc/http.ts'
import { AdaptiveLimit, LimitExceeded, type Outcome } from '../../rpc/limits.ts'
import { type RpcRefusal, readAnswers, refusalIn, type Tolerated, troubleIn, UnreadableAnswer } from './answers.ts'
import { type RpcFailure, type RpcFailureKind, rpcError, rpcFailureOf, sortRefusal } from './errors.ts'
import type { RpcCall } from './port.ts'

export type EndpointSettings = {
  requestsPerSecond?: number | undefined
  /** Calls, each of a batch counted, from midnight to midnight UTC. */
  requestsPerDay?: number | undefined
}

export type EndpointAsk = {
  timeoutMs: number
  bytesMax: number
  signal: AbortSignal
  urgent: boolean
  idle?: boolean
  revertsAsNull?: boolean
  /** Called when the first request leaves, after it has waited for its turn. */
  onSent?: () => void
}

export type EndpointAnswer = {
  bodies: Buffer[]
  bytes: number
  /** The calls travelled in more than one request, so that different backends may have answered them. */
  split: boolean
}

/** What the transport tells of each request; made for counters and histograms. */
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

const batchCallsMax = { private: 500, public: 100 }
const wrongChainRestMs = 60_000
const quotaRestMs = 60_000

export class RpcEndpoint {
  readonly name: string
  readonly health: EndpointHealth
  readonly limit: AdaptiveLimit
  head: number | undefined
  /** Asks that are under way, whether sent or waiting. */
  pending = 0
  readonly #chain: { name: string; id: number | undefined }
  readonly #address: EndpointAddress
  readonly #clock: Clock
  readonly #channel: HttpChannel
  readonly #observer: RpcObserver | undefined
  readonly #batches: Batches
  #verified: Promise<void> | undefined

  constructor(
    address: EndpointAddress,
    options: EndpointSettings & {
      chain: { name: string; id: number | undefined }
      clock: Clock
      queueMax: number
      observer: RpcObserver | undefined
    },
  ) {
    const { chain, clock, observer, queueMax, requestsPerSecond, requestsPerDay } = options
    this.name = address.name
    this.#address = address
    this.#chain = chain
    this.#clock = clock
    this.#observer = observer
    this.#channel = new HttpChannel(address)
    this.#batches = new Batches(address.isPrivate ? batchCallsMax.private : batchCallsMax.public)
    this.health = new EndpointHealth(clock)
    this.limit = new AdaptiveLimit(clock, { isPrivate: address.isPrivate, requestsPerSecond, requestsPerDay, queueMax })
  }

  async ask(calls: readonly RpcCall[], options: EndpointAsk): Promise<EndpointAnswer> {
    this.pending++
    try {
      await this.#verifyChain(options)
      const numbered = calls.map((call, id) => ({ ...call, id }))
      const bodies = await this.#send(numbered, options)
      return { bodies, bytes: bodies.reduce((sum, body) => sum + body.length, 0), split: bodies.length > 1 }
    } finally {
      this.pending--
    }
  }

  /** Reads the bodies of an answer; what cannot be read counts against the endpoint. */
  read(
    bodies: readonly Buffer[],
    calls: readonly RpcCall[],
    options: Pick<EndpointAsk, 'revertsAsNull'> = {},
  ): unknown[] {
    try {
      const answers = readAnswers(bodies, calls.length, toleratedBy(options))
      if (!('refusal' in answers)) {
        this.#learnHead(calls, answers.values)
        return answers.values
      }
      throw this.#refused({
        status: 200,
        refusal: answers.refusal,
        method: calls[answers.call ?? 0]?.method ?? 'batch',
      })
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error
      throw this.#invalid(methodOf(calls), error.message)
    }
  }

  async close(): Promise<void> {
    await this.#channel.close()
  }

  /** Once, before anything that it says is believed. */
  #verifyChain(options: EndpointAsk): Promise<void> {
    const expected = this.#chain.id
    if (expected === undefined) return Promise.resolve()
    // Who has given up starts no check: nobody would be there to take its failure.
    if (options.signal.aborted) return Promise.reject(options.signal.reason)
    this.#verified ??= this.#send([{ method: 'eth_chainId', params: [], id: 0 }], {
      ...options,
      signal: new AbortController().signal,
    })
      .then(bodies => {
        const [value] = this.read(bodies, [{ method: 'eth_chainId', params: [] }])
        if (Number(value) === expected) return
        const { serves, hint } = otherChain(Number(value), expected)
        const said = `it ${serves}: ${hint.slice(0, -1)}`
        const failure = this.#fail({ kind: 'wrong-chain', method: 'eth_chainId' }, said)
        this.health.failed(`${failure.message} (${said})`, { restMs: wrongChainRestMs })
        throw failure
      })
      .catch(error => {
        this.#verified = undefined
        throw error
      })
    // The check is shared by all callers, so that one who gives up must not end it for the others.
    return untilAborted(this.#verified, options.signal)
  }

  #send(calls: readonly NumberedCall[], options: EndpointAsk): Promise<Buffer[]> {
    return this.#batches.send(calls, options.signal, (part, signal) => this.#sendOne(part, { ...options, signal }))
  }

  async #sendOne(calls: readonly NumberedCall[], options: EndpointAsk): Promise<Buffer> {
    const permit = await this.#acquire(calls, options)
    const startedAt = this.#clock.now()
    const method = methodOf(calls)
    let outcome: Outcome = { result: 'neutral' }
    let kind: 'ok' | RpcFailureKind = 'ok'
    let bytes = 0
    try {
      options.onSent?.()
      this.health.requests++
      const body = await this.#exchange(calls, options)
      bytes = body.length
      outcome = { result: 'ok' }
      this.health.succeeded(method, this.#clock.now() - startedAt)
      return body
    } catch (error) {
      kind = rpcFailureOf(error)?.kind ?? 'transport'
      outcome = outcomeOf(kind, error)
      throw error
    } finally {
      this.limit.release(permit, outcome)
      if (!options.signal.aborted || kind === 'ok') {
        this.#observer?.request({
          endpoint: this.name,
          method,
          outcome: kind,
          elapsedMs: this.#clock.now() - startedAt,
          bytes,
        })
      }
    }
  }

  async #acquire(calls: readonly NumberedCall[], { urgent, idle = false, signal }: EndpointAsk) {
    try {
      return await this.limit.acquire({ cost: calls.length, urgent, idle, signal })
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error
      if (error.reason === 'queue-full') {
        const message = `${this.#chain.name} endpoint ${this.name} has too many requests waiting.`
        throw new AlmanacError('overloaded', message, { cause: error, retryable: true, hint: 'ask for less at once.' })
      }
      const kind = error.reason === 'paused' ? 'rate-limited' : 'quota'
      throw this.#fail({ kind, method: methodOf(calls) }, error.message, error.retryAfterMs)
    }
  }

  async #exchange(calls: readonly NumberedCall[], options: EndpointAsk): Promise<Buffer> {
    const messages = calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))
    const request = JSON.stringify(calls.length === 1 ? messages[0] : messages)
    const method = methodOf(calls)
    try {
      const { status, body, retryAfterMs } = await this.#channel.post(request, options)
      if (status >= 300) throw this.#refused({ status, refusal: refusalIn(body), method, retryAfterMs })
      const trouble = troubleIn(body, calls, toleratedBy(options))
      if (trouble === undefined) return body
      if ('unreadable' in trouble) throw this.#invalid(method, trouble.unreadable)
      const failing = calls.find(({ id }) => id === trouble.call)?.method ?? method
      throw this.#refused({ ...trouble, status, method: failing, retryAfterMs })
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      const failure = this.#fail({ kind: error.kind, method }, error.message)
      if (error.kind !== 'response-too-large') this.health.failed(failure.message)
      throw failure
    }
  }

  #invalid(method: string, what: string): AlmanacError {
    const error = this.#fail({ kind: 'invalid-answer', method }, this.#address.redact(what))
    this.health.failed(error.message)
    return error
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
    const sorted = sortRefusal({ status, rpcCode, text, method })
    if (aboutBatch === true && sorted.kind === 'refused') sorted.kind = 'batch-refused'
    const said = this.#address.redact(text)
    const failure = { ...sorted, method, status, ...(rpcCode === undefined ? {} : { rpcCode }) }
    const malformed = sorted.kind === 'refused' && (rpcCode === -32600 || rpcCode === -32602)
    const error = this.#fail(failure, said, retryAfterMs, malformed ? false : undefined)
    this.#judge(sorted.kind, method, { reason: `${error.message} (${said})`, retryAfterMs })
    return error
  }

  /** What a refusal says about the endpoint: limits on a question are no illness. */
  #judge(
    kind: RpcFailureKind,
    method: string,
    { reason, retryAfterMs }: { reason: string; retryAfterMs: number | undefined },
  ): void {
    if (kind === 'method-missing') this.health.lacks(method)
    if (kind === 'quota') this.health.failed(reason, { restMs: retryAfterMs ?? quotaRestMs })
    if (kind === 'unauthorized') this.health.failed(reason, { restMs: quotaRestMs })
    if (illnesses.has(kind)) this.health.failed(reason)
  }

  #fail(failure: Omit<RpcFailure, 'endpoint'>, said: string, retryAfterMs?: number, retryable?: boolean): AlmanacError {
    return rpcError(
      { ...failure, endpoint: this.name },
      {
        chain: this.#chain.name,
        said,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(retryable === undefined ? {} : { retryable }),
      },
    )
  }

  #learnHead(calls: readonly RpcCall[], values: readonly unknown[]): void {
    for (const [at, { method, params }] of calls.entries()) {
      const latest = method === 'eth_getBlockByNumber' && params[0] === 'latest'
      const value = latest ? (values[at] as { number?: unknown } | null)?.number : values[at]
      const head = latest || method === 'eth_blockNumber' ? Number(value) : Number.NaN
      if (Number.isSafeInteger(head)) this.head = head
    }
  }
}

function toleratedBy({ revertsAsNull = false }: Pick<EndpointAsk, 'revertsAsNull'>): Tolerated | undefined {
  return revertsAsNull ? isRevert : undefined
}

function isRevert({ rpcCode, text }: RpcRefusal): boolean {
  return sortRefusal({ status: 200, rpcCode, text, method: 'eth_call' }).kind === 'reverted'
}

const illnesses = new Set<RpcFailureKind>(['rate-limited', 'transport', 'timeout', 'refused'])

/** The method that a request is known by: the heaviest of a batch. */
export function methodOf(calls: readonly RpcCall[]): string {
  const heavy =
    calls.find(call => call.method === 'eth_getLogs') ?? calls.find(call => call.method === 'eth_getBlockReceipts')
  return (heavy ?? calls[0])?.method ?? 'batch'
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

// Sends calls in batches of a size that an endpoint takes, and learns that size from its refusals.

export type NumberedCall = RpcCall & { id: number }
export type SendOne = (calls: readonly NumberedCall[], signal: AbortSignal) => Promise<Buffer>

export class Batches {
  #callsMax: number

  constructor(callsMax: number) {
    this.#callsMax = callsMax
  }

  /** One body for each request that it took. */
  async send(calls: readonly NumberedCall[], signal: AbortSignal, sendOne: SendOne): Promise<Buffer[]> {
    if (calls.length > this.#callsMax) return this.#sendParts(chunks(calls, this.#callsMax), signal, sendOne)
    try {
      return [await sendOne(calls, signal)]
    } catch (error) {
      const failure = rpcFailureOf(error)
      if (calls.length === 1 || failure === undefined) throw error
      // An answer that is too large for us has no status: halves of it would be fetched in vain.
      const tooLargeForThem = failure.kind === 'response-too-large' && failure.status !== undefined
      if (failure.kind !== 'batch-refused' && !tooLargeForThem) throw error
      if (failure.kind === 'batch-refused') this.#callsMax = Math.max(1, Math.min(this.#callsMax, calls.length >> 1))
      return this.#sendParts(chunks(calls, Math.ceil(calls.length / 2)), signal, sendOne)
    }
  }

  /** All together; the first failure calls off the rest. */
  async #sendParts(parts: NumberedCall[][], signal: AbortSignal, sendOne: SendOne): Promise<Buffer[]> {
    using linked = followSignals(signal)
    const sent = parts.map(part => this.send(part, linked.signal, sendOne))
    try {
      return (await Promise.all(sent)).flat()
    } catch (error) {
      linked.abort(error)
      await Promise.allSettled(sent)
      throw error
    }
  }
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}
