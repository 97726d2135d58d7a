import { expect, test } from 'vitest'
import {
  ageText,
  amountText,
  bytesText,
  countOf,
  countSoFar,
  etherText,
  exactText,
  groupedText,
  parseMoment,
  percentText,
  rateText,
  shortText,
  shownAmountText,
  spanText,
} from './quantities.ts'

test('sizes and rates', () => {
  expect([0, 999, 1_000, 7_812_345, 3e12, 5e15].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1 kB',
    '7.8 MB',
    '3 TB',
    '5,000 TB',
  ])
  expect([0, 0.25, 12.34, 1_234.5].map(rateText)).toEqual(['0', '0.3', '12.3', '1,235'])
})

test('none of what is not complete is nothing yet, and not zero', () => {
  const cases = [countSoFar(0, false), countSoFar(0, true), countSoFar(1_200, false), countSoFar(1_200, true)]
  expect(cases).toEqual(['–', '0', '1,200', '1,200'])
})

test('amounts of any size', () => {
  expect(['1', '4000', '999999999999'].map(amountText)).toEqual(['1', '4,000', '999,999,999,999'])
  expect(amountText(`${2n ** 256n - 1n}`)).toBe('1157…9935')
})

test.each([
  ['250000000000000000000', 18, '250'],
  ['249999999999999999999', 18, '249.9999'],
  ['1234567', 6, '1.2345'],
  ['123456', 6, '0.123456'],
  ['1', 18, '< 0.000001'],
  ['0', 18, '0'],
  ['7000', null, '7,000'],
  ['48000000.5', 0, '48,000,000.5'],
  [`${2n ** 255n}`, 0, '5.789e76'],
  [`${2n ** 255n}`, null, '5.789e76'],
])('%s with %s decimals is %s', (amount, decimals, shown) => {
  expect(shownAmountText(amount, decimals)).toBe(shown)
})

test('a share is whole only when it is', () => {
  expect(percentText(999_999, 1_000_000)).toBe('99.9 %')
  expect(percentText(1_000_000, 1_000_000)).toBe('100 %')
  expect(percentText(5, 35)).toBe('14.3 %')
  expect(percentText(0, 0)).toBe('0 %')
})

test('spans and ages', () => {
  expect([0, 59, 60, 3_725, 90_000, 40_000_000].map(spanText)).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '1 h 2 min',
    '1 d 1 h',
    '1 y 97 d',
  ])
  const now = 1_700_000_000_000
  expect([0, 1, 5, 3_600, 200_000].map(ago => ageText(now - ago * 1_000, now))).toEqual([
    'just now',
    'just now',
    '5 s ago',
    '1 h ago',
    '2 d ago',
  ])
  expect(ageText(now + 5_000, now)).toBe('just now')
  expect(ageText(now + 90_000, now)).toBe('in the future')
})

test('moments of both dialects are the same ones', () => {
  expect(parseMoment('2021-06-04T16:00:15')).toBe(parseMoment('2021-06-04T16:00:15.000Z'))
  expect(exactText(parseMoment('2021-06-04T16:00:15'))).toBe('2021-06-04 16:00:15 UTC')
})

test('long texts are cut in the middle', () => {
  expect(shortText('0xfa7496e4ae840306df41bd658800392e24db8ac4')).toBe('0xfa74…8ac4')
  expect(shortText('B8qdgQDsaTYR8QBmCB252oNrtyMKYhg6wMqRLaMcUr7i')).toBe('B8qd…Ur7i')
  expect(shortText('123456')).toBe('123456')
})

test('wei as the main unit, and decimals of any length', () => {
  expect(['0', '1', '340000000000000000', '2888560950000000000000', '1234567890123456789'].map(etherText)).toEqual([
    ...['0', '< 0.000001', '0.34', '2,888.56095', '1.234567…'],
  ])
  expect(['2888.56095', '5', '12345678901234567890.5', '1e9', ''].map(groupedText)).toEqual([
    ...['2,888.56095', '5', '12,345,678,901,234,567,890.5', '1e9', ''],
  ])
})

test('one is not many', () => {
  expect([0, 1, 2_000].map(count => countOf(count, 'contract'))).toEqual([
    '0 contracts',
    '1 contract',
    '2,000 contracts',
  ])
})
