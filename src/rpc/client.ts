// JSON-RPC over the endpoints of one chain: asks the best one, fails over, hedges and retries, and says which one
// answered. It checks the form of answers; whether they are true is up to the caller.
import { isDeepStrictEqual } from 'node:util'
import { type Clock, followSignals, type LinkedSignal, pause, realClock } from '../abort.ts'
import { AlmanacError, messageWithCauses } from '../errors.ts'
import type { EndpointStatus } from '../status.ts'
import type { RpcCall } from './batches.ts'
import { boundsOf, silenceMs } from './bounds.ts'
import { type EndpointAnswer, type EndpointAsk, longRestMs, RpcEndpoint, type RpcObserver } from './endpoint.ts'
import { type AddressOptions, endpointAddresses } from './endpoint-address.ts'
import { type RpcFailure, type RpcFailureKind, rpcError, rpcFailureOf } from './failures.ts'
import { methodOf, type RpcFamily } from './family.ts'
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
  /** Instead of `attemptsMax`: how many for each endpoint. */
  attemptsEach?: number | undefined
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
  /** The calls as one endpoint is asked them, one for each: another way to ask for the same. */
  callsFor?: (endpoint: string) => readonly RpcCall[]
  /** Called with each failure of an endpoint, also where another one answers. */
  onFailure?: (endpoint: string, failure: RpcFailure) => void
}

type Accept<T> = (endpoint: RpcEndpoint, answer: EndpointAnswer) => Promise<T> | T
type Failures = Map<RpcEndpoint, AlmanacError>

const backoffFirstMs = 100
const hedgeShareMax = 0.1
const hedgeMs = { least: 50, unknown: 1_000, most: 2_000 }
const deadlinePassed = new Error('the deadline has passed')
const overtaken = new Error('another endpoint was faster')

export class RpcClient {
  #endpoints: readonly RpcEndpoint[] = []
  #settings: readonly EndpointSettings[] = []
  readonly #options: RpcClientOptions
  readonly #family: RpcFamily
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #asks = 0
  #hedges = 0

  constructor(options: RpcClientOptions) {
    const { family, clock = realClock } = options
    this.#options = options
    this.#family = family
    this.#clock = clock
    this.setEndpoints(options.endpoints)
  }

  get endpoints(): readonly RpcEndpoint[] {
    return this.#endpoints
  }

  /**
   * Asks these endpoints from now on. One that stays as it was keeps what was learnt of it; calls that are under way
   * at one that goes end there, and what waits for it is asked of another.
   */
  setEndpoints(settings: readonly EndpointSettings[]): void {
    const [family, clock] = [this.#family, this.#clock]
    const { observer, failsFast = false } = this.#options
    const before = this.#endpoints.map((endpoint, at) => ({ endpoint, settings: this.#settings[at]! }))
    const urls = settings.map(({ url }) => url)
    this.#settings = settings
    this.#endpoints = endpointAddresses(urls, this.#options).map((address, at) => {
      const isSame = (known: (typeof before)[number]): boolean =>
        known.endpoint.name === address.name && isDeepStrictEqual(known.settings, settings[at])
      const known = before.find(isSame)?.endpoint
      return known ?? new RpcEndpoint(address, { ...settings[at], family, clock, observer, failsFast })
    })
    for (const { endpoint } of before) if (!this.#endpoints.includes(endpoint)) endpoint.retire()
  }

