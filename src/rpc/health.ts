// How well an endpoint has done lately: latency, failures, and whether it is left alone for a while. Pure bookkeeping.
import type { Clock } from '../abort.ts'

const samplesMax = 64
const samplesForTail = 8
/** So many failures in a row and the endpoint is left alone. */
const failuresToRest = 3
const restFirstMs = 1_000
const restMaxMs = 60_000
const distrustMemoryMs = 10 * 60_000
const methodMissingMs = 10 * 60_000
const memory = 0.2
const fadeHalfMs = 60_000

export class EndpointHealth {
  readonly #clock: Clock
  readonly #latencies = new Map<string, Latencies>()
  readonly #missing = new Map<string, number>()
  #failureShare = 0
  #sampledAt = 0
  #latencyMs: number | undefined
  #failuresInARow = 0
  #rests = 0
  #restUntil = 0
  #reason: string | undefined
  #distrusts = 0
  #distrustedAt = Number.NEGATIVE_INFINITY
  #distrustUntil = 0
  #distrustReason: string | undefined
  requests = 0
  errors = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** False while the endpoint rests; afterwards one success or failure decides. */
  get healthy(): boolean {
    return this.restsForMs === 0
  }

  get restsForMs(): number {
    return Math.max(0, this.#restUntil - this.#clock.now(), this.#distrustUntil - this.#clock.now())
  }

  /** What failed last; undefined once it answers again. */
  get reason(): string | undefined {
    return this.#clock.now() < this.#distrustUntil ? this.#distrustReason : this.#reason
  }

  get latencyMs(): number | undefined {
    return this.#latencyMs
  }

  /**
   * Lower is better: the time that a request will take, as far as the past tells. The past fades, so that an endpoint that
   * was slow once is tried again.
   */
  get expectedMs(): number {
    const faded = 0.5 ** ((this.#clock.now() - this.#sampledAt) / fadeHalfMs)
    return Math.max(1, (this.#latencyMs ?? 0) * (1 + 9 * this.#failureShare) * faded)
  }

  /** The time within which 19 of 20 requests of a method were answered; undefined while too few were. */
  tailMs(method: string): number | undefined {
    return this.#latencies.get(method)?.tailMs
  }

  succeeded(method: string, elapsedMs: number): void {
    this.#sample(method, elapsedMs)
    this.#failureShare *= 1 - memory
    this.#failuresInARow = 0
    this.#rests = 0
    this.#restUntil = 0
    this.#reason = undefined
  }

  /** `restMs` leaves the endpoint alone at once, for that long. */
  failed(reason: string, { restMs }: { restMs?: number } = {}): void {
    this.errors++
    this.#reason = reason
    this.#failureShare += (1 - this.#failureShare) * memory
    this.#failuresInARow++
    if (restMs === undefined && this.#failuresInARow < failuresToRest) return
    const ownMs = Math.min(restMaxMs, restFirstMs * 2 ** this.#rests)
    this.#rests++
    this.#restUntil = this.#clock.now() + (restMs ?? ownMs)
  }

  /** It answered, and wrongly. That it goes on answering is no excuse, so successes do not shorten this rest. */
  distrusted(reason: string): void {
    const now = this.#clock.now()
    this.errors++
    this.#failureShare += (1 - this.#failureShare) * memory
    this.#distrusts = now - this.#distrustedAt > distrustMemoryMs ? 1 : this.#distrusts + 1
    this.#distrustedAt = now
    this.#distrustReason = reason
    this.#distrustUntil = now + Math.min(restMaxMs, restFirstMs * 2 ** (this.#distrusts - 1))
  }

  /** Another endpoint was faster: the time so far is a lower bound of what this one would have taken. */
  overtaken(method: string, elapsedMs: number): void {
    this.#sample(method, elapsedMs * 2)
    this.#failureShare += (1 - this.#failureShare) * memory
  }

  lacks(method: string): void {
    this.#missing.set(method, this.#clock.now() + methodMissingMs)
  }

  hasMethod(method: string): boolean {
    return (this.#missing.get(method) ?? 0) <= this.#clock.now()
  }

  #sample(method: string, elapsedMs: number): void {
    this.#sampledAt = this.#clock.now()
    this.#latencyMs =
      this.#latencyMs === undefined ? elapsedMs : this.#latencyMs + (elapsedMs - this.#latencyMs) * memory
    const latencies = this.#latencies.get(method) ?? { samples: [], taken: 0, tailMs: undefined }
    latencies.samples[latencies.taken++ % samplesMax] = elapsedMs
    // Sorting for every request would cost more than the rest of the bookkeeping.
    if (latencies.taken % samplesForTail === 0) latencies.tailMs = tailOf(latencies.samples)
    this.#latencies.set(method, latencies)
  }
}

type Latencies = { samples: number[]; taken: number; tailMs: number | undefined }

function tailOf(samples: readonly number[]): number | undefined {
  return samples.toSorted((a, b) => a - b)[Math.ceil(samples.length * 0.95) - 1]
}

// When an endpoint that keeps failing is left alone, and when it may be tried again. No calls, no timers.

const failuresMax = 3
const pauseMsMin = 1_000
const pauseMsMax = 30_000

export class Breaker {
  readonly #nowMs: () => number
  #failures = 0
  #openUntilMs = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get open(): boolean {
    return this.#nowMs() < this.#openUntilMs
  }

  get opensInMs(): number {
    return Math.max(0, this.#openUntilMs - this.#nowMs())
  }

  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = 0
  }

  /** Each failure past the third doubles the pause; after a pause one call more may try. */
  failed(): void {
    this.#failures++
    if (this.#failures < failuresMax) return
    const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** (this.#failures - failuresMax))
    this.#openUntilMs = this.#nowMs() + pauseMs
  }
}
