// Bounds the work under way: so many at once, so many waiting, so long for each. Beyond that it refuses at once.
import { AlmanacError } from '../errors.ts'

export type WorkGateOptions = { concurrencyMax: number; queueMax: number; timeoutMs: number; onShed?: () => void }

type Waiting = { start: () => void }

export class WorkGate {
  readonly #options: WorkGateOptions
  readonly #queue = new Set<Waiting>()
  #running = 0
  #aside = 0

  constructor(options: WorkGateOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  /** Waiting counts towards the time. Work that was given up on keeps its place until it ends, so the bound holds. */
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
      const waiting = { start }
      const timer = setTimeout(() => {
        this.#queue.delete(waiting)
        reject(
          new AlmanacError('timeout', `The request took longer than ${this.#options.timeoutMs} ms`, {
            retryable: true,
          }),
        )
      }, this.#options.timeoutMs)
      if (this.#running < this.#options.concurrencyMax) start()
      else this.#queue.add(waiting)
    })
  }

  /**
   * Gives the place of running work back while it waits for somebody else, such as an indexer, and takes it again
   * afterwards; for a moment there may then be more than allowed. As many may wait so as may wait in line.
   */
  async aside<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#aside >= this.#options.queueMax) return await wait()
    this.#aside++
    this.#running--
    this.#startNext()
    try {
      return await wait()
    } finally {
      this.#aside--
      this.#running++
    }
  }

  #startNext(): void {
    const [next] = this.#queue
    if (next === undefined || this.#running >= this.#options.concurrencyMax) return
    this.#queue.delete(next)
    next.start()
  }
}
