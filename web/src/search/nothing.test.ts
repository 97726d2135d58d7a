import { expect, test } from 'vitest'
import { nothingFound } from './nothing.ts'

test('a whole hash is told where it was looked for, and an unfinished one what it lacks', () => {
  const asked = { chains: ['eth', 'base'], names: null }
  const hash = nothingFound({ text: ` 0x${'Ab'.repeat(32)}`, ...asked })
  expect(hash.title).toBe('No chain here has a block or a transaction with this hash')
  expect(hash.advice).toMatch(/^A node of each was asked: eth, base\./)
  expect(nothingFound({ text: '0x1234', ...asked })).toEqual({
    title: 'Nothing here has “0x1234”',
    advice: 'An address has 40 digits after 0x, a hash 64. This has 4.',
  })
  expect(nothingFound({ text: 'alice', ...asked }).advice).toMatch(/^Try a whole address/)
  expect(nothingFound({ text: 'alice', chains: [], names: 'beginnings' }).advice).toMatch(/^This store has many names/)
})
