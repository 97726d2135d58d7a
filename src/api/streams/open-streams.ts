// How many whole lists are sent at once: in all, and to one key.
import { AlmanacError } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'

/** As many as take some milliseconds to write, and some hundred kilobytes. */
const usualRowsPerBatch = 1_000
const retryAfterMs = 10_000

export type OpenStreamsOptions = {
  max: number
  metrics: Metrics['streams']
  /** For tests: fewer show what happens between batches. */
  rowsPerBatch?: number | undefined
}

export class OpenStreams {
  readonly rowsPerBatch: number
  readonly metrics: Metrics['streams']
  readonly #max: number
  readonly #byKey = new Map<string, number>()
  #open = 0

  constructor({ max, metrics, rowsPerBatch = usualRowsPerBatch }: OpenStreamsOptions) {
    this.rowsPerBatch = rowsPerBatch
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
    let isOpen = true
    return () => {
      if (isOpen) this.#count(keyId, -1)
      isOpen = false
    }
  }

  #count(keyId: string, by: 1 | -1): void {
    this.#open += by
    const ofKey = (this.#byKey.get(keyId) ?? 0) + by
    if (ofKey === 0) this.#byKey.delete(keyId)
    else this.#byKey.set(keyId, ofKey)
    this.metrics.open.set(this.#open)
  }
}
