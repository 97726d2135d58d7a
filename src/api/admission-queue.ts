// Bounds the work under way: how much runs at once, how much waits, how long each may take. Refuses the rest at once.
import { AlmanacError } from '../errors.ts'

export type AdmissionQueueOptions = { concurrencyMax: number; queueMax: number; timeoutMs: number; onShed?: () => void }

export class AdmissionQueue {
  readonly #options: AdmissionQueueOptions
  readonly #queue = new Set<() => void>()
  #running = 0
  #withoutSlot = 0

  constructor(options: AdmissionQueueOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  /** Waiting counts towards the time. Work that timed out keeps its slot until it ends, so the bound holds. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#options.concurrencyMax && this.#queue.size >= this.#options.queueMax) {
      this.#options.onShed?.()
      return Promise.reject(
        new AlmanacError('overloaded', 'Too many requests are being worked on', {
          retryable: true,
          retryAfterMs: 1_000,
        }),
      )
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        this.#running++
        Promise.try(work)
          .then(resolve, reject)
          .finally(() => {
            clearTimeout(timer)
            this.#running--
            this.#startNext()
          })
      }
      const timer = setTimeout(() => {
        this.#queue.delete(start)
        reject(
          new AlmanacError('timeout', `The request took longer than ${this.#options.timeoutMs} ms`, {
            retryable: true,
          }),
        )
      }, this.#options.timeoutMs)
      if (this.#running < this.#options.concurrencyMax) start()
      else this.#queue.add(start)
    })
  }

  /**
   * Frees the slot of running work while it waits for something else, such as an indexer, and takes it back afterwards;
   * for a moment more may then run than allowed. At most `queueMax` may wait like this.
   */
  async withoutSlot<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#withoutSlot >= this.#options.queueMax) return await wait()
    this.#withoutSlot++
    this.#running--
    this.#startNext()
    try {
      return await wait()
    } finally {
      this.#withoutSlot--
      this.#running++
    }
  }

  #startNext(): void {
    const [next] = this.#queue
    if (next === undefined || this.#running >= this.#options.concurrencyMax) return
    this.#queue.delete(next)
    next()
  }
}
