// JSON-RPC over the endpoints of one chain: asks the best one, fails over, hedges and retries, and says which one
// answered. It checks the form of answers; whether they are true is up to the caller.
import { type Clock, followSignals, type LinkedSignal, pause, realClock } from '../abort.ts'
import { AlmanacError } from '../errors.ts'
import type { EndpointStatus } from '../model.ts'
import type { RpcCall } from './batches.ts'
import {
  type EndpointAnswer,
  type EndpointAsk,
  methodOf,
  RpcEndpoint,
  type RpcFamily,
  type RpcObserver,
} from './endpoint.ts'
import { type AddressOptions, endpointAddresses } from './endpoint-address.ts'
import { type RpcFailureKind, rpcError, rpcFailureOf } from './failures.ts'
import { type LimitOptions, patienceMs } from './limits.ts'

export type EndpointSettings = Omit<LimitOptions, 'isPrivate'> & { url: string }

export type RpcClientOptions = AddressOptions & {
  family: RpcFamily
  endpoints: readonly EndpointSettings[]
  /** Of one request; one `ask` makes several where the first ones fail. */
  timeoutMs?: number | undefined
  /** Of one `ask` with all its waits and requests; undefined: it ends with its attempts. */
  deadlineMs?: number | undefined
  bytesMax?: number | undefined
  attemptsMax?: number | undefined
  /** While a node catches up, it is asked this often, with this pause. */
  behind?: { attemptsMax: number; pauseMs: number }
  /** Never asks an endpoint that rests, and fails at once while all do. */
  failsFast?: boolean
  observer?: RpcObserver | undefined
  clock?: Clock | undefined
}

export type ClientAsk = Partial<Omit<EndpointAsk, 'onSent'>> & {
  exclude?: ReadonlySet<string> | undefined
  /** The only endpoint to ask. */
  endpoint?: string | undefined
}

type Accept<T> = (endpoint: RpcEndpoint, answer: EndpointAnswer) => Promise<T> | T
type Failures = Map<RpcEndpoint, AlmanacError>

const backoffFirstMs = 100
const hedgeShareMax = 0.1
const hedgeMs = { least: 50, unknown: 1_000, most: 2_000 }
const deadlinePassed = new Error('the deadline has passed')
const overtaken = new Error('another endpoint was faster')

export class RpcClient {
  readonly endpoints: readonly RpcEndpoint[]
  readonly #options: RpcClientOptions
  readonly #family: RpcFamily
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #asks = 0
  #hedges = 0

  constructor(options: RpcClientOptions) {
    const { family, clock = realClock, observer, failsFast = false } = options
    this.#options = options
    this.#family = family
    this.#clock = clock
    const urls = options.endpoints.map(({ url }) => url)
    this.endpoints = endpointAddresses(urls, options).map(
      (address, at) => new RpcEndpoint(address, { ...options.endpoints[at], family, clock, observer, failsFast }),
    )
  }

