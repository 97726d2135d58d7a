// How fast a chain's history fills and when it will be done. Rates are of the last minute, so that an estimate follows a
// provider that slows down.
import { AlmanacError, messageOf } from '../../errors.ts'

const windowMs = 60_000
const samplesMax = 240

type Sample = { atMs: number; blocks: number; rows: number; bytes: number }

export class Progress {
  readonly #now: () => number
  #samples: Sample[] = []

  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now
  }

  add(done: { blocks: number; rows: number; bytes: number }): void {
    this.#samples.push({ atMs: this.#now(), blocks: done.blocks, rows: done.rows, bytes: done.bytes })
    this.#forget()
  }

  /** Undefined while less than two samples say something. */
  rates(): { blocksPerSecond: number; rowsPerSecond: number; bytesPerSecond: number } | undefined {
    this.#forget()
    const first = this.#samples[0]
    if (first === undefined || this.#samples.length < 2) return undefined
    const seconds = Math.max(0.001, (this.#now() - first.atMs) / 1_000)
    // The first sample only marks the start: what it counts was done before.
    const rest = this.#samples.slice(1)
    const perSecond = (field: 'blocks' | 'rows' | 'bytes'): number =>
      rest.reduce((sum, sample) => sum + sample[field], 0) / seconds
    return {
      blocksPerSecond: perSecond('blocks'),
      rowsPerSecond: perSecond('rows'),
      bytesPerSecond: perSecond('bytes'),
    }
  }

  secondsFor(blocks: number): number | undefined {
    if (blocks === 0) return 0
    const rate = this.rates()?.blocksPerSecond ?? 0
    return rate > 0 ? Math.ceil(blocks / rate) : undefined
  }

  #forget(): void {
    const since = this.#now() - windowMs
    let keep = this.#samples.findIndex(sample => sample.atMs >= since)
    if (keep === -1) keep = this.#samples.length
    this.#samples = this.#samples.slice(Math.max(keep, this.#samples.length - samplesMax))
  }
}

// When a chain counts as stalled. A failure is a moment; only one that lasts, or that nothing went before, is worth telling people.

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
export class FailureLog {
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
