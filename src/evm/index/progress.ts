// How fast a chain's history fills and when it will be done. Rates are of the last minute, so that an estimate follows a
// provider that slows down.

const windowMs = 60_000
const samplesMax = 240

type Sample = { atMs: number; blocks: number; rows: number; bytes: number }

export class Progress {
  readonly #now: () => number
  #samples: Sample[] = []

  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now
  }

  add(done: { blocks: number; rows: number; bytes: number }): void {
    this.#samples.push({ atMs: this.#now(), blocks: done.blocks, rows: done.rows, bytes: done.bytes })
    this.#forget()
  }

  /** Undefined while less than two samples say something. */
  rates(): { blocksPerSecond: number; rowsPerSecond: number; bytesPerSecond: number } | undefined {
    this.#forget()
    const first = this.#samples[0]
    if (first === undefined || this.#samples.length < 2) return undefined
    const seconds = Math.max(0.001, (this.#now() - first.atMs) / 1_000)
    // The first sample only marks the start: what it counts was done before.
    const rest = this.#samples.slice(1)
    const perSecond = (field: 'blocks' | 'rows' | 'bytes'): number =>
      rest.reduce((sum, sample) => sum + sample[field], 0) / seconds
    return {
      blocksPerSecond: perSecond('blocks'),
      rowsPerSecond: perSecond('rows'),
      bytesPerSecond: perSecond('bytes'),
    }
  }

  secondsFor(blocks: number): number | undefined {
    if (blocks === 0) return 0
    const rate = this.rates()?.blocksPerSecond ?? 0
    return rate > 0 ? Math.ceil(blocks / rate) : undefined
  }

  #forget(): void {
    const since = this.#now() - windowMs
    let keep = this.#samples.findIndex(sample => sample.atMs >= since)
    if (keep === -1) keep = this.#samples.length
    this.#samples = this.#samples.slice(Math.max(keep, this.#samples.length - samplesMax))
  }
}
