// Blocks that are taken one interval after another, in any order: of each, what was not taken before. A folder may have
// thousands of files with gaps between all of them.
import { missingIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'

export class TakenBlocks {
  /** Neither overlapping nor touching, lowest first. */
  readonly intervals: Interval[] = []

  /** What of it was not taken before, lowest first. */
  take({ from, to }: Interval): Interval[] {
    const { intervals } = this
    // Those that touch it become one with it.
    const first = this.#firstFrom(from - 1)
    let next = first
    while (next < intervals.length && intervals[next]!.from <= to + 1) next++
    const near = intervals.slice(first, next)
    const joined = { from: Math.min(from, near[0]?.from ?? from), to: Math.max(to, near.at(-1)?.to ?? to) }
    intervals.splice(first, near.length, joined)
    return missingIntervals(near, { from, to })
  }

  /** The place of the first interval that ends at a block or above it. */
  #firstFrom(block: number): number {
    let [low, high] = [0, this.intervals.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.intervals[middle]!.to < block) low = middle + 1
      else high = middle
    }
    return low
  }
}
