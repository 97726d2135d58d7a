import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createMetrics } from '../../metrics.ts'
import { OpenStreams } from './open-streams.ts'

test('one list goes on in each turn, and others have theirs in between', async () => {
  const streams = new OpenStreams({ max: 4, metrics: createMetrics().streams })
  const seen: string[] = []
  const lists = ['a', 'b', 'c'].map(async name => {
    await streams.turn()
    seen.push(name)
  })
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    seen.push('a turn')
  }
  await Promise.all(lists)
  expect(seen).toEqual(['a', 'a turn', 'b', 'a turn', 'c', 'a turn'])
})

test('a place that is given back twice is free once', () => {
  const streams = new OpenStreams({ max: 2, metrics: createMetrics().streams })
  const close = streams.open('a')
  expect(() => streams.open('a')).toThrow('already')
  streams.open('b')
  expect(() => streams.open('c')).toThrow('2 whole lists are sent already')
  close()
  close()
  streams.open('c')
  expect(() => streams.open('d')).toThrow('2 whole lists are sent already')
})
