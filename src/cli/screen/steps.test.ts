import { expect, test } from 'vitest'
import { Steps } from './steps.ts'

function written(isTTY: boolean, unicode: boolean): string[] {
  const lines: string[] = []
  const steps = new Steps({ output: { isTTY, columns: 80, write: (text: string) => lines.push(text) > 0 }, unicode })
  for (const name of ['eth', 'polygon', 'solana']) steps.take(name, 'starting')
  for (const name of ['eth', 'solana', 'polygon']) steps.take(name, 'ready')
  steps.close()
  return lines
}

test('on a terminal one line says which chains are ready', () => {
  const lines = written(true, true)
  expect(lines[3]).toContain('\r\u001b[K')
  expect(lines[3]).toMatch(/Starting {2}eth ✓ {2}polygon [⠋-⠿] {2}solana [⠋-⠿] {2}0 s$/)
  expect(lines.at(-1)).toBe('\r\u001b[KStarted  eth ✓  polygon ✓  solana ✓  0 s\n')
  expect(written(true, false).at(-1)).toContain('eth ok  polygon ok  solana ok')
})

test('elsewhere each has a line of its own, without anything that a terminal obeys', () => {
  expect(written(false, true)).toEqual([
    'eth ready after 0 s\n',
    'solana ready after 0 s\n',
    'polygon ready after 0 s\n',
  ])
})
