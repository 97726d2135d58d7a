// Long work in short steps: other requests get their turn in between, and work whose clients have left ends.

/** Long enough to be worth a turn of the event loop, short beside a request. */
const stepMs = 2

export class Pace {
  readonly #signal: AbortSignal | undefined
  #since = performance.now()

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** To be awaited often. Fails once the signal fires. */
  rest(): Promise<void> | undefined {
    this.#signal?.throwIfAborted()
    if (performance.now() - this.#since < stepMs) return undefined
    return this.#turn()
  }

  async #turn(): Promise<void> {
    await turns.next()
    this.#signal?.throwIfAborted()
    this.#since = performance.now()
  }
}

/** A millisecond or two. */
export const rowsPerStep = 2 ** 14

/** Of millions, one pass takes tens of milliseconds. */
export async function inSteps(count: number, pace: Pace, step: (at: number) => void): Promise<void> {
  for (let from = 0; from < count; from += rowsPerStep) {
    const to = Math.min(count, from + rowsPerStep)
    for (let at = from; at < to; at++) step(at)
    await pace.rest()
  }
}

/** Lets one of those that wait go on in each turn of the event loop: requests would wait for a step of all of them. */
export class Turns {
  readonly #waiting: (() => void)[] = []

  next(): Promise<void> {
    return new Promise(resolve => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#goOn)
    })
  }

  readonly #goOn = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(this.#goOn)
  }
}

const turns = new Turns()
