import { expect, test } from 'vitest'
import { isForeignRoot } from './probe.ts'

test('a root that never holds on whole logs is foreign', () => {
  expect(isForeignRoot(['unproven', 'unproven'])).toBe(true)
  expect(isForeignRoot(['unproven', 'proven'])).toBe(false)
  expect(isForeignRoot([])).toBe(false)
})

test('an endpoint that drops logs cannot make it so', () => {
  // Of one block it dropped a log that the bloom does not show.
  expect(isForeignRoot(['spoiled', 'unproven', 'spoiled'])).toBe(false)
})
