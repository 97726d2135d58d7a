// When a chain counts as stalled. A failure is a moment; only one that lasts is worth telling people.

const patienceMs = 10_000
const failuresMax = 5

/** Keeps one trouble for each part of the work (`head`, `history`…) and forgets it at the first success. */
export class Trouble {
  readonly #now: () => number
  readonly #parts = new Map<string, { reason: string; sinceMs: number; failures: number }>()

  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now
  }

  failed(part: string, reason: string): void {
    const known = this.#parts.get(part)
    this.#parts.set(part, { reason, sinceMs: known?.sinceMs ?? this.#now(), failures: (known?.failures ?? 0) + 1 })
  }

  succeeded(part: string): void {
    this.#parts.delete(part)
  }

  /** The reason of the longest lasting trouble, once it has lasted. */
  get stalledBy(): string | undefined {
    const lasting = [...this.#parts.values()].filter(
      ({ sinceMs, failures }) => failures >= failuresMax || this.#now() - sinceMs >= patienceMs,
    )
    return lasting.sort((a, b) => a.sinceMs - b.sinceMs)[0]?.reason
  }
}
