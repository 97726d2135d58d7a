import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactAmount } from './exact-amount.ts'

test.each([
  ['0', 9, '0'],
  ['5999980000', 9, '5.99998'],
  ['100000', 3, '100'],
  ['1', 0, '1'],
  ['0', 0, '0'],
  [`${2n ** 64n - 1n}`, 0, '18446744073709551615'],
  [`${2n ** 64n - 1n}`, 20, '0.18446744073709551615'],
  ['1', 9, '0.000000001'],
  [`${2n ** 64n - 1n}`, 9, '18446744073.709551615'],
  ['1', 255, `0.${'0'.repeat(254)}1`],
])('%s with %s decimals is %s', (raw, decimals, text) => {
  expect(exactAmount(raw, decimals)).toBe(text)
})

test('amounts are exact and without needless zeros', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(255), (raw, decimals) => {
      const text = exactAmount(`${raw}`, decimals)
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      const [whole = '', fraction = ''] = text.split('.')
      expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(raw)
    }),
  )
})
