// Names are cleaned for display, once and for all. No list is read.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanLabel, labelCharactersMax } from './label-text.ts'

test.each([
  ['OpenSea: Wallet', 'OpenSea: Wallet', []],
  ['  Two\t  words ', 'Two words', []],
  ['👩‍👩‍👧 family', '👩‍👩‍👧 family', []],
  ['line\nbreak', 'line break', ['control characters were removed']],
  ['bell\u0007', 'bell', ['control characters were removed']],
  ['evil\u202egnp', 'evilgnp', ['invisible characters were removed']],
  ['zero\u200bwidth', 'zerowidth', ['invisible characters were removed']],
  ['e\u0301', 'é', []],
])('%j becomes %j', (given, label, notes) => {
  expect(cleanLabel(given)).toEqual({ label, notes })
})

test.each([
  ['', 'the name is empty'],
  ['  ', 'nothing of the name can be seen'],
  ['\u200b\u202e', 'nothing of the name can be seen'],
  ['a\ufffdb', 'the name is not UTF-8 text'],
  ['\ud800', 'the name is not UTF-8 text'],
])('%j cannot be a label', (given, problem) => {
  expect(cleanLabel(given)).toEqual({ problem })
})

test('a long name is cut between characters', () => {
  const cut = cleanLabel('😀'.repeat(labelCharactersMax + 1))
  expect(cut).toEqual({ label: '😀'.repeat(labelCharactersMax), notes: ['cut to 200 characters'] })
})

test('what was cleaned once is clean', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), text => {
      const once = cleanLabel(text)
      if ('problem' in once) return
      expect(cleanLabel(once.label)).toEqual({ label: once.label, notes: [] })
      expect(once.label).not.toMatch(/\p{Cc}/u)
    }),
  )
})
