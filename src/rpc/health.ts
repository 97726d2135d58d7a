// How well an endpoint has done lately: latency, failures, and whether it rests. Bookkeeping only: no requests, no
// timers.
import type { Clock } from '../abort.ts'

const samplesMax = 64
const samplesForTail = 8
/** After this many failures in a row the endpoint rests. */
const failuresToRest = 3
const restFirstMs = 1_000
const restMaxMs = 60_000
const distrustMemoryMs = 10 * 60_000
const methodMissingMs = 10 * 60_000
const memory = 0.2
const fadeHalfMs = 60_000

export class EndpointHealth {
  readonly #clock: Clock
  readonly #onRest: ((restMs: number) => void) | undefined
  readonly #latencies = new Map<string, Latencies>()
  readonly #missing = new Map<string, number>()
  #failureShare = 0
  #sampledAt = 0
  #failuresInARow = 0
  #rests = 0
  #restUntil = 0
  #reason: string | undefined
  #distrusts = 0
  #distrustedAt = Number.NEGATIVE_INFINITY
  #distrustUntil = 0
  #distrustReason: string | undefined
  latencyMs: number | undefined
  requests = 0
  errors = 0

  constructor(clock: Clock, onRest?: (restMs: number) => void) {
    this.#clock = clock
    this.#onRest = onRest
  }

  /** False while the endpoint rests; the next success or failure after that decides. */
  get healthy(): boolean {
    return this.restsForMs === 0
  }

  /** Its last requests failed, also once its rest is over: nothing says that it answers again. */
  get failing(): boolean {
    return this.#failuresInARow >= failuresToRest
  }

  get restsForMs(): number {
    return Math.max(0, this.#restUntil - this.#clock.now(), this.#distrustUntil - this.#clock.now())
  }

  /** The last failure; undefined once the endpoint answers again. */
  get reason(): string | undefined {
    return this.#clock.now() < this.#distrustUntil ? this.#distrustReason : this.#reason
  }

  /** The time that a request is likely to take. The past fades, so an endpoint that was slow is tried again. */
  get expectedMs(): number {
    const faded = 0.5 ** ((this.#clock.now() - this.#sampledAt) / fadeHalfMs)
    return Math.max(1, (this.latencyMs ?? 0) * (1 + 9 * this.#failureShare) * faded)
  }

  /** The time within which 19 of 20 requests of a method were answered; undefined until enough were. */
  tailMs(method: string): number | undefined {
    return this.#latencies.get(method)?.tailMs
  }

  /** A whole answer came. Whether it is a good one shows when it is read. */
  answered(method: string, elapsedMs: number): void {
    this.#sample(method, elapsedMs)
  }

  /** The answer was read and accepted. */
  succeeded(): void {
    this.#failureShare *= 1 - memory
    this.#failuresInARow = 0
    this.#rests = 0
    this.#restUntil = 0
    this.#reason = undefined
  }

  /** `restMs` makes the endpoint rest at once, for that long. */
  failed(reason: string, { restMs }: { restMs?: number } = {}): void {
    this.errors++
    this.#reason = reason
    this.#failureShare += (1 - this.#failureShare) * memory
    this.#failuresInARow++
    if (restMs === undefined && this.#failuresInARow < failuresToRest) return
    const ownMs = Math.min(restMaxMs, restFirstMs * 2 ** this.#rests)
    this.#rests++
    this.#restUntil = this.#clock.now() + (restMs ?? ownMs)
    this.#onRest?.(this.restsForMs)
  }

  /** It left a part of a question unanswered and may answer it yet: that counts, and does not make it rest. */
  faltered(reason: string): void {
    this.errors++
    this.#reason = reason
    this.#failureShare += (1 - this.#failureShare) * memory
  }

  /** What it failed with last is not its fault. A rest goes on. */
  excused(): void {
    if (this.healthy) this.#reason = undefined
  }

  /** It gave a wrong answer. Successes do not shorten this rest: it goes on answering. */
  distrusted(reason: string): void {
    const now = this.#clock.now()
    this.errors++
    this.#failureShare += (1 - this.#failureShare) * memory
    this.#distrusts = now - this.#distrustedAt > distrustMemoryMs ? 1 : this.#distrusts + 1
    this.#distrustedAt = now
    this.#distrustReason = reason
    this.#distrustUntil = now + Math.min(restMaxMs, restFirstMs * 2 ** (this.#distrusts - 1))
    this.#onRest?.(this.restsForMs)
  }

  /** Another endpoint was faster: the time so far is a lower bound for this one. */
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
    this.latencyMs = this.latencyMs === undefined ? elapsedMs : this.latencyMs + (elapsedMs - this.latencyMs) * memory
    const latencies = this.#latencies.get(method) ?? { samples: [], taken: 0, tailMs: undefined }
    latencies.samples[latencies.taken++ % samplesMax] = elapsedMs
    // Sorting at every request would cost more than all other bookkeeping.
    if (latencies.taken % samplesForTail === 0)
      latencies.tailMs = latencies.samples.toSorted((a, b) => a - b)[Math.ceil(latencies.samples.length * 0.95) - 1]
    this.#latencies.set(method, latencies)
  }
}

type Latencies = { samples: number[]; taken: number; tailMs: number | undefined }
