// How many calls a second what nobody waits for may make: a small share of what the operator allows, and a polite few where nothing was said.
import { pause } from '../../pause.ts'

export type CallBudgetOptions = {
  /** Every endpoint is one's own. */
  isPrivate: boolean
  requestsPerSecond?: number | undefined
  requestsPerDay?: number | undefined
}

const share = 0.1
const politePerSecond = 10
const daySeconds = 86_400

export function callsPerSecond({ isPrivate, requestsPerSecond, requestsPerDay }: CallBudgetOptions): number {
  return Math.min(
    isPrivate ? Number.POSITIVE_INFINITY : politePerSecond,
    requestsPerSecond === undefined ? Number.POSITIVE_INFINITY : requestsPerSecond * share,
    requestsPerDay === undefined ? Number.POSITIVE_INFINITY : (requestsPerDay * share) / daySeconds,
  )
}

export class CallBudget {
  readonly #perSecond: number
  readonly #now: () => number
  #freeAtMs = 0

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  /** Waits until the calls before have been paid for. */
  async take(calls: number, signal: AbortSignal): Promise<void> {
    const now = this.#now()
    const waitMs = Math.max(0, this.#freeAtMs - now)
    this.#freeAtMs = Math.max(now, this.#freeAtMs) + (calls / this.#perSecond) * 1_000
    if (waitMs > 0) await pause(waitMs, signal)
  }
}
