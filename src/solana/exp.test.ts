import { expect, test } from 'vitest'
import { exp } from './amounts.ts'

test('is the exponential function to the last bit but one', () => {
  for (let x = -744; x < 709; x += 0.37) {
    const expected = Math.exp(x)
    const bound = Math.max(expected * 2 ** -52, Number.MIN_VALUE)
    expect(Math.abs(exp(x) - expected)).toBeLessThanOrEqual(bound)
  }
})

test.each([
  [0, 1],
  [1e-300, 1],
  [710, Number.POSITIVE_INFINITY],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [-746, 0],
  [Number.NEGATIVE_INFINITY, 0],
  [Number.NaN, Number.NaN],
])('exp(%d) is %d', (x, expected) => {
  expect(exp(x)).toBe(expected)
})
