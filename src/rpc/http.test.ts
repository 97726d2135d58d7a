import { expect, test } from 'vitest'
import { retryAfterOf } from './http.ts'

const nowMs = Date.parse('2030-01-01T00:00:00Z')

test.each([
  ['2', 2_000],
  ['0', 0],
  ['0.5', 500],
  ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
  [['7', '9'], 7_000],
  ['Mon, 31 Dec 2029 23:59:00 GMT', undefined],
  ['99999999999', 600_000],
  ['Wed, 01 Jan 2250 00:00:00 GMT', 600_000],
  ['1e999', undefined],
  ['-1', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('%j asks for %s ms', (header, expected) => {
  expect(retryAfterOf(header, nowMs)).toBe(expected)
})
