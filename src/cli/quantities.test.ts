import { expect, test } from 'vitest'
import { progressText } from './chain-progress.ts'
import { bytesText, contractsText, countText, durationText, percentText, rateText } from './terminal.ts'

test('quantities read as people write them', () => {
  expect([0, 1, 1_200].map(contractsText)).toEqual(['0 contracts', '1 contract', '1,200 contracts'])
  expect([0, 999, 1_500, 123_456, 2.5e9, 6e11].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.5 kB',
    '123 kB',
    '2.5 GB',
    '600 GB',
  ])
  expect([0, 0.2, 59, 60, 3_599.5, 3_661, 90_000, 30 * 86_400].map(durationText)).toEqual([
    '0s',
    '1s',
    '59s',
    '1m',
    '1h',
    '1h 1m',
    '1d 1h',
    '30d',
  ])
  expect(countText(1_234_567.6)).toBe('1,234,568')
  expect([0.25, 12.3, 5_210].map(rateText)).toEqual(['0.3 blocks/s', '12 blocks/s', '5,210 blocks/s'])
})

test('nothing is called whole that is not', () => {
  expect(percentText(999_999, 1_000_000)).toBe('99.9%')
  expect(percentText(10, 10)).toBe('100%')
  expect(percentText(0, 0)).toBe('100%')
})

test('a line of progress has a bar on a terminal, and leaves out what is not known', () => {
  const facts = { label: 'eth', done: 50, total: 200, blocksPerSecond: 25, secondsLeft: 6 }
  expect(progressText(facts, { bar: true })).toBe(
    'eth  [=====>                  ]   25.0%  50 of 200 blocks  25 blocks/s  6s left',
  )
  expect(progressText({ ...facts, blocksPerSecond: undefined, secondsLeft: undefined }, { bar: false })).toBe(
    'eth   25.0%  50 of 200 blocks',
  )
})
