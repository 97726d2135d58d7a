// What is said of when a key was used, when it ends, and what replaces it.
import { expect, test } from 'vitest'
import { expiryText, lastUsedText, successorOf } from './life.ts'

const now = Date.parse('2026-11-18T13:00:00Z')

test('the last use is told by its day, and an end that is near by the time that is left', () => {
  const used = (day: string | null, created_at = '2026-09-01T00:00:00.000Z') =>
    lastUsedText({ last_used_on: day, created_at }, now)
  expect([used('2026-11-18'), used('2026-11-17'), used('2026-11-03'), used(null)]).toEqual([
    ...['today', 'yesterday', '2026-11-03', 'not in 30 days'],
  ])
  expect(used(null, '2026-11-10T00:00:00.000Z')).toBe('never')
  const ends = (moment: string | null) => expiryText({ expires_at: moment }, now)
  expect(ends('2026-11-19T12:30:00.000Z')).toBe('in 23 h 30 min')
  expect(ends('2027-02-13T12:00:00.000Z')).toBe('2027-02-13')
  expect(ends('2026-11-18T12:00:00.000Z')).toBe('2026-11-18')
  expect(ends(null)).toBe('never')
})

test('the newest key that works takes the place of the one that it replaces', () => {
  const key = (id: string, replaces_id: string | null, state = 'active') => ({ id, replaces_id, state }) as never
  const keys = [key('a', null), key('b', 'a'), key('c', 'a'), key('d', 'a', 'revoked'), key('e', 'c')]
  expect(successorOf({ id: 'a' }, keys)).toMatchObject({ id: 'c' })
  expect(successorOf({ id: 'e' }, keys)).toBeUndefined()
})
