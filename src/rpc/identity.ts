// Whether an endpoint is what it is configured as: asked before any answer is believed, again now and then, and soon
// after something went wrong. Everything waits for this answer, so a lost one must not cost a whole timeout.
import { type Clock, followSignals, pause } from '../abort.ts'
import { silenceMs } from './bounds.ts'

/** Between two checks: usually, and after a doubt. */
const checkMs = { usual: 60_000, doubted: 1_000 }
const answered = new Error('the other request was answered')

export class IdentityCheck {
  readonly #clock: Clock
  #checked: Promise<void> | undefined
  #checkedAt = 0
  #doubted = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The connection broke or an answer was wrong: another node may answer now. */
  doubt(): void {
    this.#doubted = true
  }

  /** `ask` asks once; `judge` throws where the answer is wrong. All callers share one check. */
  passed<Answer>(ask: (signal: AbortSignal) => Promise<Answer>, judge: (answer: Answer) => void): Promise<void> {
    const now = this.#clock.now()
    const isDue = now - this.#checkedAt > (this.#doubted ? checkMs.doubted : checkMs.usual)
    if (this.#checked !== undefined && !isDue) return this.#checked
    this.#doubted = false
    this.#checkedAt = now
    this.#checked = this.#askTwice(ask)
      .then(judge)
      .catch(error => {
        this.#checked = undefined
        throw error
      })
    return this.#checked
  }

  /** Asks again on another connection where the first one stays silent. */
  async #askTwice<Answer>(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    using linked = followSignals()
    const { signal } = linked
    const first = ask(signal)
    const second = pause(silenceMs, signal, this.#clock).then(() => (signal.aborted ? first : ask(signal)))
    second.catch(() => {})
    try {
      return await Promise.race([first, second])
    } finally {
      linked.abort(answered)
    }
  }
}
