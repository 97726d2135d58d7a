import { expect, test } from 'vitest'
import { BlocksInTime } from './blocks-in-time.ts'

test('as many blocks as fit into a second, by steps of two, and a quarter after a thread ended', () => {
  const blocks = new BlocksInTime(512)
  expect([blocks.of('transfers'), blocks.of('full')]).toEqual([512, 8])
  blocks.learn('full', 8, 10)
  expect(blocks.of('full')).toBe(16)
  blocks.learn('full', 16, 4_000)
  expect(blocks.of('full')).toBe(8)
  expect(blocks.tooMany('transfers', 400)).toBe(100)
  expect(blocks.of('transfers')).toBe(100)
  // What was smaller than what is allowed anyway says nothing of more.
  expect(blocks.tooMany('full', 100)).toBe(25)
  expect(blocks.of('full')).toBe(8)
  for (let round = 0; round < 20; round++) blocks.learn('full', blocks.of('full'), 1)
  expect(blocks.of('full')).toBe(512)
})
