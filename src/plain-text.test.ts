import { expect, test } from 'vitest'
import { plainName, plainText } from './plain-text.ts'

test.each([
  ['Bored Ape Yacht Club', 'Bored Ape Yacht Club'],
  ['usd\u202ecoin\u202c', 'usdcoin'],
  ['\u2066a\u2069\u200fb\u061cc', 'abc'],
  ['a\r\nb\u0007\u001b[31mc\u2028d\u0000\u009b', 'ab[31mcd'],
  ['👩‍🚀 नमस्ते 日本', '👩‍🚀 नमस्ते 日本'],
])('%j becomes %j', (text, plain) => {
  expect(plainText(text)).toBe(plain)
})

test('a name loses what changes the direction of others, and nothing else', () => {
  expect(plainName('usd\u202eniocsd')).toBe('usdniocsd')
  expect(plainName('👩‍🚀 नमस्ते "日本"')).toBe('👩‍🚀 नमस्ते "日本"')
})
