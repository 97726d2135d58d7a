import { expect, test } from 'vitest'
import { CallBudget, callsPerSecond } from './contract-reader.ts'

test('a share of what was allowed, the least of all bounds', () => {
  expect(callsPerSecond({ isPrivate: true })).toBe(Number.POSITIVE_INFINITY)
  expect(callsPerSecond({ isPrivate: false })).toBe(10)
  expect(callsPerSecond({ isPrivate: false, requestsPerSecond: 20 })).toBe(2)
  expect(callsPerSecond({ isPrivate: true, requestsPerSecond: 500, requestsPerDay: 86_400 })).toBe(0.1)
})

test('calls are paid for before the next ones are made', async () => {
  const { signal } = new AbortController()
  const budget = new CallBudget(1_000, () => 0)
  const started = performance.now()
  await budget.take(50, signal)
  await budget.take(1, signal)
  expect(performance.now() - started).toBeGreaterThanOrEqual(45)
  await new CallBudget(Number.POSITIVE_INFINITY).take(1_000_000, signal)
})
