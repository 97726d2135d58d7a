import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../test/release-runs.ts'
import { addCoverage, isCovered, joinByScope, missingIntervals, removeCoverage, weakestEvidence } from './coverage.ts'
import { type CoveredInterval, type Evidence, evidences, type Interval } from './model.ts'

// The model: the evidence of every single block, and nothing clever.
const blockMax = 30
type Blocks = Map<number, Evidence>

const interval = fc.tuple(fc.nat(blockMax), fc.nat(blockMax)).map(([a, b]) => ({ from: a, to: b }))
const covered = fc
  .record({ interval, evidence: fc.constantFrom(...evidences) })
  .map(({ interval: { from, to }, evidence }): CoveredInterval => ({ from, to, evidence }))
const change = fc.oneof(
  covered.map(added => ({ kind: 'add' as const, added })),
  interval.map(removed => ({ kind: 'remove' as const, removed })),
)

const rank = (evidence: Evidence): number => evidences.indexOf(evidence)

function applyToBlocks(
  blocks: Blocks,
  step: { kind: 'add'; added: CoveredInterval } | { kind: 'remove'; removed: Interval },
) {
  if (step.kind === 'remove') {
    for (let block = step.removed.from; block <= step.removed.to; block++) blocks.delete(block)
    return
  }
  const { from, to, evidence } = step.added
  for (let block = from; block <= to; block++) {
    const known = blocks.get(block)
    if (known === undefined || rank(evidence) < rank(known)) blocks.set(block, evidence)
  }
}

function blocksOf(intervals: readonly CoveredInterval[]): Blocks {
  const blocks: Blocks = new Map()
  for (const { from, to, evidence } of intervals)
    for (let block = from; block <= to; block++) {
      expect(blocks.has(block), `block ${block} is in two intervals`).toBe(false)
      blocks.set(block, evidence)
    }
  return blocks
}

function expectCanonical(intervals: readonly CoveredInterval[]): void {
  for (const [index, { from, to, evidence }] of intervals.entries()) {
    expect(from).toBeLessThanOrEqual(to)
    const next = intervals[index + 1]
    if (next === undefined) continue
    expect(next.from).toBeGreaterThan(to)
    if (next.from === to + 1) expect(next.evidence).not.toBe(evidence)
  }
}

const sorted = (blocks: Blocks) => [...blocks].sort(([a], [b]) => a - b)

describe('coverage against the evidence of every single block', () => {
  test('adding and removing in any order', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), steps => {
        const blocks: Blocks = new Map()
        let intervals: CoveredInterval[] = []
        for (const step of steps) {
          applyToBlocks(blocks, step)
          if (step.kind === 'add') intervals = addCoverage(intervals, step.added)
          else if (step.removed.from <= step.removed.to) intervals = removeCoverage(intervals, step.removed)
          expect(sorted(blocksOf(intervals))).toEqual(sorted(blocks))
          expectCanonical(intervals)
        }
      }),
      { numRuns: propertyRuns(2000) },
    )
  })

  test('repeating an addition changes nothing', () => {
    fc.assert(
      fc.property(fc.array(covered), covered, (list, added) => {
        const once = [...list, added].reduce<CoveredInterval[]>(addCoverage, [])
        expect(addCoverage(once, added)).toEqual(once)
      }),
    )
  })

  test('the order of additions does not matter', () => {
    fc.assert(
      fc.property(fc.array(covered, { maxLength: 12 }), list => {
        const forward = list.reduce<CoveredInterval[]>(addCoverage, [])
        expect(list.toReversed().reduce<CoveredInterval[]>(addCoverage, [])).toEqual(forward)
      }),
    )
  })

  test('joining first and adding then is adding one by one', () => {
    const scoped = fc.tuple(covered, fc.constantFrom('full', 'watched')).map(([each, scope]) => ({ ...each, scope }))
    fc.assert(
      fc.property(fc.array(covered), fc.array(scoped), (before, added) => {
        const known = before.reduce<CoveredInterval[]>(addCoverage, [])
        for (const scope of ['full', 'watched']) {
          const plain = (given: readonly (typeof added)[number][]): CoveredInterval[] =>
            given.filter(each => each.scope === scope).map(({ from, to, evidence }) => ({ from, to, evidence }))
          const joined = plain(joinByScope(added))
          expect(joined.reduce(addCoverage, known)).toEqual(plain(added).reduce(addCoverage, known))
          expect(joined.reduce<CoveredInterval[]>(addCoverage, [])).toEqual(joined)
        }
      }),
    )
  })

  test('missing intervals, being covered and the weakest evidence, of lists in any order', () => {
    fc.assert(
      fc.property(fc.array(covered), interval, (list, wanted) => {
        const blocks: Blocks = new Map()
        for (const added of list) applyToBlocks(blocks, { kind: 'add', added })
        const asked = Array.from(
          { length: Math.max(0, wanted.to - wanted.from + 1) },
          (_, index) => wanted.from + index,
        )
        const missing = missingIntervals(
          list.filter(({ from, to }) => from <= to),
          wanted,
        )
        const missingBlocks = missing.flatMap(({ from, to }) =>
          Array.from({ length: to - from + 1 }, (_, index) => from + index),
        )
        expect(missingBlocks).toEqual(asked.filter(block => !blocks.has(block)))
        for (const [index, { from }] of missing.entries())
          if (index > 0) expect(from).toBeGreaterThan(missing[index - 1]!.to + 1)
        const complete = asked.every(block => blocks.has(block))
        expect(
          isCovered(
            list.filter(({ from, to }) => from <= to),
            wanted,
          ),
        ).toBe(complete)
        const weakest = asked
          .map(block => blocks.get(block)!)
          .reduce<Evidence | undefined>((a, b) => (a === undefined || rank(b) > rank(a) ? b : a), undefined)
        expect(weakestEvidence(list, wanted)).toBe(complete && asked.length > 0 ? weakest : undefined)
      }),
      { numRuns: propertyRuns(1000) },
    )
  })
})
