import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinIntervals, missingIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'
import { TakenBlocks } from './taken-blocks.ts'

test('of each interval, what those before it do not have', () => {
  const some = fc.record({ from: fc.nat(40), more: fc.nat(6) }).map(({ from, more }) => ({ from, to: from + more }))
  fc.assert(
    fc.property(fc.array(some, { maxLength: 20 }), intervals => {
      const taken = new TakenBlocks()
      let before: Interval[] = []
      for (const interval of intervals) {
        expect(taken.take(interval)).toEqual(missingIntervals(before, interval))
        before = joinIntervals([...before, interval])
        expect(taken.intervals).toEqual(before)
      }
    }),
  )
})
