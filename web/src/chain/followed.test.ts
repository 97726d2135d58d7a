import { expect, test } from 'vitest'
import { followedCoverage } from './followed.ts'

const own = {
  intervals: [{ from: 0, to: 100, evidence: 'one-endpoint' as const }],
  intervals_total: 1,
  blocks: { 'one-endpoint': 101 },
}
const watched = (from: number, to: number) => ({ from, to, evidence: 'bloom' as const })

test('blocks that were watched go on from the contract’s own', () => {
  expect(followedCoverage(own, { intervals: [watched(50, 120), watched(121, 130)] })).toEqual({
    intervals: [...own.intervals, watched(101, 120), watched(121, 130)],
    intervals_total: 3,
    blocks: { 'one-endpoint': 101, bloom: 30 },
  })
})

test('blocks behind a gap are not claimed, nor those of a contract without history', () => {
  expect(followedCoverage(own, { intervals: [watched(102, 120)] })).toEqual(own)
  expect(followedCoverage(own, { intervals: [watched(5, 90)] })).toEqual(own)
  const none = { intervals: [], intervals_total: 0, blocks: {} }
  expect(followedCoverage(none, { intervals: [watched(0, 9)] })).toEqual(none)
})
