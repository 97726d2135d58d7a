import { expect, test } from 'vitest'
import type { Interval } from '../../model.ts'
import { WorkList } from './work-list.ts'

test('nothing is handed out across the ends of what is kept apart, not even what was given back', () => {
  const work = new WorkList([{ from: 0, to: 50 }], [{ from: 10, to: 25 }])
  const taken: Interval[] = []
  for (let next = work.take(16); next !== undefined; next = work.take(16)) taken.push(next)
  expect(taken.map(({ from, to }) => `${from}-${to}`)).toEqual(['35-50', '26-34', '10-25', '0-9'])
  for (const interval of taken) work.add(interval)
  expect([work.take(100), work.take(100), work.take(100), work.take(100)]).toEqual([
    { from: 26, to: 50 },
    { from: 10, to: 25 },
    { from: 0, to: 9 },
    undefined,
  ])
})
