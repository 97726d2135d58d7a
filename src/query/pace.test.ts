import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

test('of all long work one step is done in each turn of the event loop', async () => {
  const paces = ['a', 'b', 'c'].map(name => ({ name, pace: new Pace() }))
  const since = performance.now()
  while (performance.now() - since < 5);
  const seen: string[] = []
  const works = paces.map(async ({ name, pace }) => {
    await pace.rest()
    seen.push(name)
  })
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    seen.push('a turn')
  }
  await Promise.all(works)
  expect(seen).toEqual(['a', 'a turn', 'b', 'a turn', 'c', 'a turn'])
})

test('short work does not wait', () => {
  expect(new Pace().rest()).toBeUndefined()
})
