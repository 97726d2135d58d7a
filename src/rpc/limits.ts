// How much an endpoint is asked at once: everything a local node takes, and elsewhere what the endpoint has shown to bear.
// Additive increase, multiplicative decrease, Retry-After, calls per second and per day. The queue is bounded.
import type { Clock } from '../abort.ts'

export type LimitOptions = {
  /** A local node starts at the maximum, any other at a few. */
  isPrivate: boolean
  requestsPerSecond?: number | undefined
  requestsPerDay?: number | undefined
  /** In place of `requestsPerDay`, where several endpoints share one. */
  budget?: DailyBudget | undefined
  queueMax?: number
}

export type Permit = { readonly startedAt: number }
/** `limited`: it said that it is asked too much. `slow`: it did not answer in time. `neutral`: nothing to learn. */
export type Outcome = { result: 'ok' | 'limited' | 'slow' | 'neutral'; retryAfterMs?: number | undefined }

const concurrencyMax = 64
const politeStart = 4
const pauseFirstMs = 250
const pauseMaxMs = 30_000
/** Upper bound on what a server's Retry-After may ask for. */
const retryAfterMaxMs = 10 * 60_000
/** Callers are not kept waiting for a longer pause: they are told when to come back. */
export const patienceMs = 10_000

export class LimitExceeded extends Error {
  readonly reason: 'queue-full' | 'daily-budget' | 'paused'
  readonly retryAfterMs: number | undefined
  constructor(reason: LimitExceeded['reason'], message: string, retryAfterMs?: number) {
    super(message)
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** `urgent` goes before everything that waits, `idle` after it. */
type PermitRequest = { cost: number; urgent: boolean; idle?: boolean; signal: AbortSignal }

type Waiting = { cost: number; start: (permit: Permit) => void; refuse: (error: LimitExceeded) => void }

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
    this.#budget = options.budget ?? new DailyBudget(options.requestsPerDay ?? Number.POSITIVE_INFINITY, clock)
    this.#concurrency = options.isPrivate ? concurrencyMax : politeStart
    this.#tokens = this.#bucketSize
    this.#tokensAt = clock.now()
  }

  get concurrency(): number {
    return Math.floor(this.#concurrency)
  }

  /** How long until the next request could start, as far as pauses and budgets go. */
  get availableInMs(): number {
    const now = this.#clock.now()
    if (this.#budget.left <= 0) return this.#budget.renewsInMs
    return Math.max(0, this.#pausedUntil - now)
  }

  /** Waits until the request may start. `cost` is its number of calls: providers count calls, not requests. */
  acquire({ cost, urgent, idle = false, signal }: PermitRequest): Promise<Permit> {
    if (this.#budget.left <= 0) return Promise.reject(this.#overBudget())
    const queueMax = this.#options.queueMax ?? 2_000
    if (this.#queues.reduce((sum, queue) => sum + queue.length, 0) >= queueMax) {
      return Promise.reject(new LimitExceeded('queue-full', `${queueMax} requests are waiting already`))
    }
    if (this.#pausedUntil - this.#clock.now() > patienceMs) return Promise.reject(this.#paused())
    if (signal.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const queue = urgent ? this.#urgent : idle ? this.#idle : this.#waiting
      const onAbort = (): void => {
        queue.splice(queue.indexOf(waiting), 1)
        reject(signal.reason)
      }
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener('abort', onAbort)
          settle(value)
        }
      const waiting: Waiting = { cost, start: settled(resolve), refuse: settled(reject) }
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

  #decrease(permit: Permit): void {
    // Requests that started before the last decrease belong to the same overload.
    if (permit.startedAt < this.#decreasedAt) return
    this.#concurrency = Math.max(1, this.#concurrency / 2)
    this.#decreasedAt = this.#clock.now()
    this.#pauses++
  }

  #pause(retryAfterMs: number | undefined): void {
    const ownMs = Math.min(pauseMaxMs, pauseFirstMs * 2 ** (Math.max(1, this.#pauses) - 1))
    const pauseMs = retryAfterMs === undefined ? ownMs : Math.min(retryAfterMaxMs, retryAfterMs)
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pauseMs)
    if (pauseMs > patienceMs) this.#refuseAll(this.#paused())
  }

  #refuseAll(error: LimitExceeded): void {
    for (const queue of this.#queues) for (const waiting of queue.splice(0)) waiting.refuse(error)
  }

  #paused(): LimitExceeded {
    const waitMs = this.#pausedUntil - this.#clock.now()
    return new LimitExceeded('paused', `it asked to be left alone for another ${Math.ceil(waitMs)} ms`, waitMs)
  }

  #overBudget(): LimitExceeded {
    const { requestsPerDay, setting, renewsInMs } = this.#budget
    return new LimitExceeded('daily-budget', `the ${requestsPerDay} calls a day of ${setting} are used up`, renewsInMs)
  }

  #pump(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (;;) {
      const queue = this.#queues.find(({ length }) => length > 0)
      const next = queue?.[0]
      if (queue === undefined || next === undefined || this.#inFlight >= this.concurrency) return
      if (this.#budget.left <= 0) {
        this.#refuseAll(this.#overBudget())
        return
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
      this.#budget.use(next.cost)
      next.start({ startedAt: now })
    }
  }

  get #bucketSize(): number {
    return Math.max(1, this.#options.requestsPerSecond ?? 1)
  }

  /** A batch larger than the bucket may go into debt once the bucket is full. */
  #tokenWaitMs(cost: number, now: number): number {
    const perSecond = this.#options.requestsPerSecond
    if (perSecond === undefined) return 0
    this.#tokens = Math.min(this.#bucketSize, this.#tokens + ((now - this.#tokensAt) / 1_000) * perSecond)
    this.#tokensAt = now
    return Math.max(0, ((Math.min(cost, this.#bucketSize) - this.#tokens) / perSecond) * 1_000)
  }
}

const dayMs = 86_400_000

/** Counts requests from midnight to midnight UTC. A restart begins anew. */
export class DailyBudget {
  readonly requestsPerDay: number
  /** The setting it comes from, for messages. */
  readonly setting: string
  readonly #clock: Pick<Clock, 'now'>
  #day = 0
  #spent = 0

  constructor(requestsPerDay: number, clock: Pick<Clock, 'now'>, setting = 'daily_budget') {
    this.requestsPerDay = requestsPerDay
    this.setting = setting
    this.#clock = clock
  }

  get left(): number {
    const day = Math.floor(this.#clock.now() / dayMs)
    if (day !== this.#day) {
      this.#day = day
      this.#spent = 0
    }
    return this.requestsPerDay - this.#spent
  }

  /** A batch may use more than is left. */
  use(requests: number): void {
    this.#spent += requests
  }

  get renewsInMs(): number {
    return dayMs - (this.#clock.now() % dayMs)
  }
}
