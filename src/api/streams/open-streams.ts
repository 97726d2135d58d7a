// How many whole lists are sent at once, in all and to one key, and whose turn it is to go on.
import { AlmanacError } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import { once } from '../../once.ts'
import { Turns } from '../../query/pace.ts'
import type { MinimumRate } from './reader-rate.ts'

/** As many as take about a millisecond to make: a page that is asked for meanwhile waits as long. */
const usualRowsPerBatch = 256
const retryAfterMs = 10_000

export type OpenStreamsOptions = {
  max: number
  metrics: Metrics['streams']
  /** For tests: fewer show what happens between batches. */
  rowsPerBatch?: number | undefined
  /** For tests: shorter shows what happens to a slow reader. */
  rate?: MinimumRate | undefined
}

export class OpenStreams {
  readonly rowsPerBatch: number
  readonly rate: MinimumRate | undefined
  readonly metrics: Metrics['streams']
  readonly #max: number
  readonly #byKey = new Map<string, number>()
  readonly #turns = new Turns()
  #open = 0

  constructor({ max, metrics, rowsPerBatch = usualRowsPerBatch, rate }: OpenStreamsOptions) {
    this.rowsPerBatch = rowsPerBatch
    this.rate = rate
    this.metrics = metrics
    this.#max = max
  }

  /** Takes a place; the result gives it back, once. */
  open(keyId: string): () => void {
    const ofKey = this.#byKey.get(keyId) ?? 0
    const ofKeyMax = Math.max(1, Math.floor(this.#max / 2))
    if (ofKey >= ofKeyMax)
      throw new AlmanacError('rate_limited', `This key takes ${ofKeyMax} whole lists at once already`, {
        ...{ retryable: true, retryAfterMs, details: { limit: `${ofKeyMax} whole lists at once` } },
      })
    if (this.#open >= this.#max)
      throw new AlmanacError('overloaded', `${this.#max} whole lists are sent already`, {
        ...{ retryable: true, retryAfterMs },
      })
    this.#count(keyId, 1)
    return once(() => this.#count(keyId, -1))
  }

  /**
   * Clients that take all at once would otherwise have a batch of each list made in every turn of the event loop, and
   * pages would wait for all of them.
   */
  turn(): Promise<void> {
    return this.#turns.next()
  }

  #count(keyId: string, by: 1 | -1): void {
    this.#open += by
    const ofKey = (this.#byKey.get(keyId) ?? 0) + by
    if (ofKey === 0) this.#byKey.delete(keyId)
    else this.#byKey.set(keyId, ofKey)
    this.metrics.open.set(this.#open)
  }
}
