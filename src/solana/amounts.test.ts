import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { displayAmount, exp, fixedText, formatAmountRule, parseAmountRule } from './amounts.ts'

describe('fixed text of doubles', () => {
  test('is toFixed wherever that is exact about ties', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e20, noNaN: true }), fc.nat(20), (value, decimals) => {
        const shifted = BigInt(Math.trunc(value)) // a tie needs a short fraction: those are tested below
        fc.pre(Number(shifted) === value || !Number.isInteger(value * 2 ** 21))
        expect(fixedText(value, decimals)).toBe(value.toFixed(decimals))
      }),
    )
  })

  test.each([
    [0.5, 0, '0'],
    [1.5, 0, '2'],
    [2.5, 0, '2'],
    [0.125, 2, '0.12'],
    [0.375, 2, '0.38'],
    [1e22, 1, '10000000000000000000000.0'],
    [5e-324, 3, '0.000'],
  ])('rounds the tie %s to even', (value, decimals, text) => {
    expect(fixedText(value, decimals)).toBe(text)
  })
})

describe('amount rules', () => {
  test('read back from their text', () => {
    const moment = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    const rate = fc.integer({ min: -32_768, max: 32_767 })
    const double = fc.double().map(value => value + 0)
    const rule = fc.oneof(
      fc.record({
        kind: fc.constant('interest' as const),
        initializedAt: moment,
        averageRate: rate,
        updatedAt: moment,
        currentRate: rate,
      }),
      fc.record({ kind: fc.constant('scaled' as const), multiplier: double, nextFrom: moment, nextMultiplier: double }),
    )
    fc.assert(
      fc.property(rule, value => {
        expect(parseAmountRule(formatAmountRule(value))).toEqual(value)
      }),
    )
  })

  test('of another text are none, and the amount is then plain', () => {
    for (const text of ['', 'interest', 'interest 1 2 3', 'scaled 1 x 2', 'other 1 2 3'])
      expect(parseAmountRule(text)).toBeUndefined()
    expect(displayAmount(150n, { decimals: 2, amountRule: 'other' }, 0)).toBe('1.5')
  })

  test('interest over a timespan that the program cannot hold leaves the plain amount', () => {
    const amountRule = `interest ${-(2n ** 63n)} 1 ${2n ** 63n - 1n} 1`
    expect(displayAmount(150n, { decimals: 2, amountRule }, 0)).toBe('1.5')
  })

  test('the fixture of a real interest-bearing mint', () => {
    const mint = { decimals: 6, amountRule: 'interest 1727476198 741 1782139606 2623' }
    expect(displayAmount(123456789n, mint, 1794705637)).toBe('155.819485')
    expect(displayAmount(123456789n, mint, 1800000001)).toBe('162.829723')
  })
})

test('exp is the exponential function to the last bit but one', () => {
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
