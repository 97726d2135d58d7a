// The pause between two looks at the head. News end it early, but not before its least time is over: a socket that
// floods must not make each of its messages a question.
import { followSignals, pause } from '../../abort.ts'

export class HeadPause {
  readonly #leastMs: number
  #woken = new AbortController()

  constructor(leastMs: number) {
    this.#leastMs = leastMs
  }

  end(): void {
    this.#woken.abort()
  }

  /** News that came since the last pause began count as well: the look under way may have missed them. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const leastMs = Math.min(ms, this.#leastMs)
    await pause(leastMs, signal)
    using ended = followSignals(signal, this.#woken.signal)
    await pause(ms - leastMs, ended.signal)
    this.#woken = new AbortController()
  }
}
