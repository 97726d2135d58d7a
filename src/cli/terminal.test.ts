import { expect, test } from 'vitest'
import { durationText } from '../duration-text.ts'
import {
  barText,
  bytesText,
  countOf,
  countText,
  fitted,
  fittedTable,
  percentText,
  rateText,
  wrapped,
} from './terminal.ts'

test('quantities read as people write them', () => {
  expect([0, 1, 1_200].map(count => countOf(count, 'contract'))).toEqual([
    '0 contracts',
    '1 contract',
    '1,200 contracts',
  ])
  expect([0, 999, 1_500, 123_456, 2.5e9, 6e11].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.5 kB',
    '123 kB',
    '2.5 GB',
    '600 GB',
  ])
  expect([0, 0.2, 59, 60, 3_599.5, 3_661, 90_000, 30 * 86_400].map(durationText)).toEqual([
    '0 s',
    '0 s',
    '59 s',
    '1 min',
    '1 h',
    '1 h 1 min',
    '1 d 1 h',
    '30 d',
  ])
  expect(countText(1_234_567.6)).toBe('1,234,568')
  expect([0.25, 12.3, 5_210].map(rateText)).toEqual(['0.3 blocks/s', '12 blocks/s', '5,210 blocks/s'])
})

test('nothing is called whole that is not', () => {
  expect(percentText(999_999, 1_000_000)).toBe('99.9%')
  expect(percentText(10, 10)).toBe('100%')
  expect(percentText(0, 0)).toBe('100%')
})

test('texts are broken between words, and a word that is longer stays whole', () => {
  expect(wrapped('the traffic of a chain', { width: 12, first: '  ', indent: '  ' })).toEqual([
    '  the',
    '  traffic of',
    '  a chain',
  ])
  expect(wrapped('a 0123456789 b', { width: 4 })).toEqual(['a', '0123456789', 'b'])
})

test('a note is broken between words on a terminal alone, below where it begins, and never within a command', () => {
  const text =
    'Error: The port of this machine is used.\nTry:   stop what uses it, or choose: almanac start --listen :81'
  const on = (columns: number, isTTY = true) => fitted(text, { output: { isTTY, columns } as NodeJS.WriteStream })
  expect([on(120), on(30, false)]).toEqual([text, text])
  expect(on(36).split('\n')).toEqual([
    ...['Error: The port of this machine is', '       used.', 'Try:   stop what uses it, or choose:'],
    '       almanac start --listen :81',
  ])
  expect(on(20).split('\n').at(-1)).toBe('       almanac start --listen :81')
})

test('a bar is full only when everything is done, also without Unicode', () => {
  expect([0, 1, 50, 99, 100].map(done => barText(done, 100, { width: 4, unicode: false }))).toEqual([
    ...['[    ]', '[    ]', '[=>  ]', '[==> ]', '[====]'],
  ])
  expect([0, 1, 50, 99, 100].map(done => barText(done, 100, { width: 4, unicode: true }))).toEqual([
    ...['────', '────', '━╸──', '━━╸─', '━━━━'],
  ])
})

test('a table fits: long columns are cut, then the least important ones left out, and what names a row stays', () => {
  const columns = [{ title: 'ID' }, { title: 'WHAT', min: 6, drop: 1 }, { title: 'DAY', drop: 2 }]
  const rows = [['0123', 'words at length', 'today']]
  const lines = (width: number) => fittedTable(columns, rows, width).split('\n')
  expect(lines(80)[1]).toBe('0123  words at length  today')
  expect(lines(20)).toEqual(['ID    WHAT     DAY', '0123  words …  today'])
  expect(lines(15)[1]).toBe('0123  words at…')
  expect(lines(5)).toEqual(['ID', '0123'])
})
