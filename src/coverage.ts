// Exact arithmetic on covered block intervals. Pure: `index_complete` and the backfill's work list both come from here.
import {
  type CoveredInterval,
  type Evidence,
  evidences,
  type Interval,
  type ShownInterval,
  shownEvidence,
} from './model.ts'
import type { WholeScope } from './views.ts'

const strength = new Map<Evidence, number>(evidences.map((evidence, index) => [evidence, evidences.length - index]))

/**
 * Adds one interval to a sorted, disjoint list. Where intervals overlap, the stronger evidence stays; neighbours of
 * equal evidence become one. Repeating an addition changes nothing.
 */
export function addCoverage(covered: readonly CoveredInterval[], added: CoveredInterval): CoveredInterval[] {
  if (added.to < added.from) return [...covered]
  const pieces: CoveredInterval[] = []
  for (const old of covered) {
    if (old.to < added.from || old.from > added.to || !isStronger(added.evidence, old.evidence)) {
      pieces.push(old)
      continue
    }
    if (old.from < added.from) pieces.push({ ...old, to: added.from - 1 })
    if (old.to > added.to) pieces.push({ ...old, from: added.to + 1 })
  }
  for (const gap of missingIntervals(pieces, added)) pieces.push({ ...gap, evidence: added.evidence })
  return mergeNeighbours(pieces.sort((a, b) => a.from - b.from))
}

/** Joins the intervals of each scope into as few as possible. */
export function joinByScope<Scope>(
  covered: readonly (CoveredInterval & { scope: Scope })[],
): (CoveredInterval & { scope: Scope })[] {
  return [...Map.groupBy(covered, ({ scope }) => scope)].flatMap(([scope, intervals]) => {
    const plain = intervals.map(({ from, to, evidence }) => ({ from, to, evidence }))
    return plain.reduce<CoveredInterval[]>(addCoverage, []).map(interval => ({ ...interval, scope }))
  })
}

/** As answers show it: intervals that are kept apart may be one there. */
export function shownCoverage<Scope>(
  covered: readonly (CoveredInterval & { scope: Scope })[],
): (ShownInterval & { scope: Scope })[] {
  const shown = covered.map(each => ({ ...each, evidence: shownEvidence(each.evidence) }))
  // Most chains have none, and may have many intervals.
  if (covered.every(({ evidence }) => evidence !== 'unanchored')) return shown
  return joinByScope(shown) as typeof shown
}

/** What is claimed of whole blocks for a scope: `full` is complete for `transfers` too. The strongest evidence. */
export function wholeCoverage(
  covered: readonly (CoveredInterval & { scope: string })[],
  scope: WholeScope,
): CoveredInterval[] {
  const claimed = covered.filter(each => each.scope === 'full' || each.scope === scope)
  const plain = claimed.map(({ from, to, evidence }) => ({ from, to, evidence }))
  // Those of one scope are disjoint, and there may be many.
  const isOneScope = claimed.every(each => each.scope === claimed[0]?.scope)
  return isOneScope ? plain : plain.reduce<CoveredInterval[]>(addCoverage, [])
}

/** Removes an interval from a sorted, disjoint list. */
export function removeCoverage(covered: readonly CoveredInterval[], removed: Interval): CoveredInterval[] {
  return covered.flatMap(old => {
    if (old.to < removed.from || old.from > removed.to) return [old]
    const rest: CoveredInterval[] = []
    if (old.from < removed.from) rest.push({ ...old, to: removed.from - 1 })
    if (old.to > removed.to) rest.push({ ...old, from: removed.to + 1 })
    return rest
  })
}

/** The same blocks in as few intervals as possible, lowest first. */
export function joinIntervals(intervals: readonly Interval[]): Interval[] {
  const joined: Interval[] = []
  for (const { from, to } of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last === undefined || last.to + 1 < from) joined.push({ from, to })
    else last.to = Math.max(last.to, to)
  }
  return joined
}

/** What to delete and what to insert so that stored intervals become others. */
export function coverageChange(before: readonly CoveredInterval[], after: readonly CoveredInterval[]) {
  const isIn = (list: readonly CoveredInterval[], { from, to, evidence }: CoveredInterval): boolean =>
    list.some(other => other.from === from && other.to === to && other.evidence === evidence)
  return { gone: before.filter(old => !isIn(after, old)), added: after.filter(now => !isIn(before, now)) }
}

/** The parts of `wanted` outside all intervals, lowest first. The list need not be sorted. */
export function missingIntervals(covered: readonly Interval[], wanted: Interval): Interval[] {
  const sorted = covered.filter(c => c.to >= wanted.from && c.from <= wanted.to).sort((a, b) => a.from - b.from)
  const missing: Interval[] = []
  let next = wanted.from
  for (const interval of sorted) {
    if (interval.from > next) missing.push({ from: next, to: interval.from - 1 })
    if (interval.to >= next) next = interval.to + 1
  }
  if (next <= wanted.to) missing.push({ from: next, to: wanted.to })
  return missing
}

/** The parts of intervals at or above a block. */
export function intervalsFrom(intervals: readonly Interval[], from: number): Interval[] {
  return intervals.filter(({ to }) => to >= from).map(each => ({ from: Math.max(each.from, from), to: each.to }))
}

export function holdsBlock(intervals: readonly Interval[], block: number): boolean {
  return intervals.some(({ from, to }) => block >= from && block <= to)
}

/** Whether an interval has a block with one of them in common. */
export function isTouched(intervals: readonly Interval[], { from, to }: Interval): boolean {
  return intervals.some(other => from <= other.to && to >= other.from)
}

export function isCovered(covered: readonly Interval[], wanted: Interval): boolean {
  return missingIntervals(covered, wanted).length === 0
}

/** The last of the blocks from one on that are covered without a gap; the one before it if it is not covered. */
export function coveredTo(covered: readonly Interval[], from: number): number {
  let next = from
  for (const interval of covered) if (interval.from <= next && interval.to >= next) next = interval.to + 1
  return next - 1
}

/** The weakest evidence for any block of `wanted`; undefined if a block is not covered. */
export function weakestEvidence(covered: readonly CoveredInterval[], wanted: Interval): Evidence | undefined {
  const best = covered.reduce<CoveredInterval[]>(addCoverage, [])
  if (wanted.to < wanted.from || !isCovered(best, wanted)) return undefined
  const touching = best.filter(c => c.to >= wanted.from && c.from <= wanted.to)
  return touching.map(c => c.evidence).reduce(weakestOf)
}

export function weakestOf(a: Evidence, b: Evidence): Evidence {
  return isStronger(a, b) ? b : a
}

export function strongestOf(a: Evidence, b: Evidence): Evidence {
  return isStronger(a, b) ? a : b
}

function isStronger(a: Evidence, b: Evidence): boolean {
  return (strength.get(a) ?? 0) > (strength.get(b) ?? 0)
}

function mergeNeighbours(sorted: readonly CoveredInterval[]): CoveredInterval[] {
  const merged: CoveredInterval[] = []
  for (const interval of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && last.evidence === interval.evidence && last.to + 1 === interval.from) {
      merged[merged.length - 1] = { ...last, to: interval.to }
    } else merged.push(interval)
  }
  return merged
}

/** How many blocks disjoint intervals hold. */
export function blockCount(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { from, to }) => sum + to - from + 1, 0)
}
