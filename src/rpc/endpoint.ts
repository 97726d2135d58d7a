// One JSON-RPC endpoint: sends calls in batches that it takes, within its limits, and turns what comes back into bodies
// or an AlmanacError. What refusals mean, and which answers can be true, is up to the family and the caller.
import { type Clock, untilAborted } from '../abort.ts'
import { AlmanacError, messageOf, messageWithCauses } from '../errors.ts'
import {
  type AnswerRule,
  type BodyProblem,
  problemIn,
  type RpcRefusal,
  readAnswers,
  refusalIn,
  UnreadableAnswer,
} from './answers.ts'
import { Batches, type NumberedCall, type RpcCall, type Sent, sendUntilWhole } from './batches.ts'
import { boundsOf } from './bounds.ts'
import type { Payer } from './daily-budget.ts'
import type { EndpointAddress } from './endpoint-address.ts'
import {
  type FailureRule,
  isPassing,
  type RpcFailure,
  type RpcFailureKind,
  rpcError,
  rpcFailureOf,
} from './failures.ts'
import { methodOf, type RpcFamily } from './family.ts'
import { EndpointHealth } from './health.ts'
import { HttpChannel, HttpFailure } from './http.ts'
import { IdentityCheck } from './identity.ts'
import { AdaptiveLimit, LimitExceeded, type LimitOptions, type Outcome } from './limits.ts'

export type EndpointAsk = AnswerRule & {
  timeoutMs: number
  bytesMax: number
  signal: AbortSignal
  urgent?: boolean | undefined
  idle?: boolean | undefined
  /** The key whose request asks; absent: no request of a client does. */
  payer?: Payer | undefined
  /** How often calls of a batch are sent again while none of them is answered. */
  repeatsMax?: number | undefined
  /** Called when the first request leaves, after it has waited for the limits. */
  onSent?: () => void
}

export type EndpointAnswer = {
  bodies: Buffer[]
  bytes: number
}

