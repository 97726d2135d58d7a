import { expect, test } from 'vitest'
import type { Address } from '../../model.ts'
import { ContractQueue } from './contract-annotator.ts'

const contract = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address

test('those that were asked for come first, then those that changed last; each once', () => {
  const queue = new ContractQueue()
  for (const index of [1, 2, 3, 2]) queue.change(contract(index))
  queue.ask(contract(9))
  queue.ask(contract(1))
  expect(queue.take(3)).toEqual([contract(9), contract(1), contract(3)])
  expect(queue.take(3)).toEqual([contract(2)])
  expect(queue.length).toBe(0)
})

test('both lines are bounded', () => {
  const queue = new ContractQueue({ askedMax: 1, changedMax: 4 })
  expect([queue.ask(contract(1)), queue.ask(contract(2)), queue.ask(contract(1))]).toEqual([true, false, true])
  for (let index = 10; index < 100; index++) queue.change(contract(index))
  expect(queue.length).toBeLessThanOrEqual(9)
  expect(queue.take(2)).toEqual([contract(1), contract(99)])
})
