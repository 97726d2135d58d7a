// The blocks that are still to be fetched, handed out newest first. Pure bookkeeping: what is given back is handed out again.
import { missingIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'

export class WorkList {
  /** Sorted, disjoint, lowest first. */
  #open: Interval[]

  constructor(missing: readonly Interval[]) {
    this.#open = [...missing].sort((a, b) => a.from - b.from)
  }

  /** The newest open blocks, `blocks` of them at the most and never across a gap. */
  take(blocks: number): Interval | undefined {
    const newest = this.#open.pop()
    if (newest === undefined) return undefined
    const from = Math.max(newest.from, newest.to - blocks + 1)
    if (from > newest.from) this.#open.push({ from: newest.from, to: from - 1 })
    return { from, to: newest.to }
  }

  /** Opens an interval again, or for the first time; what is open already stays so. */
  add(interval: Interval): void {
    this.#open.push(...missingIntervals(this.#open, interval))
    this.#open.sort((a, b) => a.from - b.from)
    const merged: Interval[] = []
    for (const next of this.#open) {
      const last = merged.at(-1)
      if (last !== undefined && last.to + 1 === next.from) merged[merged.length - 1] = { from: last.from, to: next.to }
      else merged.push(next)
    }
    this.#open = merged
  }
}
