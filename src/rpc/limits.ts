// How much an endpoint is asked at once: everything a local node takes, and elsewhere what the endpoint has shown to
// bear. Additive increase, multiplicative decrease, Retry-After, calls per second and per day. The queue is bounded.
import type { Clock } from '../abort.ts'
import { DailyBudget, type Payer } from './daily-budget.ts'

export type LimitOptions = {
  /** A local node starts at the maximum, any other at a few. */
  isPrivate: boolean
  requestsPerSecond?: number | undefined
  /** The endpoints of a chain share one. */
  budget?: DailyBudget | undefined
  queueMax?: number
  /** A request that would wait, or has waited, longer than this is refused; undefined: it waits on. */
  waitMaxMs?: number | undefined
}

export type Permit = { readonly startedAt: number }
/** `limited`: it said that it is asked too much. `slow`: it did not answer in time. `neutral`: nothing to learn. */
export type Outcome = { result: 'ok' | 'limited' | 'slow' | 'neutral'; retryAfterMs?: number | undefined }

const concurrencyMax = 64
const politeStart = 4
const pauseFirstMs = 250
const pauseMaxMs = 30_000
/** No caller waits for a longer pause: the refusal says when to come back. */
export const patienceMs = 10_000
/** When to come back where the limits cannot tell. */
const comeBackMs = 1_000

/** Those of a share are about requests of clients alone. */
type LimitReason =
  | 'queue-full'
  | 'waited-too-long'
  | 'daily-budget'
  | 'key-share'
  | 'request-share'
  | 'paused'
  | 'over-rate'
  | 'resting'

export class LimitExceeded extends Error {
  readonly reason: LimitReason
  readonly retryAfterMs: number | undefined
  readonly hint: string | undefined
  constructor(reason: LimitReason, message: string, retryAfterMs?: number, hint?: string) {
    super(message)
    this.reason = reason
    this.retryAfterMs = retryAfterMs
    this.hint = hint
  }
}

/** `urgent` goes before everything that waits, `idle` after it. `payer`: a request of a client asks. */
type PermitRequest = {
  cost: number
  urgent: boolean
  idle?: boolean
  signal: AbortSignal
  payer?: Payer | undefined
}

type Waiting = Pick<PermitRequest, 'cost' | 'payer'> & {
  start: (permit: Permit) => void
  refuse: (error: LimitExceeded) => void
}

