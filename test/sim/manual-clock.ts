// A clock that moves only when a test moves it.
import type { Clock } from '../../src/abort.ts'

export class ManualClock implements Clock {
  #now: number
  #timers: { at: number; callback: () => void }[] = []

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter(other => other !== timer)
    }
  }

  /** Moves on, calling back whatever falls due on the way, in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      const due = this.#timers.filter(timer => timer.at <= end).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#now = Math.max(this.#now, due.at)
      this.#timers = this.#timers.filter(timer => timer !== due)
      due.callback()
      await Promise.resolve()
    }
    this.#now = end
    await Promise.resolve()
  }
}
