// Which blocks of a stretch are still to be fetched. Pure.
import { joinIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'

/** The blocks to fetch, handed out newest first. What is given back is handed out again. */
export class WorkList {
  /** Sorted, disjoint, lowest first. */
  #open: Interval[]
  /** What is handed out lies in one of these or beside all of them. */
  readonly #apart: readonly Interval[]

  constructor(missing: readonly Interval[], apart: readonly Interval[] = []) {
    this.#open = [...missing].sort((a, b) => a.from - b.from)
    this.#apart = apart
  }

  get highest(): number | undefined {
    return this.#open.at(-1)?.to
  }

  /** The newest open blocks, at most `blocks` and never across a gap. Those below `lowest` stay open. */
  take(blocks: number, lowest = 0): Interval | undefined {
    const newest = this.#open.at(-1)
    if (newest === undefined || newest.to < lowest) return undefined
    this.#open.pop()
    const borders = this.#apart.map(each => borderIn(each, newest.to))
    const from = Math.max(newest.from, newest.to - blocks + 1, lowest, ...borders)
    if (from > newest.from) this.#open.push({ from: newest.from, to: from - 1 })
    return { from, to: newest.to }
  }

  /** Opens an interval; blocks that are open already stay so. */
  add(interval: Interval): void {
    this.#open = joinIntervals([...this.#open, interval])
  }
}

/** The lowest block that may be handed out together with block `to`, as far as an interval says. */
function borderIn(apart: Interval, to: number): number {
  if (to > apart.to) return apart.to + 1
  return to >= apart.from ? apart.from : 0
}
