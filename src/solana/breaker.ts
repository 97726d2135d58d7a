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
