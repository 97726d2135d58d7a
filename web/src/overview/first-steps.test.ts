// Which first steps are left to do, by what the service tells.
import { expect, test } from 'vitest'
import { firstSteps } from './first-steps.ts'

function left(head: number, requests: number, otherKeys: number | undefined): string[] {
  const told = { chains: { eth: { head } }, solana: {} } as never
  const past = { lines: [{ measure: 'requests_per_second' as const, values: [null, 0, requests] }] }
  return firstSteps({ told, past, otherKeys }).flatMap(({ title, isDone }) => (isDone ? [] : [title]))
}

test('each step is done by what the service tells, and that of keys is left out where they may not be seen', () => {
  expect(left(-1, 0, 0)).toEqual(['Reach a chain', 'Create a key for your application', 'Send a request with it'])
  expect(left(7, 0, 0)).toEqual(['Create a key for your application', 'Send a request with it'])
  expect(left(7, 0, undefined)).toEqual(['Send a request'])
  expect(left(7, 3, 1)).toEqual([])
  expect(left(7, 3, undefined)).toEqual([])
})
