// Tells whether a client takes a list too slowly: one that takes next to nothing keeps a place and memory from others.
// The time in which rows are made does not count. It cuts nothing itself.

/** At least so many bytes a second, over each so long a time of waiting for the client. */
export type MinimumRate = { bytesPerSecond: number; windowMs: number }

/** A quarter of a megabit a second: the slowest connections of phones are faster. */
const usualRate: MinimumRate = { bytesPerSecond: 32 * 1_024, windowMs: 20_000 }

export class ReaderRate {
  readonly #rate: MinimumRate
  #waitedMs = 0
  #bytes = 0

  constructor(rate = usualRate) {
    this.#rate = rate
  }

  /** The client took them. */
  took(bytes: number): void {
    this.#bytes += bytes
  }

  /** Watches a wait for the client; the result ends the watch. */
  watch(onSlow: () => void): () => void {
    const { windowMs } = this.#rate
    let startedMs = performance.now()
    let timer: NodeJS.Timeout
    const arm = () => {
      timer = setTimeout(look, Math.max(0, windowMs - this.#waitedMs))
    }
    const look = () => {
      startedMs = performance.now()
      if (this.#isSlow()) onSlow()
      else arm()
    }
    arm()
    return () => {
      clearTimeout(timer)
      this.#waitedMs += performance.now() - startedMs
    }
  }

  /** At the end of a window; the next one begins. */
  #isSlow(): boolean {
    const { bytesPerSecond, windowMs } = this.#rate
    const isSlow = this.#bytes < (bytesPerSecond * windowMs) / 1_000
    this.#waitedMs = 0
    this.#bytes = 0
    return isSlow
  }
}
