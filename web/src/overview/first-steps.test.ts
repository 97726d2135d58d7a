// Which first steps are left to do, by what the service tells.
import { expect, test } from 'vitest'
import { firstSteps } from './first-steps.ts'

function left(head: number, requests: number, otherKeys: number | undefined, used = 0): string[] {
  // Requests of a moment are none of the day where the day tells none.
  const told = { chains: { eth: { head } }, solana: {}, api: { requests_per_second: 1, requests_today: requests } }
  return firstSteps({
    told: told as never,
    otherKeys: otherKeys === undefined ? undefined : { active: otherKeys, used },
  }).flatMap(({ title, isDone }) => (isDone ? [] : [title]))
}

test('each step is done by what the service tells, and that of keys is left out where they may not be seen', () => {
  expect(left(-1, 0, 0)).toEqual(['Reach a chain', 'Create a key for your application', 'Send a request with it'])
  expect(left(7, 0, 0)).toEqual(['Create a key for your application', 'Send a request with it'])
  expect(left(7, 0, undefined)).toEqual(['Send a request'])
  expect(left(7, 3, 1, 1)).toEqual([])
  // The operator's own key sends requests too, as the sandbox starts.
  expect(left(7, 3, 0)).toEqual(['Create a key for your application', 'Send a request with it'])
  expect(left(7, 3, 1)).toEqual(['Send a request with it'])
  expect(left(7, 3, undefined)).toEqual([])
})
