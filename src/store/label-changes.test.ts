// Changes of labels are reported as ranges that hold every changed address, or as everything. No engine is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from '../model.ts'
import { changesSince, everyAddress, packRanges } from './label-changes.ts'

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map(bytes => `0x${Buffer.from(bytes).toString('hex')}` as Address)

test('what was packed is read back, each address as a range of its own', () => {
  fc.assert(
    fc.property(fc.array(fc.array(address, { maxLength: 20 }), { maxLength: 5 }), changes => {
      const { count, ranges } = changesSince(7, 7 + changes.length, changes.map(packRanges))
      expect(count).toBe(7 + changes.length)
      const expected = changes.flatMap(addresses => [...new Set(addresses)].sort())
      expect(ranges).toEqual(expected.map(one => ({ first: one, last: one })))
    }),
  )
})

test('many addresses become one range', () => {
  const many = Array.from({ length: 10_000 }, (_, n) => `0x${(n + 5).toString(16).padStart(40, '0')}` as Address)
  const packed = packRanges(many.toReversed())
  expect(packed.length).toBe(40)
  expect(changesSince(0, 1, [packed]).ranges).toEqual([{ first: many[0], last: many.at(-1) }])
})

test('where a change is missing, or none was known before, labels may have changed anywhere', () => {
  const packed = packRanges([everyAddress.first])
  expect(changesSince(undefined, 3, []).ranges).toEqual([everyAddress])
  expect(changesSince(1, 3, [packed]).ranges).toEqual([everyAddress])
  // A store that was brought back to an earlier state.
  expect(changesSince(4, 3, []).ranges).toEqual([everyAddress])
  expect(changesSince(3, 3, []).ranges).toEqual([])
})
