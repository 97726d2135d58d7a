// When a chain counts as stalled. A failure is a moment; only one that lasts, or that nothing went before, is worth telling people.
import { AlmanacError, messageOf } from '../../errors.ts'

const patienceMs = 10_000
const failuresMax = 5
/** What never worked is more likely a mistake than a moment. */
const failuresMaxAtFirst = 2

/** What failed, behind it what the node said, and what can be done about it. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : ''
  const hint = error instanceof AlmanacError && error.hint !== undefined ? ` Try: ${error.hint}` : ''
  return `${messageOf(error)}${cause}${hint}`
}

/** Keeps one trouble for each part of the work (`head`, `history`…) and forgets it at the first success. */
export class Trouble {
  readonly #now: () => number
  readonly #parts = new Map<string, { reason: string; sinceMs: number; failures: number }>()
  readonly #worked = new Set<string>()

  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now
  }

  failed(part: string, reason: string): void {
    const known = this.#parts.get(part)
    this.#parts.set(part, { reason, sinceMs: known?.sinceMs ?? this.#now(), failures: (known?.failures ?? 0) + 1 })
  }

  succeeded(part: string): void {
    this.#parts.delete(part)
    this.#worked.add(part)
  }

  /** The reason of the longest lasting trouble, once it has lasted. */
  get stalledBy(): string | undefined {
    const lasting = [...this.#parts].filter(([part, { sinceMs, failures }]) => {
      const bearable = this.#worked.has(part) ? failuresMax : failuresMaxAtFirst
      return failures >= bearable || this.#now() - sinceMs >= patienceMs
    })
    return lasting.sort(([, a], [, b]) => a.sinceMs - b.sinceMs)[0]?.[1].reason
  }
}
