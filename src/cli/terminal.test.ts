import { expect, test } from 'vitest'
import { bytesText, countOf, countText, durationText, percentText, rateText, Screen } from './terminal.ts'

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

/** What a terminal shows of a text; it knows no more sequences than are used. */
function shown(written: string): string[] {
  const [plain = '', ...sequences] = written.split('\u001b[')
  let rows = plain.split('\n')
  for (const sequence of sequences) {
    const [, count = '', kind = '', rest = ''] = /^(\d*)([AJ])\r?(.*)$/s.exec(sequence) ?? []
    if (kind === 'A') rows = rows.slice(0, rows.length - Number(count))
    const kept = kind === 'J' ? rows.slice(0, -1) : rows
    rows = kind === 'J' ? [...kept, ...rest.split('\n')] : kept
  }
  return rows
}

test('the foot stays below lines that scroll, is replaced in place and leaves nothing behind', () => {
  const written: string[] = []
  const screen = new Screen({ columns: 20, write: (text: string) => written.push(text) > 0 })
  const rows = () => shown(written.join(''))
  screen.write('first\n')
  screen.draw(['a 1%', 'b 2%'])
  expect(rows()).toEqual(['first', 'a 1%', 'b 2%', ''])
  screen.write('second\n')
  expect(rows()).toEqual(['first', 'second', 'a 1%', 'b 2%', ''])
  screen.draw(['a'.repeat(30)])
  expect(rows()).toEqual(['first', 'second', 'a'.repeat(19), ''])
  screen.close()
  screen.write('last\n')
  expect(rows()).toEqual(['first', 'second', 'last', ''])
})
