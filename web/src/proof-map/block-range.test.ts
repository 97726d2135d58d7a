import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type BlockRange,
  blockAt,
  blocksOf,
  chosen,
  moved,
  pieceAt,
  piecesOf,
  ticksOf,
  within,
  zoomed,
} from './block-range.ts'

const whole: BlockRange = { from: 100, to: 10_099 }
const share = fc.double({ min: 0, max: 1, noNaN: true })
const anyRange = fc
  .tuple(fc.integer({ min: whole.from, max: whole.to }), fc.integer({ min: 1, max: 10_000 }))
  .map(([from, blocks]) => within({ from, to: from + blocks - 1 }, whole))

function isWithin({ from, to }: BlockRange): boolean {
  return from >= whole.from && to <= whole.to && from <= to
}

test('zooming and moving never leave the chain, and zooming holds the block under the pointer', () => {
  fc.assert(
    fc.property(anyRange, share, fc.constantFrom(0.25, 0.5, 2, 4), (view, at, by) => {
      const next = zoomed(view, whole, { by, share: at })
      expect(isWithin(next)).toBe(true)
      if (by < 1 && blocksOf(view) > 8) expect(blocksOf(next)).toBeLessThan(blocksOf(view))
      const isFree = next.from > whole.from && next.to < whole.to
      const step = Math.ceil(blocksOf(view) / 100) + 1
      if (isFree) expect(Math.abs(blockAt(next, at) - blockAt(view, at))).toBeLessThanOrEqual(step)
      expect(isWithin(moved(view, whole, 0.3))).toBe(true)
      expect(blocksOf(moved(view, whole, -0.3))).toBe(blocksOf(view))
    }),
  )
})

test('single blocks are reached, and the whole chain again', () => {
  let view = whole
  for (let turn = 0; turn < 20; turn++) view = zoomed(view, whole, { by: 0.5, share: 0.25 })
  expect(blocksOf(view)).toBe(8)
  for (let turn = 0; turn < 20; turn++) view = zoomed(view, whole, { by: 2 })
  expect(view).toEqual(whole)
  expect(zoomed({ from: 0, to: 2 }, { from: 0, to: 2 }, { by: 0.5 })).toEqual({ from: 0, to: 2 })
})

test('what is dragged over is shown, a few blocks at least', () => {
  expect(chosen(whole, whole, [0.75, 0.5])).toEqual({ from: 5_100, to: 7_600 })
  expect(blocksOf(chosen(whole, whole, [0.5, 0.5]))).toBe(8)
  expect(chosen(whole, whole, [1, 1])).toEqual({ from: 10_092, to: 10_099 })
})

test('pieces cover what is shown without gaps, and say what is missing', () => {
  const evidence = 'bloom' as const
  const intervals = [
    { from: 0, to: 9, evidence },
    { from: 20, to: 29, evidence: 'one-endpoint' as const },
    { from: 25, to: 40, evidence },
  ]
  expect(piecesOf(intervals, { from: 5, to: 50 })).toEqual([
    { from: 5, to: 9, evidence },
    { from: 10, to: 19, evidence: undefined },
    { from: 20, to: 29, evidence: 'one-endpoint' },
    { from: 30, to: 40, evidence },
    { from: 41, to: 50, evidence: undefined },
  ])
  expect(pieceAt(piecesOf(intervals, { from: 5, to: 50 }), 15)).toMatchObject({ evidence: undefined })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(60), fc.nat(20))), anyRange, (spans, view) => {
      const covered = spans.map(([from, blocks]) => ({ from: from * 100, to: from * 100 + blocks * 100, evidence }))
      const pieces = piecesOf(
        covered.sort((a, b) => a.from - b.from),
        view,
      )
      expect(pieces.reduce((sum, piece) => sum + blocksOf(piece), 0)).toBe(blocksOf(view))
      for (const [at, piece] of pieces.entries()) expect(piece.from).toBe(at === 0 ? view.from : pieces[at - 1]!.to + 1)
    }),
  )
})

test('the numbers below are round', () => {
  expect(ticksOf({ from: 0, to: 99 }, 5)).toEqual([0, 20, 40, 60, 80])
  expect(ticksOf({ from: 1_234_567, to: 1_234_574 }, 8)).toEqual([
    1_234_567, 1_234_568, 1_234_569, 1_234_570, 1_234_571, 1_234_572, 1_234_573, 1_234_574,
  ])
  fc.assert(
    fc.property(anyRange, fc.integer({ min: 1, max: 10 }), (view, most) => ticksOf(view, most).length <= most + 1),
  )
})
