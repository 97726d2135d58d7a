// A line in front of work that endpoints pay for: so many at once, so many waiting, and a refusal beyond that.
import { AlmanacError } from '../../errors.ts'

export class Line {
  readonly #placesMax: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor({ placesMax, waitingMax }: { placesMax: number; waitingMax: number }) {
    this.#placesMax = placesMax
    this.#waitingMax = waitingMax
  }

  /** Runs the work when its turn comes. `what` names it in a refusal. */
  async run<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#taken < this.#placesMax) this.#taken++
    else {
      if (this.#waiting.length >= this.#waitingMax) {
        throw new AlmanacError('overloaded', `${this.#waiting.length} ${what} wait to be indexed already.`, {
          retryable: true,
          hint: 'ask again later.',
        })
      }
      // Whoever leaves hands the place over, so that nobody can slip in between.
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }
}
