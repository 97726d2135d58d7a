// When a request to a portal may be sent: within its rate, not while it asked for a pause, and few at once. Chains that
// read one portal share its rate and its pauses. It sends nothing.
import { pause } from '../../abort.ts'
import { RateBudget } from '../rate-budget.ts'

/** Public portals take 50 requests in 10 s from one address: at exactly that, clocks that differ meet a 429. */
const requestsPerSecond = 4.5

export class PortalLimits {
  readonly #budget: RateBudget
  #quietUntilMs = 0

  constructor(perSecond: number) {
    this.#budget = new RateBudget(perSecond)
  }

  /** What is left of the pause that it asked for. */
  get quietMs(): number {
    return Math.max(0, this.#quietUntilMs - performance.now())
  }

  quietFor(ms: number): void {
    this.#quietUntilMs = Math.max(this.#quietUntilMs, performance.now() + ms)
  }

  /** Whether a request may be sent now, once its turn has come; false if the pause lasts longer than `patienceMs`. */
  async turn(patienceMs: number, signal: AbortSignal): Promise<boolean> {
    do {
      for (let ms = this.quietMs; ms > 0; ms = this.quietMs) {
        if (ms > patienceMs) return false
        await pause(ms, signal)
        signal.throwIfAborted()
      }
      await this.#budget.take(1, signal)
      signal.throwIfAborted()
      // The pause may have begun while it waited for its turn.
    } while (this.quietMs > 0)
    return true
  }
}

const shared = new Map<string, PortalLimits>()

export function limitsOf(origin: string, perSecond: number | undefined): PortalLimits {
  if (perSecond !== undefined) return new PortalLimits(perSecond)
  const known = shared.get(origin) ?? new PortalLimits(requestsPerSecond)
  shared.set(origin, known)
  return known
}

/** Places for requests under way. What waits here, and not in a pool of connections, can still be held back. */
export class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else
      await new Promise<void>((resolve, reject) => {
        const start = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = (): void => {
          this.#waiting.splice(this.#waiting.indexOf(start), 1)
          reject(signal.reason)
        }
        signal.addEventListener('abort', leave, { once: true })
        this.#waiting.push(start)
      })
    return { [Symbol.dispose]: () => this.#giveBack() }
  }

  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
