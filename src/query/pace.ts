// Long work in short steps: other requests get their turn in between.
import { setImmediate } from 'node:timers/promises'

/** Long enough to be worth a turn of the event loop, short beside a request. */
const stepMs = 4

export class Pace {
  #since = performance.now()

  /** To be awaited often. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#since < stepMs) return undefined
    return this.#turn()
  }

  async #turn(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
