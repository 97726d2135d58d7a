import { expect, test } from 'vitest'
import { nextBlocks, ribbonText, type ShownBlock, takenBackMs } from './ribbon.ts'

const told = (branch: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, hash: `${branch}${from + at}` }))
const namesOf = (blocks: readonly ShownBlock[]) =>
  blocks.map(({ hash, takenBackAt }) => (takenBackAt === undefined ? hash : `-${hash}`))

test('new blocks are added, old ones leave, and nothing is taken back', () => {
  const first = nextBlocks([], told('a', 1, 20), 0)
  const next = nextBlocks(first, told('a', 8, 31), 1_000)
  expect(namesOf(next)).toEqual(told('a', 8, 31).map(({ hash }) => hash))
})

test('replaced blocks stay in sight beside those that took their place, and then go', () => {
  const first = nextBlocks([], told('a', 1, 5), 0)
  const replaced = nextBlocks(first, [...told('a', 1, 3), ...told('b', 4, 6)], 1_000)
  expect(namesOf(replaced)).toEqual(['a1', 'a2', 'a3', '-a4', 'b4', '-a5', 'b5', 'b6'])
  expect(ribbonText('eth', replaced)).toBe('eth: newest block 6; 2 blocks were taken back by a reorganisation.')
  const later = nextBlocks(replaced, [...told('a', 1, 3), ...told('b', 4, 7)], 1_000 + takenBackMs)
  expect(namesOf(later)).toEqual(['a1', 'a2', 'a3', 'b4', 'b5', 'b6', 'b7'])
})

test('a head that went back is seen, and a block that returns stands again', () => {
  const first = nextBlocks([], told('a', 1, 5), 0)
  const back = nextBlocks(first, told('a', 1, 4), 1_000)
  expect(namesOf(back)).toEqual(['a1', 'a2', 'a3', 'a4', '-a5'])
  expect(namesOf(nextBlocks(back, told('a', 1, 5), 2_000))).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
})
