// Every missing block that a source holds is in exactly one part, of the first source that holds it, and nothing is
// handed out across an end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import { joinIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'
import { partsOf, WorkList } from './missing-blocks.ts'

const interval = fc.tuple(fc.nat(60), fc.nat(12)).map(([from, length]): Interval => ({ from, to: from + length }))
const intervals = fc.array(interval, { maxLength: 6 })

test('parts against the source of every single block', () => {
  const property = fc.property(intervals, fc.array(intervals, { maxLength: 3 }), (gaps, held) => {
    const missing = joinIntervals(gaps)
    const sources = held.map((each, at) => ({ at, holds: joinIntervals(each) }))
    const parts = partsOf(missing, sources)
    const isIn = (list: readonly Interval[], block: number) => list.some(({ from, to }) => from <= block && block <= to)
    const blocks = Array.from({ length: 80 }, (_, block) => block)
    const expected = blocks.map(block => {
      const first = isIn(missing, block) ? sources.find(({ holds }) => isIn(holds, block)) : undefined
      return first === undefined ? [] : [first.at]
    })
    const found = blocks.map(block => parts.filter(part => isIn([part], block)).map(({ source }) => source.at))
    expect(found).toEqual(expected)
    // Newest first, none of them empty, and as few as can be of one source.
    for (const [at, { from, to, source }] of parts.entries()) {
      expect(from).toBeLessThanOrEqual(to)
      const below = parts[at + 1]
      if (below !== undefined) expect(below.to).toBeLessThan(from)
      if (below?.to === from - 1 && isIn(missing, from - 1)) expect(below.source).not.toBe(source)
    }
  })
  fc.assert(property, { numRuns: propertyRuns(500) })
})

test('nothing is handed out across the ends of what is kept apart, not even what was given back', () => {
  const work = new WorkList([{ from: 0, to: 50 }], [{ from: 10, to: 25 }])
  const taken: Interval[] = []
  for (let next = work.take(16); next !== undefined; next = work.take(16)) taken.push(next)
  expect(taken.map(({ from, to }) => `${from}-${to}`)).toEqual(['35-50', '26-34', '10-25', '0-9'])
  for (const interval of taken) work.add(interval)
  expect([work.take(100), work.take(100), work.take(100), work.take(100)]).toEqual([
    { from: 26, to: 50 },
    { from: 10, to: 25 },
    { from: 0, to: 9 },
    undefined,
  ])
})
