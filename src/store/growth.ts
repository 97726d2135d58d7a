// How fast a store grows, from samples of the last hours in memory. It forecasts nothing by itself.

const everyMs = 60_000
const windowMs = 6 * 3_600_000
/** Less says too little: a few commits, or one merge. */
const spanMsMin = 600_000

export class Growth {
  #samples: { atMs: number; bytes: number }[] = []

  /** Keeps one sample a minute. */
  add(atMs: number, bytes: number): void {
    const last = this.#samples.at(-1)
    if (last !== undefined && atMs - last.atMs < everyMs) return
    this.#samples.push({ atMs, bytes })
    const keep = this.#samples.findIndex(sample => sample.atMs >= atMs - windowMs)
    if (keep > 0) this.#samples.splice(0, keep)
  }

  /**
   * From the median of the older half to that of the newer one: a merge takes bytes for minutes and gives them back,
   * which the ends of the window, and a line through all samples, would take for growth. Undefined until enough was
   * seen.
   */
  bytesPerSecond(): number | undefined {
    const samples = this.#samples
    const [first, last] = [samples[0], samples.at(-1)]
    if (first === undefined || last === undefined || last.atMs - first.atMs < spanMsMin) return undefined
    const half = Math.floor(samples.length / 2)
    const [older, newer] = [samples.slice(0, half), samples.slice(-half)]
    const grown = median(newer.map(({ bytes }) => bytes)) - median(older.map(({ bytes }) => bytes))
    const elapsedMs = median(newer.map(({ atMs }) => atMs)) - median(older.map(({ atMs }) => atMs))
    return (grown / elapsedMs) * 1_000
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
