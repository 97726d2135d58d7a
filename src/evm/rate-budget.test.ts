import { expect, test } from 'vitest'
import { pause } from '../abort.ts'
import { RateBudget } from './rate-budget.ts'

// A timer takes no more than 25 days.
test.each([1e-9, Number.MIN_VALUE])('at %d a second the second one waits, however long that is', async rate => {
  const budget = new RateBudget(rate)
  const ending = new AbortController()
  await budget.take(1, ending.signal)
  const second = budget.take(1, ending.signal).then(() => 'taken')
  expect(await Promise.race([second, pause(50, ending.signal)])).toBeUndefined()
  ending.abort()
  await second
})