  /** All calls go to one endpoint. Where `accept` throws an AlmanacError, the next endpoint is asked. */
  async ask<T>(calls: readonly RpcCall[], options: ClientAsk, accept: Accept<T>): Promise<T> {
    this.#asks++
    using linked = followSignals(this.#closed.signal, ...(options.signal === undefined ? [] : [options.signal]))
    const { signal } = linked
    const failures: Failures = new Map()
    let last: AlmanacError | undefined
    const { deadlineMs } = this.#options
    const endByDeadline = (): void => linked.abort(deadlinePassed)
    using _ = deadlineMs === undefined ? undefined : { [Symbol.dispose]: this.#clock.after(deadlineMs, endByDeadline) }
    for (let attempt = 0; attempt < this.#attemptsMax(last); attempt++) {
      const [first, second] = this.#candidates(calls, options, failures)
      if (first === undefined) throw last ?? this.#noneLeft(calls)
      if (failures.has(first) && !(await this.#patient(failures.get(first)!, attempt, signal))) break
      if (signal.aborted) throw this.#interrupted(signal, calls)
      const hedge = second !== undefined && !failures.has(second) ? second : undefined
      try {
        return await this.#hedged([first, hedge], calls, { ...options, signal, accept, failures })
      } catch (error) {
        if (signal.aborted) throw this.#interrupted(signal, calls)
        if (!(error instanceof AlmanacError)) throw error
        const failure = rpcFailureOf(error)
        if (failure !== undefined && endsTheAsk.has(failure.kind)) throw error
        last = error
      }
    }
    throw last
  }

  distrust(endpoint: string, reason: string): void {
    this.endpoints.find(({ name }) => name === endpoint)?.health.distrusted(reason)
  }

  status(): EndpointStatus[] {
    return this.endpoints.map(({ name, health, limit: { closed } }) => ({
      endpoint: name,
      healthy: health.healthy && closed === undefined,
      // A failure says more than the pause that it led to.
      reason: closed?.reason === 'daily-budget' ? closed.message : (health.reason ?? closed?.message),
      latency_ms: health.latencyMs === undefined ? undefined : Math.round(health.latencyMs),
      requests: health.requests,
      errors: health.errors,
    }))
  }

  /** Cancels what is under way. */
  async close(): Promise<void> {
    this.#closed.abort(new AlmanacError('interrupted', `${this.#family.chain} endpoints are closed.`))
    await Promise.all(this.endpoints.map(endpoint => endpoint.close()))
  }

  #attemptsMax(last: AlmanacError | undefined): number {
    const { attemptsMax = 4, behind } = this.#options
    return rpcFailureOf(last)?.kind === 'behind' ? (behind?.attemptsMax ?? attemptsMax) : attemptsMax
  }

  /** The best first; those that failed already come last, and only if another try makes sense. */
  #candidates(calls: readonly RpcCall[], options: ClientAsk, failures: Failures): RpcEndpoint[] {
    const rank = (endpoint: RpcEndpoint): number => {
      const failed = failures.has(endpoint) ? 1e12 : 0
      const lacking = calls.every(({ method }) => endpoint.health.hasMethod(method)) ? 0 : 1e9
      const restsMs = Math.max(endpoint.health.restsForMs, endpoint.limit.availableInMs)
      // The operator's order counts among endpoints that are about equally good: one's own node before a paid one.
      const preference = 1 + this.endpoints.indexOf(endpoint) / 2
      const load = 1 + endpoint.pending / endpoint.limit.concurrency
      return failed + lacking + restsMs * 1_000 + endpoint.health.expectedMs * load * preference
    }
    return this.endpoints
      .filter(endpoint => {
        if (options.endpoint !== undefined && endpoint.name !== options.endpoint) return false
        if (options.exclude?.has(endpoint.name) === true) return false
        if (this.#options.failsFast === true && !endpoint.health.healthy) return false
        const failed = failures.get(endpoint)
        if (failed === undefined) return true
        const kind = rpcFailureOf(failed)?.kind
        return kind !== undefined && this.#family.isRepeatable(kind, calls)
      })
      .map(endpoint => ({ endpoint, rank: rank(endpoint) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ endpoint }) => endpoint)
  }

  /** Waits before the same endpoint is asked again; false where that would take too long. */
  async #patient(failure: AlmanacError, attempt: number, signal: AbortSignal): Promise<boolean> {
    const behindMs = rpcFailureOf(failure)?.kind === 'behind' ? this.#options.behind?.pauseMs : undefined
    const waitMs = failure.retryAfterMs ?? behindMs ?? backoffFirstMs * 2 ** attempt * (0.5 + Math.random() / 2)
    if (waitMs > patienceMs) return false
    await pause(waitMs, signal, this.#clock)
    return true
  }

  /**
   * Asks the first endpoint, and the second as well when the first takes longer than usual. The first good answer wins
   * and cancels the other request.
   */
  #hedged<T>(
    [first, second]: [RpcEndpoint, RpcEndpoint | undefined],
    calls: readonly RpcCall[],
    {
      accept,
      failures,
      signal,
      ...options
    }: ClientAsk & { signal: AbortSignal; accept: Accept<T>; failures: Failures },
  ): Promise<T> {
    const { urgent, idle, tolerated } = options
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 30_000
    const bytesMax = options.bytesMax ?? this.#options.bytesMax ?? 64 * 2 ** 20
    const method = methodOf(calls, this.#family)
    const clock = this.#clock
    return new Promise((resolve, reject) => {
      const running = new Map<RpcEndpoint, LinkedSignal>()
      let cancelHedge = (): void => {}
      let firstError: unknown
      let sentAt = clock.now()

      const end = (endpoint: RpcEndpoint): void => {
        running.get(endpoint)?.[Symbol.dispose]()
        running.delete(endpoint)
      }
      const won = (endpoint: RpcEndpoint, answer: T): void => {
        cancelHedge()
        end(endpoint)
        if (running.has(first)) first.health.overtaken(method, clock.now() - sentAt)
        for (const loser of running.values()) loser.abort(overtaken)
        resolve(answer)
      }
      const lost = (endpoint: RpcEndpoint, error: unknown): void => {
        end(endpoint)
        if (error instanceof AlmanacError) failures.set(endpoint, error)
        firstError ??= error
        if (running.size > 0) return
        cancelHedge()
        reject(firstError)
      }
      const run = (endpoint: RpcEndpoint, onSent: () => void): void => {
        const linked = followSignals(signal)
        running.set(endpoint, linked)
        endpoint
          .ask(calls, { timeoutMs, bytesMax, urgent, idle, tolerated, signal: linked.signal, onSent })
          .then(async answer => {
            const accepted = await accept(endpoint, answer)
            endpoint.health.succeeded()
            return accepted
          })
          .then(
            accepted => won(endpoint, accepted),
            error => lost(endpoint, error),
          )
      }

      // The time counts from when the request left: waiting for the limits is not the endpoint's slowness.
      run(first, () => {
        sentAt = clock.now()
        cancelHedge()
        if (second === undefined || !running.has(first)) return
        const delayMs = Math.min(hedgeMs.most, Math.max(hedgeMs.least, first.health.tailMs(method) ?? hedgeMs.unknown))
        cancelHedge = clock.after(delayMs, () => {
          if (!running.has(first) || running.has(second) || !this.#mayHedge(second)) return
          this.#hedges++
          this.#options.observer?.hedge({ endpoint: first.name, method })
          run(second, () => {})
        })
      })
    })
  }

  #mayHedge({ health, limit }: RpcEndpoint): boolean {
    return health.healthy && limit.availableInMs === 0 && this.#hedges < 3 + this.#asks * hedgeShareMax
  }

  #noneLeft(calls: readonly RpcCall[]): AlmanacError {
    const resting = this.#options.failsFast === true ? this.endpoints.filter(({ health }) => !health.healthy) : []
    if (resting.length === 0) return this.#none(calls, 'no endpoint is left to ask')
    const reasons = resting.map(({ name, health }) => health.reason ?? `${name} rests`)
    const restMs = Math.min(...resting.map(({ health }) => health.restsForMs))
    return this.#none(calls, reasons.join('; '), Math.max(100, restMs))
  }

  #none(calls: readonly RpcCall[], said: string, retryAfterMs?: number): AlmanacError {
    const failure = { kind: 'no-endpoint', endpoint: 'none', method: methodOf(calls, this.#family) } as const
    return rpcError(failure, { chain: this.#family.chain, said, retryAfterMs })
  }

  #interrupted({ reason }: AbortSignal, calls: readonly RpcCall[]): AlmanacError {
    if (reason === deadlinePassed) return this.#none(calls, `no answer within ${this.#options.deadlineMs} ms`)
    if (reason instanceof AlmanacError) return reason
    return new AlmanacError('interrupted', `${this.#family.chain} request was cancelled.`, { cause: reason })
  }
}

/** Asking another endpoint would not help as much as asking for less, or for something else. */
const endsTheAsk = new Set<RpcFailureKind>([
  'range-too-large',
  'too-many-results',
  'response-too-large',
  'filter-too-large',
  'reverted',
])
