import { expect, test } from 'vitest'
import { Screen } from './terminal.ts'

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
