// Sorted sequences and members joined, against sets and sorting.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinSorted } from './join-sorted.ts'
import { hasMember, joinMembers, packMembers } from './members.ts'

const sequences = fc.array(fc.array(fc.nat({ max: 60 }), { size: 'medium' }), { maxLength: 20, size: 'medium' })

function counted(numbers: readonly number[]): { number: number; times: number }[] {
  return [...Map.groupBy(numbers, number => number)]
    .map(([number, same]) => ({ number, times: same.length }))
    .sort((a, b) => a.number - b.number)
}

test('sequences join in order, and what is equal becomes one', () => {
  fc.assert(
    fc.property(sequences, lists => {
      const joined = joinSorted(
        lists.map(counted),
        (a, b) => a.number - b.number,
        (a, b) => ({ number: a.number, times: a.times + b.times }),
      )
      expect([...joined]).toEqual(counted(lists.flat()))
    }),
  )
})

test('whoever stops early ends every sequence', () => {
  let ended = 0
  function* endless(first: number): Generator<number> {
    try {
      for (let number = first; ; number++) yield number
    } finally {
      ended++
    }
  }
  for (const number of joinSorted(
    [endless(0), endless(3), endless(5)],
    (a, b) => a - b,
    a => a,
  ))
    if (number === 9) break
  expect(ended).toBe(3)
})

const members = fc.oneof(
  fc.uniqueArray(fc.nat({ max: 300 }), { size: 'medium' }),
  fc.uniqueArray(fc.integer({ min: 100_000, max: 100_900 }), { size: 'medium' }),
  fc.uniqueArray(fc.nat({ max: 3_000_000 })),
)

test('members of many runs are those of one of them, in the same bytes', () => {
  fc.assert(
    fc.property(fc.array(members, { maxLength: 16 }), lists => {
      const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b)
      const expected = sorted(new Set(lists.flat()))
      const joined = joinMembers(lists.map(numbers => packMembers(sorted(numbers))))
      expect(joined).toEqual(packMembers(expected))
      for (const number of expected) expect(hasMember(joined, number)).toBe(true)
      for (const number of [0, 7, 301, 100_901, 3_000_001])
        expect(hasMember(joined, number)).toBe(expected.includes(number))
    }),
  )
})
