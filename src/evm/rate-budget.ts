// Holds work to so much a second: calls in the background, or blocks of history.
import { pause } from '../abort.ts'

export class RateBudget {
  readonly #now: () => number
  #perSecond: number
  #freeAtMs = 0

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  get perSecond(): number {
    return this.#perSecond
  }

  /** Another rate counts from now on. */
  set perSecond(perSecond: number) {
    this.#perSecond = perSecond
    this.#freeAtMs = 0
  }

  /** The most to take at once, so that what is asked of nodes is even. */
  get ofOneSecond(): number {
    return Math.max(1, Math.floor(this.#perSecond))
  }

  /** Waits until what was taken before has used up its time. */
  async take(amount: number, signal: AbortSignal): Promise<void> {
    const now = this.#now()
    const waitMs = Math.max(0, this.#freeAtMs - now)
    this.#freeAtMs = Math.max(now, this.#freeAtMs) + (amount / this.#perSecond) * 1_000
    if (waitMs > 0) await pause(waitMs, signal)
  }
}
