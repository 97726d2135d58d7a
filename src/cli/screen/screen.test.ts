import { expect, test } from 'vitest'
import { TerminalModel } from '../../../test/terminal-model.ts'
import { Screen } from './screen.ts'

test('the foot stays below lines that scroll, is replaced in place and leaves nothing behind', () => {
  const terminal = new TerminalModel(20, { reflows: true })
  const screen = new Screen(terminal)
  screen.write('first\n')
  screen.draw(() => ['a 1%', 'b 2%'])
  expect(terminal.shown).toEqual(['first', 'a 1%', 'b 2%'])
  expect(terminal.isCursorShown).toBe(false)
  screen.write('second\n')
  expect(terminal.shown).toEqual(['first', 'second', 'a 1%', 'b 2%'])
  screen.draw(() => ['a'.repeat(30)])
  expect(terminal.shown).toEqual(['first', 'second', 'a'.repeat(19)])
  screen.close()
  screen.write('last\n')
  expect(terminal.shown).toEqual(['first', 'second', 'last', ''])
  expect(terminal.isCursorShown).toBe(true)
})

test.each([true, false])('no row is left behind at another width, where lines are wrapped anew: %s', reflows => {
  const terminal = new TerminalModel(80, { reflows })
  const screen = new Screen(terminal)
  const rows = ['eth', 'polygon', 'base', 'solana devnet']
  screen.write('a line of the log\n')
  screen.draw(width => rows.map(name => `${name} ${'='.repeat(200)}`.slice(0, width)))
  for (const columns of [50, 120, 33, 80]) {
    terminal.resize(columns)
    screen.redraw()
    expect(terminal.shown).toEqual([
      'a line of the log',
      ...rows.map(name => `${name} ${'='.repeat(200)}`.slice(0, columns - 1)),
    ])
  }
})

test('a foot that is higher than the terminal is cut, so that all of it can be erased', () => {
  const terminal = new TerminalModel(20, { reflows: true })
  terminal.rows = 4
  const screen = new Screen(terminal)
  screen.draw(() => ['1', '2', '3', '4', '5'])
  expect(terminal.shown).toEqual(['1', '2', '3'])
})
