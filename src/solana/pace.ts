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
