import { expect, test } from 'vitest'
import { sampleOf } from './senders.ts'

test('a sample is all, none, or about one in so many, spread evenly', () => {
  expect(sampleOf(5, 1)).toEqual([0, 1, 2, 3, 4])
  expect(sampleOf(5, 0)).toEqual([])
  const counts = new Array<number>(20).fill(0)
  for (let block = 0; block < 40_000; block++) for (const index of sampleOf(20, 10)) counts[index]!++
  // Each is drawn 4,000 times on average, with a deviation of 60.
  for (const count of counts) expect(Math.abs(count - 4_000)).toBeLessThan(420)
})
