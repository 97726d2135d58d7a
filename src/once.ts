// Work that is done once for all who ask for it: for good, for a time, or while it lasts; and work that is done one
// piece at a time. It does nothing itself.
import { AlmanacError } from './errors.ts'

/** Made when it is first asked for, and never again. */
export function once<Made>(make: () => Made): () => Made {
  let made: { value: Made } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** One reading for all who ask within a time. */
export function keptFor<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let known: { askedMs: number; value: Promise<Value> } | undefined
  return () => {
    if (known === undefined || performance.now() - known.askedMs >= keptMs)
      known = { askedMs: performance.now(), value: read() }
    return known.value
  }
}

/** A caller that asks while a flight of that name is under way joins it. */
export class Flights<Name, Result> {
  readonly #underWay = new Map<Name, Promise<Result>>()
  readonly #bound: { max: number; what: string } | undefined

  constructor(bound?: { max: number; what: string }) {
    this.#bound = bound
  }

  of(name: Name): Promise<Result> | undefined {
    return this.#underWay.get(name)
  }

  join(name: Name, fly: () => Promise<Result>): Promise<Result> {
    const known = this.#underWay.get(name)
    if (known !== undefined) return known
    if (this.#bound !== undefined && this.#underWay.size >= this.#bound.max) {
      const message = `More than ${this.#bound.max} ${this.#bound.what} are being read at once.`
      return Promise.reject(new AlmanacError('overloaded', message, { retryable: true, retryAfterMs: 1_000 }))
    }
    const flight = fly().finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, flight)
    return flight
  }

  /** Resolves when those that are under way have ended, and fails if one of them does. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }
}

/** The same for a single flight: its arguments are those of the first caller. */
export function oneFlight<Asked extends unknown[], Result>(
  fly: (...asked: Asked) => Promise<Result>,
): (...asked: Asked) => Promise<Result> {
  const flights = new Flights<'only', Result>()
  return (...asked) => flights.join('only', () => fly(...asked))
}

/** Runs one piece of work at a time, in the order in which they came. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}
