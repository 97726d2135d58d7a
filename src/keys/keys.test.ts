import { expect, test } from 'vitest'
import { hasScope, parseExpiry } from './keys.ts'

const now = Date.parse('2026-11-15T12:00:00Z')

test.each([
  ['90d', '2027-02-13T12:00:00.000Z'],
  ['12h', '2026-11-16T00:00:00.000Z'],
  ['30m', '2026-11-15T12:30:00.000Z'],
  ['2w', '2026-11-29T12:00:00.000Z'],
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31T12:00:00+02:00', '2027-01-31T10:00:00.000Z'],
])('%s is %s', (text, moment) => {
  expect(new Date(parseExpiry(text, now)).toISOString()).toBe(moment)
})

test.each([
  '',
  '90',
  'd',
  '-1d',
  '1.5d',
  'tomorrow',
  '2027-13-01',
  '2027-01-31T12:00:00',
  '9999999d',
  '1y',
  '2027-02-29',
  '2027-04-31T00:00:00Z',
  '999999w',
])('%j is refused', text => {
  expect(() => parseExpiry(text, now)).toThrow(/neither a span nor a date/)
})

test.each(['0d', '2026-11-15', '2026-11-15T12:00:00Z'])('%s has passed', text => {
  expect(() => parseExpiry(text, now)).toThrow(/has passed already/)
})

test('a key that has all that there was at first has what came later too', () => {
  const first = { scopes: ['nft-transfers', 'wallet-chains', 'portfolio'] }
  for (const scope of ['nft-holdings', 'balances'] as const) {
    expect(hasScope(first, scope)).toBe(true)
    expect(hasScope({ scopes: ['nft-transfers', 'portfolio'] }, scope)).toBe(false)
    expect(hasScope({ scopes: [scope] }, scope)).toBe(true)
  }
  expect(hasScope(first, 'ops')).toBe(false)
  expect(hasScope({ scopes: [] }, 'any')).toBe(true)
})
