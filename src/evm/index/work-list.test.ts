import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WorkList } from './backfill.ts'

test('hands out the newest first and never across a gap', () => {
  const work = new WorkList([
    { from: 0, to: 9 },
    { from: 20, to: 24 },
  ])
  expect(work.take(3)).toEqual({ from: 22, to: 24 })
  expect(work.take(3)).toEqual({ from: 20, to: 21 })
  expect(work.take(100)).toEqual({ from: 0, to: 9 })
  expect(work.take(1)).toBeUndefined()
})

test('every block is handed out exactly once, whatever is given back', () => {
  const step = fc.record({ blocks: fc.integer({ min: 1, max: 20 }), giveBack: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), steps => {
      const work = new WorkList([
        { from: 3, to: 40 },
        { from: 50, to: 61 },
      ])
      const done = new Set<number>()
      for (const { blocks, giveBack } of steps) {
        const range = work.take(blocks)
        if (range === undefined) break
        expect(range.to - range.from + 1).toBeLessThanOrEqual(blocks)
        if (giveBack) work.add(range)
        else
          for (let block = range.from; block <= range.to; block++) {
            expect(done.has(block)).toBe(false)
            done.add(block)
          }
      }
      let left = 0
      for (let range = work.take(7); range !== undefined; range = work.take(7)) left += range.to - range.from + 1
      expect(left + done.size).toBe(50)
    }),
  )
})