  /** All calls go to one endpoint. Whatever `accept` throws is the endpoint's failure, and the next one is asked. */
  async ask<T>(calls: readonly RpcCall[], options: ClientAsk, accept: Accept<T>): Promise<T> {
    this.#asks++
    using linked = followSignals(this.#closed.signal, ...(options.signal === undefined ? [] : [options.signal]))
    const { signal } = linked
    const failures: Failures = new Map()
    let last: AlmanacError | undefined
    /** Of an endpoint that would answer less; another one may answer it all. */
    let sizeRefusal: AlmanacError | undefined
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
        return await this.#hedged([first, hedge], calls, { ...options, signal, accept, failures, attempt })
      } catch (error) {
        if (signal.aborted) throw this.#interrupted(signal, calls)
        if (!(error instanceof AlmanacError)) throw error
        const failure = rpcFailureOf(error)
        if (failure?.kind === 'reverted') throw error
        if (failure !== undefined && sizeRefusals.has(failure.kind)) {
          if (this.#family.canAskForLess?.(calls) !== true)
            this.#refusedTheLeast(failure.endpoint, messageWithCauses(error))
          else if (this.#candidates(calls, options, failures)[0]?.health.healthy === true) sizeRefusal = error
          else throw error
        } else if (sizeRefusal !== undefined) throw sizeRefusal
        last = error
      }
    }
    throw last
  }

  /** Returns the reason as it may be shown. */
  distrust(endpoint: string, reason: string): string {
    return this.#endpointOf(endpoint)?.distrust(reason) ?? 'it gave a wrong answer'
  }

  /** What the endpoint failed with last is not its fault. */
  excuse(endpoint: string): void {
    this.#endpointOf(endpoint)?.health.excused()
  }

  status(): EndpointStatus[] {
    return this.endpoints.map(({ name, health, isWrongChain, limit: { closed } }) => ({
      endpoint: name,
      healthy: health.healthy && closed === undefined,
      // A failure says more than the pause that it led to.
      reason: closed?.reason === 'daily-budget' ? closed.message : (health.reason ?? closed?.message),
      ...(isWrongChain ? { wrong_chain: true } : {}),
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

  /** Nothing smaller can be asked for: it is left alone for a while, unless everything else would fail with it. */
  #refusedTheLeast(endpoint: string, reason: string): void {
    const health = this.#endpointOf(endpoint)?.health
    if (this.#options.failsFast === true) health?.faltered(reason)
    else health?.failed(reason, { restMs: longRestMs })
  }

  #endpointOf(wanted: string): RpcEndpoint | undefined {
    return this.endpoints.find(({ name }) => name === wanted)
  }

  #attemptsMax(last: AlmanacError | undefined): number {
    const { attemptsEach, behind } = this.#options
    const { attemptsMax = attemptsEach === undefined ? 4 : attemptsEach * this.#endpoints.length } = this.#options
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
   * Asks the first endpoint, and the second as well when the first takes longer than usual. Where there is no second
   * one, a light call is sent again on another connection. The first good answer wins and cancels the other request.
   */
  #hedged<T>(
    [first, second]: [RpcEndpoint, RpcEndpoint | undefined],
    calls: readonly RpcCall[],
    {
      accept,
      failures,
      signal,
      attempt,
      ...options
    }: ClientAsk & { signal: AbortSignal; accept: Accept<T>; failures: Failures; attempt: number },
  ): Promise<T> {
    const { urgent, idle, payer, tolerated, nullIsMissing } = options
    const bounds = boundsOf(calls, this.#family.isHeavy, { attempt })
    const timeoutMs = options.timeoutMs ?? Math.min(this.#options.timeoutMs ?? bounds.timeoutMs, bounds.timeoutMs)
    const bytesMax = Math.min(options.bytesMax ?? this.#options.bytesMax ?? bounds.bytesMax, bounds.bytesMax)
    // With another endpoint to go to, this one is not asked for the rest of a batch for long.
    const repeatsMax = second === undefined ? 2 : 1
    const asked = { timeoutMs, bytesMax, urgent, idle, payer, tolerated, nullIsMissing, repeatsMax }
    const callsFor = ({ name }: RpcEndpoint): readonly RpcCall[] => options.callsFor?.(name) ?? calls
    const method = methodOf(callsFor(first), this.#family)
    const clock = this.#clock
    return new Promise((resolve, reject) => {
      const running = new Map<LinkedSignal, RpcEndpoint>()
      let cancelHedge = (): void => {}
      let firstError: unknown
      let sentAt = clock.now()

      const end = (linked: LinkedSignal): void => {
        linked[Symbol.dispose]()
        running.delete(linked)
      }
      const won = (linked: LinkedSignal, answer: T): void => {
        cancelHedge()
        end(linked)
        if ([...running.values()].includes(first)) first.health.overtaken(method, clock.now() - sentAt)
        for (const loser of running.keys()) loser.abort(overtaken)
        resolve(answer)
      }
      const lost = (linked: LinkedSignal, endpoint: RpcEndpoint, error: unknown): void => {
        end(linked)
        if (error instanceof AlmanacError) failures.set(endpoint, error)
        const failure = rpcFailureOf(error)
        if (failure !== undefined) options.onFailure?.(endpoint.name, failure)
        firstError ??= error
        if (running.size > 0) return
        cancelHedge()
        reject(firstError)
      }
      const run = (endpoint: RpcEndpoint, onSent: () => void): void => {
        const linked = followSignals(signal)
        running.set(linked, endpoint)
        endpoint
          .ask(callsFor(endpoint), { ...asked, signal: linked.signal, onSent })
          .then(async answer => {
            const accepted = await acceptedBy(endpoint, calls, () => accept(endpoint, answer))
            endpoint.health.succeeded()
            return accepted
          })
          .then(
            accepted => won(linked, accepted),
            error => lost(linked, endpoint, error),
          )
      }

      // The time counts from when the request left: waiting for the limits is not the endpoint's slowness.
      run(first, () => {
        sentAt = clock.now()
        cancelHedge()
        if (running.size !== 1) return
        const tailMs = Math.min(hedgeMs.most, Math.max(hedgeMs.least, first.health.tailMs(method) ?? hedgeMs.unknown))
        const delayMs = second === undefined ? Math.max(silenceMs, tailMs) : tailMs
        cancelHedge = clock.after(delayMs, () => {
          if (running.size !== 1) return
          const other = second?.health.healthy === true ? second : bounds.isLight ? first : undefined
          if (other === undefined || !this.#mayHedge(other)) return
          this.#hedges++
          this.#options.observer?.hedge({ endpoint: first.name, method })
          run(other, () => {})
        })
      })
    })
  }

  #mayHedge({ limit }: RpcEndpoint): boolean {
    return limit.availableInMs === 0 && this.#hedges < 3 + this.#asks * hedgeShareMax
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

/** Asking for less helps more than asking another endpoint, where there is less to ask for. */
const sizeRefusals = new Set<RpcFailureKind>([
  'range-too-large',
  'too-many-results',
  'response-too-large',
  'filter-too-large',
])

async function acceptedBy<T>(
  endpoint: RpcEndpoint,
  calls: readonly RpcCall[],
  accept: () => T | Promise<T>,
): Promise<T> {
  try {
    return await accept()
  } catch (error) {
    throw endpoint.blamed(error, calls)
  }
}