/** Called for each request and each hedge; made for counters and histograms. */
export type RpcObserver = {
  request(facts: {
    endpoint: string
    method: string
    /** `cancelled`: another request was answered first, or the asker gave up. */
    outcome: 'ok' | 'cancelled' | RpcFailureKind
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
/** For an endpoint that refuses what it has to answer. */
export const longRestMs = 60_000

type FailContext = { retryAfterMs?: number | undefined; rule?: Partial<FailureRule> }

/** `bytesLeft` is shared by all requests of one question. */
type Sending = EndpointAsk & { bytesLeft: { count: number } }

export class RpcEndpoint {
  readonly name: string
  readonly health: EndpointHealth
  readonly limit: AdaptiveLimit
  /** Requests in flight or waiting. */
  pending = 0
  /** By the last check of its identity: it serves another chain. */
  isWrongChain = false
  #isRetired = false
  readonly #family: RpcFamily
  readonly #address: EndpointAddress
  readonly #clock: Clock
  readonly #channel: HttpChannel
  readonly #observer: RpcObserver | undefined
  readonly #batches: Batches
  readonly identity: IdentityCheck

  constructor(address: EndpointAddress, { family, clock, observer, failsFast, ...limits }: EndpointOptions) {
    const { name, isPrivate } = address
    this.name = name
    this.#address = address
    this.#family = family
    this.#clock = clock
    this.#observer = observer
    this.#channel = new HttpChannel(address)
    this.identity = new IdentityCheck(clock)
    this.#batches = new Batches(isPrivate ? batchCallsMax.private : batchCallsMax.public)
    this.limit = new AdaptiveLimit(clock, { isPrivate, ...limits })
    this.health = new EndpointHealth(clock, failsFast ? restMs => this.limit.refuseWaiting(restMs) : undefined)
  }

  async ask(calls: readonly RpcCall[], options: EndpointAsk): Promise<EndpointAnswer> {
    this.pending++
    try {
      await this.#identify(options)
      const numbered = calls.map((call, id) => ({ ...call, id }))
      const sending = { ...options, bytesLeft: { count: options.bytesMax } }
      const bodies = await sendUntilWhole(numbered, part => this.#send(part, sending), {
        ...options,
        clock: this.#clock,
      })
      return { bodies, bytes: bodies.reduce((sum, body) => sum + body.length, 0) }
    } finally {
      this.pending--
      if (this.#isRetired && this.pending === 0) void this.close()
    }
  }

  /** It is no longer asked: what waits is refused, and what is under way ends before it closes. */
  retire(): void {
    this.#isRetired = true
    this.limit.refuseWaiting(0)
    if (this.pending === 0) void this.close()
  }

  /** Reads the bodies of an answer; what cannot be read counts against the endpoint. */
  read(bodies: readonly Buffer[], calls: readonly RpcCall[], tolerated?: AnswerRule['tolerated']): unknown[] {
    try {
      const answers = readAnswers(bodies, calls.length, tolerated, this.#family.amend)
      if (!('refusal' in answers)) return answers.values
      const { refusal, call } = answers
      throw this.#refused({ status: 200, refusal, method: calls[call ?? 0]?.method ?? 'batch' })
    } catch (error) {
      throw this.blamed(error, calls)
    }
  }

  /** Whatever an answer makes our code throw is the failure of the endpoint that gave it. */
  blamed(error: unknown, calls: readonly RpcCall[]): AlmanacError {
    if (error instanceof AlmanacError) return error
    const what =
      error instanceof UnreadableAnswer ? error.message : `an answer that cannot be read: ${messageOf(error)}`
    return this.invalid(methodOf(calls, this.#family), what)
  }

  /** The answer cannot be one to the method. */
  invalid(method: string, what: string): AlmanacError {
    const error = this.fail({ kind: 'invalid-answer', method }, what)
    this.health.failed(messageWithCauses(error))
    return error
  }

  /** It gave a wrong answer. Returns the reason as it may be shown. */
  distrust(reason: string): string {
    const shown = this.#address.redact(reason)
    this.health.distrusted(shown)
    this.identity.doubt()
    return shown
  }

  /** `said` may hold words of the node. */
  fail(failure: Omit<RpcFailure, 'endpoint'>, said: string, context: FailContext = {}): AlmanacError {
    return this.#failure(failure, this.#address.redact(said), context)
  }

  #failure(failure: Omit<RpcFailure, 'endpoint'>, said: string, { retryAfterMs, rule }: FailContext): AlmanacError {
    const { chain, rules } = this.#family
    const context = { chain, said, retryAfterMs, rule: { ...rules?.[failure.kind], ...rule } }
    return rpcError({ ...failure, endpoint: this.name }, context)
  }

  async close(): Promise<void> {
    await this.#channel.close()
  }

  #identify(options: EndpointAsk): Promise<void> {
    const { identity, isHeavy } = this.#family
    if (identity === undefined) return Promise.resolve()
    // A caller that has given up must not start the check: its failure would go unhandled.
    if (options.signal.aborted) return Promise.reject(options.signal.reason)
    const { call, objection } = identity
    const { timeoutMs, bytesMax } = boundsOf([call], isHeavy)
    const bounds = { timeoutMs: Math.min(options.timeoutMs, timeoutMs), bytesMax }
    const ask = (signal: AbortSignal): Promise<Sent> =>
      this.#send([{ ...call, id: 0 }], { ...bounds, signal, urgent: true, bytesLeft: { count: bytesMax } })
    const judge = ({ bodies }: Sent): void => {
      const said = objection(this.read(bodies, [call])[0])
      this.isWrongChain = said !== undefined
      if (said === undefined) return
      const failure = this.fail({ kind: 'wrong-chain', method: call.method }, said)
      this.health.failed(messageWithCauses(failure), { restMs: longRestMs })
      throw failure
    }
    // A caller that gives up must not end the check for the others.
    return untilAborted(this.identity.passed(ask, judge), options.signal)
  }

  #send(calls: readonly NumberedCall[], options: Sending): Promise<Sent> {
    return this.#batches.send(calls, options.signal, (part, signal) => this.#sendOne(part, { ...options, signal }))
  }

  async #sendOne(calls: readonly NumberedCall[], options: Sending): Promise<Sent> {
    const permit = await this.#acquire(calls, options)
    const startedAt = this.#clock.now()
    const method = methodOf(calls, this.#family)
    let outcome: Outcome = { result: 'neutral' }
    let kind: 'ok' | RpcFailureKind = 'ok'
    let bytes = 0
    try {
      options.onSent?.()
      this.health.requests++
      const sent = await this.#exchange(calls, options)
      bytes = sent.bodies.reduce((sum, body) => sum + body.length, 0)
      outcome = outcomeOfPart(sent, calls)
      kind = rpcFailureOf(sent.failed[0]?.error)?.kind ?? 'ok'
      this.health.answered(method, this.#clock.now() - startedAt)
      return sent
    } catch (error) {
      kind = rpcFailureOf(error)?.kind ?? 'transport'
      outcome = outcomeOf(kind, error)
      throw error
    } finally {
      this.limit.release(permit, outcome)
      const elapsedMs = this.#clock.now() - startedAt
      // The node was asked all the same, and so was the budget.
      const isCancelled = options.signal.aborted && kind !== 'ok'
      const counted = isCancelled ? 'cancelled' : kind
      this.#observer?.request({ endpoint: this.name, method, outcome: counted, elapsedMs, bytes })
    }
  }

  async #acquire(calls: readonly NumberedCall[], { urgent = false, idle = false, signal, payer }: EndpointAsk) {
    try {
      return await this.limit.acquire({ cost: calls.length, urgent, idle, signal, payer })
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error
      const { reason, message, retryAfterMs, hint } = error
      if (reason === 'key-share' || reason === 'request-share') throw overShare(error)
      const kind = kindOfLimit[reason]
      if (kind === undefined) {
        const waiting = `${this.#family.chain} endpoint ${this.name} has too many requests waiting.`
        const later = retryAfterMs === undefined ? {} : { retryAfterMs }
        const facts = { cause: error, operatorsOnly: true, retryable: true }
        throw new AlmanacError('overloaded', waiting, { ...facts, hint: 'ask for less at once.', ...later })
      }
      const rule = hint === undefined ? {} : { hint }
      throw this.#failure({ kind, method: methodOf(calls, this.#family) }, message, { retryAfterMs, rule })
    }
  }

  async #exchange(calls: readonly NumberedCall[], options: Sending): Promise<Sent> {
    const messages = calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))
    const request = JSON.stringify(calls.length === 1 ? messages[0] : messages)
    const method = methodOf(calls, this.#family)
    const bytesMax = Math.min(options.bytesMax, boundsOf(calls, this.#family.isHeavy).bytesMax)
    try {
      const { status, body, retryAfterMs } = await this.#channel.post(request, { ...options, bytesMax })
      if (status >= 300) throw this.#refused({ status, refusal: refusalIn(body), method, retryAfterMs })
      const problem = problemIn(body, calls, options)
      if (problem === undefined) return { bodies: [body], failed: [] }
      return { bodies: [body], failed: this.#failedCalls(problem, calls, retryAfterMs) }
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error
      const failure = this.fail({ kind: error.kind, method }, error.message)
      if (error.kind === 'response-too-large') throw failure
      this.health.failed(messageWithCauses(failure))
      this.identity.doubt()
      throw failure
    }
  }

  /** The calls to send again. Throws where all of them failed, or one in a way that sending again does not cure. */
  #failedCalls(problem: BodyProblem, calls: readonly NumberedCall[], retryAfterMs: number | undefined): Sent['failed'] {
    const method = methodOf(calls, this.#family)
    if ('unreadable' in problem) throw this.invalid(method, problem.unreadable)
    const { refused, aboutBatch } = problem
    const failed = refused.map(({ refusal, call: id }) => {
      const call = calls.find(each => each.id === id)
      const isPart = call !== undefined && refused.length < calls.length
      const answer = { status: 200, refusal, method: call?.method ?? method, retryAfterMs, aboutBatch, isPart }
      const error = this.#refused(answer)
      if (!isPart || !isPassing(error)) throw error
      return { call, error }
    })
    const [first] = failed
    if (first !== undefined) this.health.faltered(messageWithCauses(first.error))
    // One that came with an answer of the same call, or twice, cannot be sent again.
    if (new Set(failed.map(({ call }) => call)).size < failed.length) throw this.invalid(method, 'an error twice')
    return failed
  }

  #refused(answer: {
    status: number
    refusal: RpcRefusal | undefined
    method: string
    retryAfterMs?: number | undefined
    aboutBatch?: boolean
    /** The other calls of the batch were answered. */
    isPart?: boolean
  }): AlmanacError {
    const { status, refusal, method, retryAfterMs, aboutBatch, isPart = false } = answer
    const rpcCode = refusal?.rpcCode
    const redirects = status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''
    const text = refusal?.text ?? `HTTP status ${status}${redirects}`
    const sorted = this.#family.sort({ status, rpcCode, text, method })
    if (aboutBatch === true && sorted.kind === 'refused') sorted.kind = 'batch-refused'
    const failure = { ...sorted, method, status, ...(rpcCode === undefined ? {} : { rpcCode }) }
    const malformed = sorted.kind === 'refused' && (rpcCode === -32600 || rpcCode === -32602)
    const error = this.fail(failure, text, { retryAfterMs, ...(malformed ? { rule: { retryable: false } } : {}) })
    const isJudged = !(isPart && isPassing(error))
    if (isJudged) this.#judge(sorted.kind, { method, reason: messageWithCauses(error), retryAfterMs })
    return error
  }

  /** What a refusal says about the endpoint's health: a limit on one question does not count. */
  #judge(kind: RpcFailureKind, facts: { method: string; reason: string; retryAfterMs: number | undefined }): void {
    const { method, reason, retryAfterMs } = facts
    if (kind === 'method-missing') this.health.lacks(method)
    if (kind === 'quota') this.health.failed(reason, { restMs: retryAfterMs ?? longRestMs })
    if (kind === 'unauthorized') this.health.failed(reason, { restMs: longRestMs })
    if (kind === 'behind') this.health.faltered(reason)
    if (illnesses.has(kind)) this.health.failed(reason)
  }
}

/** In words for clients: no endpoint refused anything. */
function overShare({ reason, message: limit, retryAfterMs, hint }: LimitExceeded): AlmanacError {
  const isOfKey = reason === 'key-share'
  const used = 'The key has used its share of the calls to nodes of today (UTC).'
  const facts = {
    details: { limit, raise: hint, ...(isOfKey ? { reason: used } : {}) },
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
  if (isOfKey) return new AlmanacError('quota_exceeded', 'Rate limit exceeded', facts)
  const message = `Client requests have used their share of daily_budget for today: ${limit}`
  return new AlmanacError('budget_exceeded', message, facts)
}

/** The failure that a limit of ours amounts to. Where there is none, too much waits. */
const kindOfLimit: Partial<Record<LimitExceeded['reason'], RpcFailureKind>> = {
  'daily-budget': 'quota',
  paused: 'rate-limited',
  'over-rate': 'rate-limited',
  resting: 'transport',
}

const illnesses = new Set<RpcFailureKind>(['rate-limited', 'transport', 'timeout', 'refused'])

function outcomeOf(kind: RpcFailureKind, error: unknown): Outcome {
  const retryAfterMs = error instanceof AlmanacError ? error.retryAfterMs : undefined
  // Retry-After counts with any status: a 503 with it asks for patience as much as a 429.
  if (kind === 'rate-limited' || retryAfterMs !== undefined) return { result: 'limited', retryAfterMs }
  return { result: kind === 'timeout' ? 'slow' : 'neutral' }
}

/** Of a request that was answered. Slowing down helps where the limit struck most calls; a few are only sent again. */
function outcomeOfPart({ failed }: Sent, calls: readonly NumberedCall[]): Outcome {
  const limited = failed.filter(({ error }) => rpcFailureOf(error)?.kind === 'rate-limited')
  if (limited.length * 2 > calls.length) return { result: 'limited', retryAfterMs: limited[0]?.error.retryAfterMs }
  return { result: limited.length > 0 ? 'neutral' : 'ok' }
}
