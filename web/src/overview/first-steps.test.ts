// Which first steps are left to do, by what the service tells.
import { expect, test } from 'vitest'
import type { LiveStatus } from '../state/live.ts'
import { firstSteps } from './first-steps.ts'

const told = (head: number, requests: number) =>
  ({ chains: { eth: { head } }, solana: {}, api: { requests_today: requests } }) as unknown as LiveStatus
const left = (...given: Parameters<typeof firstSteps>) =>
  firstSteps(...given).flatMap(({ title, isDone }) => (isDone ? [] : [title]))

test('each step is done by what the service tells, and that of keys is left out where they may not be seen', () => {
  expect(left(told(-1, 0), 0)).toEqual(['Reach a chain', 'Send a request', 'Create a key for your application'])
  expect(left(told(7, 0), 0)).toEqual(['Send a request', 'Create a key for your application'])
  expect(left(told(7, 3), 1)).toEqual([])
  expect(left(told(7, 3), undefined)).toEqual([])
})
