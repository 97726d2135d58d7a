import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TerminalModel } from '../../../test/terminal-model.ts'
import { Steps } from './steps.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function onTerminal(columns: number, unicode = true) {
  const terminal = new TerminalModel(columns, { reflows: true })
  const output = { isTTY: true, columns, rows: 24, write: terminal.write }
  return { steps: new Steps({ output, unicode }), terminal }
}

test('on a terminal each part says what it does, and one line stays', () => {
  const { steps, terminal } = onTerminal(80)
  steps.take('eth', 'starting the node')
  steps.take('solana', 'filling wallets')
  vi.advanceTimersByTime(4_000)
  steps.take('solana', 'ready')
  steps.take('eth', 'mining history, 240 of 600 blocks')
  expect(terminal.shown).toEqual([
    expect.stringMatching(/^ {2}[⠋-⠿] eth {5}mining history, 240 of 600 blocks$/),
    '  ✓ solana  4 s',
  ])
  vi.advanceTimersByTime(2_000)
  steps.take('eth', 'ready')
  steps.close()
  expect(terminal.shown).toEqual(['✓ eth, solana ready after 6 s', ''])
  expect(terminal.isCursorShown).toBe(true)
  const ascii = onTerminal(80, false)
  ascii.steps.take('eth', 'ready')
  expect(ascii.terminal.shown).toEqual(['  ok eth  0 s'])
  ascii.steps.close()
})

test('what is stopped while it starts does not look ready', () => {
  const { steps, terminal } = onTerminal(80)
  steps.take('service', 'ready')
  steps.close({ isStopped: true })
  expect(terminal.shown).toEqual(['Stopped. Nothing is left running.', ''])
  expect(terminal.isCursorShown).toBe(true)
})

test('the spinner turns, and a late start says so, also where the terminal is narrow', () => {
  const { steps, terminal } = onTerminal(60)
  steps.take('eth', 'starting the node')
  const before = terminal.shown
  vi.advanceTimersByTime(100)
  expect(terminal.shown).not.toEqual(before)
  expect(terminal.shown).toHaveLength(1)
  vi.advanceTimersByTime(20_000)
  expect(terminal.shown[1]).toBe('  Still starting after 20 s; it may take a minute.')
  steps.close()
})

test('elsewhere each part has a line, nothing that a terminal obeys, and no silence', () => {
  const lines: string[] = []
  const write = (text: string) => lines.push(text) > 0
  const steps = new Steps({ output: { isTTY: false, columns: 80, rows: 24, write }, unicode: true })
  for (const name of ['eth', 'base', 'solana']) steps.take(name, 'starting the node')
  steps.take('eth', 'mining history, 240 of 600 blocks')
  steps.take('base', 'mining history, 250 of 600 blocks')
  vi.advanceTimersByTime(3_100)
  steps.take('solana', 'ready')
  vi.advanceTimersByTime(18_500)
  steps.take('eth', 'ready')
  steps.close()
  vi.advanceTimersByTime(10_000)
  expect(lines[0]).toBe('Still starting after 3 s: mining history (eth, base), starting the node (solana)\n')
  expect(lines[1]).toBe('solana ready after 3 s\n')
  expect(lines.slice(-2)).toEqual([
    'Still starting after 21 s; it may take a minute: mining history (eth, base)\n',
    'eth ready after 22 s\n',
  ])
  expect(lines).toHaveLength(9)
})

test('where each part does something else, a line names them alone', () => {
  const lines: string[] = []
  const write = (text: string) => lines.push(text) > 0
  const steps = new Steps({ output: { isTTY: false, columns: 80, rows: 24, write }, unicode: true })
  steps.take('polygon', 'deploying the contracts of the collections')
  steps.take('base', 'mining the history of the collections')
  steps.take('solana', 'filling the wallets of the accounts')
  vi.advanceTimersByTime(3_100)
  steps.close()
  expect(lines[0]).toBe('Still starting after 3 s: polygon, base, solana\n')
})
