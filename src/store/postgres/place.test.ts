import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Position } from '../../model.ts'
import {
  batchIndexOf,
  boundOf,
  isAfter,
  logIndexOf,
  placeHigh,
  placeLow,
  requireFits,
  transactionIndexOf,
} from './place.ts'

const stored: fc.Arbitrary<Position> = fc.record({
  block: fc.nat(2 ** 31 - 2),
  transactionIndex: fc.nat(2 ** 20 - 1),
  logIndex: fc.nat(2 ** 23 - 1),
  batchIndex: fc.nat(2 ** 20 - 2),
})
/** Whatever a cursor may carry, neighbours of stored positions included. */
const asked = fc.oneof(
  fc.record({
    block: fc.maxSafeNat(),
    transactionIndex: fc.maxSafeNat(),
    logIndex: fc.maxSafeNat(),
    batchIndex: fc.integer({ min: -1, max: Number.MAX_SAFE_INTEGER }),
  }),
  fc
    .tuple(stored, fc.integer({ min: -1, max: 2 ** 33 }))
    .map(([position, batchIndex]) => ({ ...position, batchIndex })),
  fc.tuple(stored, fc.maxSafeNat()).map(([position, logIndex]) => ({ ...position, logIndex })),
  fc.tuple(stored, fc.maxSafeNat()).map(([position, transactionIndex]) => ({ ...position, transactionIndex })),
)

function compare(a: Position, b: Position): number {
  return (
    a.block - b.block ||
    a.transactionIndex - b.transactionIndex ||
    a.logIndex - b.logIndex ||
    a.batchIndex - b.batchIndex
  )
}

describe('places', () => {
  test('come back as they were packed, and are what bounds are compared with', () => {
    fc.assert(
      fc.property(stored, position => {
        requireFits(position)
        const high = placeHigh(position)
        const low = placeLow(position)
        expect({
          block: position.block,
          transactionIndex: transactionIndexOf(high),
          logIndex: logIndexOf(high, low),
          batchIndex: batchIndexOf(low),
        }).toEqual(position)
        expect(boundOf(position)).toEqual({ block: position.block, place: (BigInt(high) << 32n) + BigInt(low) })
      }),
    )
  })

  test('any asked position stands on the right side of every stored one', () => {
    fc.assert(
      fc.property(asked, stored, fc.boolean(), (position, other, near) => {
        const row = near ? { ...other, block: Math.min(position.block, 2 ** 31 - 2) } : other
        const order = compare(row, position)
        expect(isAfter(boundOf(row), boundOf(position))).toBe(order > 0)
        expect(isAfter(boundOf(position), boundOf(row))).toBe(order < 0)
      }),
      { numRuns: 1_000 },
    )
  })

  test('what does not fit is refused, not stored elsewhere', () => {
    const position = { block: 1, transactionIndex: 1, logIndex: 1, batchIndex: 1 }
    for (const beyond of [
      { block: 2 ** 31 - 1 },
      { transactionIndex: 2 ** 20 },
      { logIndex: 2 ** 23 },
      { batchIndex: 2 ** 20 },
    ])
      expect(() => requireFits({ ...position, ...beyond })).toThrow(/does not fit into a PostgreSQL store/)
  })
})
