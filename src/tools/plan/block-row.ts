// The blocks of several intervals in one row, so that samples can be spread over all of them alike. Pure.
import { blockCount, joinIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'

export class BlockRow {
  readonly count: number
  readonly #intervals: readonly Interval[]

  constructor(intervals: readonly Interval[]) {
    this.#intervals = joinIntervals(intervals.filter(({ from, to }) => from <= to))
    this.count = blockCount(this.#intervals)
  }

  /** What stands at a run of places, lowest first. */
  at({ from, to }: Interval): Interval[] {
    const found: Interval[] = []
    let place = 0
    for (const interval of this.#intervals) {
      const first = Math.max(from, place) - place + interval.from
      const last = Math.min(to - place + interval.from, interval.to)
      if (first <= last) found.push({ from: first, to: last })
      place += interval.to - interval.from + 1
      if (place > to) break
    }
    return found
  }

  /** Places in runs of like length. */
  strata(count: number): Interval[] {
    const start = (index: number): number => Math.floor((this.count * index) / count)
    return Array.from({ length: count }, (_, at) => ({ from: start(at), to: start(at + 1) - 1 }))
  }
}
