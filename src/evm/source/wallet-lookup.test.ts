import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstBlockWhere } from './wallet-lookup.ts'

test('finds the first block wherever it is, in few batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(20_000_000), fc.nat(20_000_000), fc.nat(20_000_000), async (a, b, first) => {
      const interval = { from: Math.min(a, b), to: Math.max(a, b) }
      let batches = 0
      const found = await firstBlockWhere(async blocks => {
        batches++
        expect(blocks.length).toBeLessThanOrEqual(15)
        expect(blocks.every(block => block >= interval.from && block <= interval.to)).toBe(true)
        return blocks.map(block => block >= first)
      }, interval)
      expect(found).toBe(first > interval.to ? undefined : Math.max(first, interval.from))
      expect(batches).toBeLessThanOrEqual(8)
    }),
  )
})

test('an empty interval has no first block', async () => {
  expect(await firstBlockWhere(async blocks => blocks.map(() => true), { from: 5, to: 4 })).toBeUndefined()
})
