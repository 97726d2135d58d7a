// Tells whether a client takes a list too slowly: one that takes next to nothing keeps a place and memory from others.
// The time in which rows are made does not count. It cuts nothing itself.

/** The minimum rate of a client, and how long it may take nothing at the beginning. */
export type MinimumRate = { bytesPerSecond: number; windowMs: number }

/** A quarter of a megabit a second: the slowest connections of phones are faster. */
const usualRate: MinimumRate = { bytesPerSecond: 32 * 1_024, windowMs: 20_000 }
/**
 * Linux buffers up to 4 MB for a client and asks for more once a third of that is sent: at 40 kB/s it takes 1.5 MB
 * every 38 s. So what a client took beyond the minimum counts for later, up to as much as the system buffers.
 */
const aheadBytesMax = 4 * 2 ** 20

export class ReaderRate {
  readonly #bytesPerMs: number
  /** How much more than the minimum the client took. */
  #aheadBytes: number

  constructor({ bytesPerSecond, windowMs } = usualRate) {
    this.#bytesPerMs = bytesPerSecond / 1_000
    this.#aheadBytes = this.#bytesPerMs * windowMs
  }

  /** The client took them. */
  took(bytes: number): void {
    this.#aheadBytes = Math.min(aheadBytesMax, this.#aheadBytes + bytes)
  }

  /** Watches a wait for the client; the result ends the watch. */
  watch(onSlow: () => void): () => void {
    const startedMs = performance.now()
    const timer = setTimeout(onSlow, this.#aheadBytes / this.#bytesPerMs)
    return () => {
      clearTimeout(timer)
      this.#aheadBytes -= (performance.now() - startedMs) * this.#bytesPerMs
    }
  }
}
