import { expect, test } from 'vitest'
import { streamFormOf } from './stream-form.ts'

test.each([
  [undefined, undefined],
  ['*/*', undefined],
  ['application/json, text/plain, */*', undefined],
  ['text/csv', 'csv'],
  ['Text/CSV; charset=utf-8', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['text/csv, */*;q=0.1', 'csv'],
  ['text/csv, */*', 'csv'],
  ['text/csv;q=0.5, */*', undefined],
  ['text/csv;q=0.5, application/*', undefined],
  ['text/csv;q=0.5, application/json;q=0.1, */*', 'csv'],
  ['text/csv, application/json', undefined],
  ['text/csv;q=0.9, application/json;q=0.8', 'csv'],
  ['text/csv;q=0.5, application/json', undefined],
  ['text/csv;q=0.5, application/x-ndjson', 'ndjson'],
  ['text/csv;q=0', undefined],
  ['text/csv;q=none', undefined],
  ['text/csvx', undefined],
] as const)('Accept: %s', (accept, form) => {
  expect(streamFormOf(accept)).toBe(form)
})
