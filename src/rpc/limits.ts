// How much an endpoint is asked at once: as much as a local node takes, and elsewhere as much as it has shown to take. Additive
// increase, multiplicative decrease, Retry-After, calls per second and per day. Waiting callers are bounded.
import type { Clock } from '../abort.ts'

export type LimitOptions = {
  /** A local node starts at the maximum, any other at a polite few. */
  isPrivate: boolean
  requestsPerSecond?: number | undefined
  requestsPerDay?: number | undefined
  queueMax?: number
}

export type Permit = { readonly startedAt: number }
/** `limited`: it said that it is asked too much. `slow`: it did not answer in time. `neutral`: nothing to learn from. */
export type Outcome = { result: 'ok' | 'limited' | 'slow' | 'neutral'; retryAfterMs?: number | undefined }

const concurrencyMax = 64
const politeStart = 4
const pauseFirstMs = 250
const pauseMaxMs = 30_000
/** A server that asks for more patience than this is treated as one that asks for this. */
const retryAfterMaxMs = 10 * 60_000
/** Nobody waits for a pause that is longer: they are told when to come back. */
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

/** `urgent` goes before everything that waits, `idle` behind it. */
type Turn = { cost: number; urgent: boolean; idle?: boolean; signal: AbortSignal }

type Waiting = { cost: number; start: (permit: Permit) => void; refuse: (error: LimitExceeded) => void }

export class AdaptiveLimit {
  readonly #clock: Clock
  readonly #options: LimitOptions
  readonly #budget: DailyBudget
  readonly #urgent: Waiting[] = []
  readonly #waiting: Waiting[] = []
  readonly #idle: Waiting[] = []
  /** In the order of their turns. */
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
    this.#budget = new DailyBudget(options.requestsPerDay ?? Number.POSITIVE_INFINITY, () => clock.now())
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

  /** Waits for a turn. `cost` is the number of calls in the request: providers count calls, not requests. */
  acquire({ cost, urgent, idle = false, signal }: Turn): Promise<Permit> {
    if (this.#budget.left <= 0) {
      const message = `the daily budget of ${this.#options.requestsPerDay} calls is used up`
      return Promise.reject(new LimitExceeded('daily-budget', message, this.availableInMs))
    }
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
      const waiting: Waiting = {
        cost,
        start: permit => {
          signal.removeEventListener('abort', onAbort)
          resolve(permit)
        },
        refuse: error => {
          signal.removeEventListener('abort', onAbort)
          reject(error)
        },
      }
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
      // One more for every round of successes: requests that were under way together count as one round.
      this.#concurrency = Math.min(concurrencyMax, this.#concurrency + 1 / this.#concurrency)
    }
    this.#pump()
  }

  #decrease(permit: Permit): void {
    // Requests that started before the last decrease tell of the same overload.
    if (permit.startedAt < this.#decreasedAt) return
    this.#concurrency = Math.max(1, this.#concurrency / 2)
    this.#decreasedAt = this.#clock.now()
    this.#pauses++
  }

  #pause(retryAfterMs: number | undefined): void {
    const ownMs = Math.min(pauseMaxMs, pauseFirstMs * 2 ** (Math.max(1, this.#pauses) - 1))
    const pauseMs = retryAfterMs === undefined ? ownMs : Math.min(retryAfterMaxMs, retryAfterMs)
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pauseMs)
    if (pauseMs <= patienceMs) return
    for (const queue of this.#queues) for (const waiting of queue.splice(0)) waiting.refuse(this.#paused())
  }

  #paused(): LimitExceeded {
    const waitMs = this.#pausedUntil - this.#clock.now()
    return new LimitExceeded('paused', `it asked to be left alone for another ${Math.ceil(waitMs)} ms`, waitMs)
  }

  #pump(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (;;) {
      const queue = this.#queues.find(({ length }) => length > 0)
      const next = queue?.[0]
      if (queue === undefined || next === undefined || this.#inFlight >= this.concurrency) return
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

// How many requests a day, from midnight to midnight UTC, may still be sent. It only counts; a restart begins anew.

const dayMs = 86_400_000

export class DailyBudget {
  readonly requestsPerDay: number
  readonly #nowMs: () => number
  #day = 0
  #spent = 0

  constructor(requestsPerDay: number, nowMs: () => number = Date.now) {
    this.requestsPerDay = requestsPerDay
    this.#nowMs = nowMs
  }

  /** Counts one request. False, and not counted, where the day has none left. */
  spend(): boolean {
    if (this.left <= 0) return false
    this.use(1)
    return true
  }

  get left(): number {
    const day = Math.floor(this.#nowMs() / dayMs)
    if (day !== this.#day) {
      this.#day = day
      this.#spent = 0
    }
    return this.requestsPerDay - this.#spent
  }

  /** Counts requests that are sent whatever is left: a batch may be larger than that. */
  use(requests: number): void {
    this.#spent += requests
  }

  get renewsInMs(): number {
    return dayMs - (this.#nowMs() % dayMs)
  }
}

// How fast one endpoint is asked: a rate that is set, or one that is found by halving at each refusal and growing slowly
// since. It only waits; it never fails a call by itself.

/** Where no rate is set, refusals bring it down from here. */
const rateMax = 1_000
const rateMin = 0.5
const growthPerSecond = 1.1
/** A quiet endpoint may be asked this many seconds' worth at once. */
const burstSeconds = 1

export class Pace {
  readonly #fixed: number | undefined
  readonly #nowMs: () => number
  #rate: number
  #tokens: number
  #countedAtMs: number
  #blockedUntilMs = 0

  constructor(requestsPerSecond: number | undefined, nowMs: () => number = () => performance.now()) {
    this.#fixed = requestsPerSecond
    this.#nowMs = nowMs
    this.#rate = requestsPerSecond ?? rateMax
    this.#tokens = Math.max(1, this.#rate * burstSeconds)
    this.#countedAtMs = nowMs()
  }

  get requestsPerSecond(): number {
    return this.#rate
  }

  /** Takes a place in the line and says how long to wait for it. */
  reserveMs(): number {
    const now = this.#nowMs()
    const seconds = (now - this.#countedAtMs) / 1_000
    this.#countedAtMs = now
    if (this.#fixed === undefined) this.#rate = Math.min(rateMax, this.#rate * growthPerSecond ** seconds)
    this.#tokens = Math.min(Math.max(1, this.#rate * burstSeconds), this.#tokens + seconds * this.#rate) - 1
    const forRate = this.#tokens >= 0 ? 0 : (-this.#tokens / this.#rate) * 1_000
    return Math.max(forRate, this.#blockedUntilMs - now, 0)
  }

  /** The endpoint said that it is asked too much. */
  refused({ inFlight, retryAfterMs }: { inFlight: number; retryAfterMs: number | undefined }): void {
    const now = this.#nowMs()
    // One overload refuses all calls that are under way: it counts once.
    if (now >= this.#blockedUntilMs && this.#fixed === undefined) {
      this.#rate = Math.max(rateMin, Math.min(this.#rate, 20 * (inFlight + 1)) / 2)
      this.#tokens = Math.min(this.#tokens, 0)
    }
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, now + Math.min(retryAfterMs ?? 1_000, 30_000))
  }
}
