// The coverage of a contract that is followed on demand: its own history, and the blocks since then in which every
// followed contract was watched. Pure.
import type { Coverage } from '../state/live.ts'

type Interval = Coverage['intervals'][number]
type Covered = Pick<Coverage, 'intervals' | 'intervals_total' | 'blocks'>

/** Watched blocks count where they go on from the contract's own: what lies between was not looked at. */
export function followedCoverage(own: Covered, watched: Pick<Coverage, 'intervals'>): Covered {
  const last = own.intervals.at(-1)
  if (last === undefined) return own
  const added: Interval[] = []
  let end = last.to
  for (const { from, to, evidence } of watched.intervals) {
    if (to <= end || from > end + 1) continue
    added.push({ from: end + 1, to, evidence })
    end = to
  }
  const blocks = { ...own.blocks }
  for (const { from, to, evidence } of added) blocks[evidence] = (blocks[evidence] ?? 0) + to - from + 1
  return {
    intervals: [...own.intervals, ...added],
    intervals_total: own.intervals_total + added.length,
    blocks,
  }
}