export class AdaptiveLimit {
  readonly #clock: Clock
  readonly #options: LimitOptions
  readonly #budget: DailyBudget
  readonly #urgent: Waiting[] = []
  readonly #waiting: Waiting[] = []
  readonly #idle: Waiting[] = []
  /** The first queue that is not empty goes first. */
  readonly #queues: readonly Waiting[][] = [this.#urgent, this.#waiting, this.#idle]
  #concurrency: number
  #inFlight = 0
  #pausedUntil = 0
  #pauses = 0
  #decreasedAt = Number.NEGATIVE_INFINITY
  #tokens: number
  #tokensAt: number
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, options: LimitOptions) {
    this.#clock = clock
    this.#options = options
    this.#budget = options.budget ?? new DailyBudget(Number.POSITIVE_INFINITY, clock)
    this.#concurrency = options.isPrivate ? concurrencyMax : politeStart
    this.#tokens = this.#bucketSize
    this.#tokensAt = clock.now()
  }

  get concurrency(): number {
    return Math.floor(this.#concurrency)
  }

  /** So little is left of the day's calls that only what must be asked is. */
  get isScarce(): boolean {
    return this.#budget.left < this.#budget.callsPerDay / 10
  }

  /** How long until the next request could start, as far as pauses and budgets go. */
  get availableInMs(): number {
    const now = this.#clock.now()
    if (this.#budget.left <= 0) return this.#budget.renewsInMs
    return Math.max(0, this.#pausedUntil - now)
  }

  /** The refusal that every request gets for a while; undefined where one can start. */
  get closed(): LimitExceeded | undefined {
    if (this.availableInMs < patienceMs) return undefined
    return this.#budget.left <= 0 ? this.#overBudget() : this.#paused()
  }

  /** Waits until the request may start. `cost` is its number of calls: providers count calls, not requests. */
  acquire({ cost, urgent, idle = false, signal, payer }: PermitRequest): Promise<Permit> {
    const spent = this.#spent({ cost, payer })
    if (spent !== undefined) return Promise.reject(spent)
    const { queueMax = 2_000, waitMaxMs } = this.#options
    if (this.#queues.reduce((sum, queue) => sum + queue.length, 0) >= queueMax) {
      return Promise.reject(new LimitExceeded('queue-full', `${queueMax} requests are waiting already`))
    }
    if (this.#pausedUntil - this.#clock.now() > patienceMs) return Promise.reject(this.#paused())
    const forRateMs = waitMaxMs === undefined ? 0 : this.#queuedForRateMs(cost)
    if (waitMaxMs !== undefined && forRateMs > waitMaxMs) {
      const message = `requests_per_second allows it in ${Math.ceil(forRateMs)} ms`
      return Promise.reject(new LimitExceeded('over-rate', message, forRateMs))
    }
    if (signal.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const queue = urgent ? this.#urgent : idle ? this.#idle : this.#waiting
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener('abort', onAbort)
          cancelTimer()
          settle(value)
        }
      const waiting: Waiting = { cost, payer, start: settled(resolve), refuse: settled(reject) }
      const leave = (reason: unknown): void => {
        queue.splice(queue.indexOf(waiting), 1)
        settled(reject)(reason)
      }
      const onAbort = (): void => leave(signal.reason)
      const tooLate = (): void => {
        this.#pump()
        const message = `it could not be sent within ${waitMaxMs} ms`
        if (queue.includes(waiting)) leave(new LimitExceeded('waited-too-long', message, comeBackMs))
      }
      const cancelTimer = waitMaxMs === undefined ? () => {} : this.#clock.after(waitMaxMs, tooLate)
      signal.addEventListener('abort', onAbort, { once: true })
      queue.push(waiting)
      this.#pump()
    })
  }

  release(permit: Permit, { result, retryAfterMs }: Outcome): void {
    this.#inFlight--
    if (result === 'limited' || result === 'slow') this.#decrease(permit)
    if (result === 'limited') this.#pause(retryAfterMs)
    if (result === 'ok') {
      this.#pauses = 0
      // One more for each round of successes: requests in flight together count as one round.
      this.#concurrency = Math.min(concurrencyMax, this.#concurrency + 1 / this.#concurrency)
    }
    this.#pump()
  }

  /** The endpoint rests: what waits is refused, so that it can go elsewhere. */
  refuseWaiting(restsForMs: number): void {
    this.#refuseAll(new LimitExceeded('resting', `it rests for ${Math.ceil(restsForMs)} ms`, restsForMs))
  }

  #decrease(permit: Permit): void {
    // Requests that started before the last decrease belong to the same overload.
    if (permit.startedAt < this.#decreasedAt) return
    this.#concurrency = Math.max(1, this.#concurrency / 2)
    this.#decreasedAt = this.#clock.now()
    this.#pauses++
  }

  #pause(retryAfterMs: number | undefined): void {
    const ownMs = Math.min(pauseMaxMs, pauseFirstMs * 2 ** (Math.max(1, this.#pauses) - 1))
    const pauseMs = retryAfterMs ?? ownMs
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pauseMs)
    if (pauseMs > patienceMs) this.#refuseAll(this.#paused())
  }

  #refuseAll(error: LimitExceeded): void {
    for (const queue of this.#queues) for (const waiting of queue.splice(0)) waiting.refuse(error)
  }

  #paused(): LimitExceeded {
    const waitMs = this.#pausedUntil - this.#clock.now()
    return new LimitExceeded('paused', `it asked for a pause of another ${Math.ceil(waitMs)} ms`, waitMs)
  }

  /** Why the budget does not let it start; a request that would take more than its share is not begun. */
  #spent({ cost, payer }: Pick<Waiting, 'cost' | 'payer'>): LimitExceeded | undefined {
    if (payer === undefined) return this.#budget.left <= 0 ? this.#overBudget() : undefined
    const { setting, renewsInMs, shares } = this.#budget
    const over = (reason: 'key-share' | 'request-share', limit: string): LimitExceeded =>
      new LimitExceeded(reason, limit, renewsInMs, `raise ${setting}, or wait until midnight UTC.`)
    if (cost > this.#budget.leftForKey(payer)) return over('key-share', `${shares.key} calls a day to nodes for a key`)
    if (cost <= this.#budget.leftForRequests) return undefined
    return over('request-share', `${shares.requests} calls a day to nodes for all requests`)
  }

  #overBudget(): LimitExceeded {
    const { callsPerDay, setting, renewsInMs } = this.#budget
    const message = `the ${callsPerDay} calls a day of ${setting} are used up`
    return new LimitExceeded('daily-budget', message, renewsInMs, `raise ${setting}, or wait until midnight UTC.`)
  }

  #pump(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (;;) {
      const queue = this.#queues.find(({ length }) => length > 0)
      const next = queue?.[0]
      if (queue === undefined || next === undefined || this.#inFlight >= this.concurrency) return
      const spent = this.#spent(next)
      if (spent !== undefined) {
        // Others may still start: the head, and requests of other keys.
        queue.shift()
        next.refuse(spent)
        continue
      }
      const now = this.#clock.now()
      const waitMs = Math.max(this.#pausedUntil - now, this.#tokenWaitMs(next.cost, now))
      if (waitMs > 0) {
        this.#cancelTimer = this.#clock.after(Math.ceil(waitMs), () => this.#pump())
        return
      }
      queue.shift()
      this.#inFlight++
      this.#tokens -= next.cost
      this.#budget.use(next.cost, next.payer)
      next.start({ startedAt: now })
    }
  }

  get #bucketSize(): number {
    return Math.max(1, this.#options.requestsPerSecond ?? 1)
  }

  /** How long the rate alone keeps a request waiting that joins the queue now. */
  #queuedForRateMs(cost: number): number {
    const { requestsPerSecond } = this.#options
    if (requestsPerSecond === undefined) return 0
    this.#refill(this.#clock.now(), requestsPerSecond)
    const queued = this.#queues.flat().reduce((sum, waiting) => sum + waiting.cost, 0)
    return ((queued + cost - this.#tokens) / requestsPerSecond) * 1_000
  }

  /** A batch larger than the bucket may go into debt once the bucket is full. */
  #tokenWaitMs(cost: number, now: number): number {
    const perSecond = this.#options.requestsPerSecond
    if (perSecond === undefined) return 0
    this.#refill(now, perSecond)
    return Math.max(0, ((Math.min(cost, this.#bucketSize) - this.#tokens) / perSecond) * 1_000)
  }

  #refill(now: number, perSecond: number): void {
    this.#tokens = Math.min(this.#bucketSize, this.#tokens + ((now - this.#tokensAt) / 1_000) * perSecond)
    this.#tokensAt = now
  }
}
