import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ActivityRow, Address, Hash, TransactionRef } from '../model.ts'
import {
  activityCount,
  activityOfBlock,
  isEarlier,
  joinActivity,
  mergePacked,
  noActivity,
  packActivity,
  unpackActivity,
} from './packed-activity.ts'

/** The hash follows from the place, as it does within one chain. */
const ref = fc
  .record({
    block: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
    transactionIndex: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 ** 22 - 1 })),
  })
  .map(({ block, transactionIndex }): TransactionRef => {
    const hash = `0x${((block * 7 + transactionIndex) % 2 ** 31).toString(16).padStart(64, '0')}` as Hash
    return { block, transactionIndex, hash, timestamp: (block * 5) % 2 ** 34 }
  })
// Alike in their first bytes, so that these alone do not tell them apart.
const address = fc
  .tuple(fc.constantFrom('00000000', 'ffffffff', '7fffffff'), fc.integer({ min: 0, max: 5 }))
  .map(([head, tail]) => `0x${head}${tail.toString(16).padStart(32, '0')}` as Address)
const row = fc.record({ address, a: ref, b: ref }).map(({ address, a, b }): ActivityRow => {
  const [first, last] = isEarlier(b, a) ? [b, a] : [a, b]
  return { address, first, last }
})
const rows = fc.array(row, { maxLength: 60 })

/** One row for each address, sorted: what merging packed rows must give, written plainly. */
function mergedByAddress(rows: readonly ActivityRow[]): ActivityRow[] {
  const byAddress = new Map<Address, ActivityRow>()
  for (const row of rows) {
    const known = byAddress.get(row.address) ?? row
    byAddress.set(row.address, {
      address: row.address,
      first: isEarlier(row.first, known.first) ? row.first : known.first,
      last: isEarlier(known.last, row.last) ? row.last : known.last,
    })
  }
  return [...byAddress.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
}

describe('packed activity', () => {
  test('comes out as it went in', () => {
    fc.assert(
      fc.property(rows, given => {
        expect(unpackActivity(packActivity(given))).toEqual(given)
      }),
    )
  })

  test('merges as rows do, however it is cut and joined', () => {
    fc.assert(
      fc.property(rows, rows, (some, others) => {
        const merged = mergePacked(joinActivity([packActivity(some), noActivity, packActivity(others)]))
        expect(unpackActivity(merged)).toEqual(mergedByAddress([...some, ...others]))
        expect(mergePacked(merged)).toEqual(merged)
      }),
    )
  })

  test('gives the rows of one block', () => {
    const at = (block: number): TransactionRef => ({
      block,
      transactionIndex: 1,
      hash: `0x${'a'.repeat(64)}` as Hash,
      timestamp: 1,
    })
    const of = (block: number, wallet: string): ActivityRow => {
      return { address: `0x${wallet.repeat(40)}` as Address, first: at(block), last: at(block) }
    }
    const packed = packActivity([of(5, '1'), of(5, '2'), of(7, '3')])
    const five = activityOfBlock(packed, 5, 0)
    expect(unpackActivity(five).map(row => row.first.block)).toEqual([5, 5])
    expect(activityCount(activityOfBlock(packed, 6, five.length))).toBe(0)
    expect(activityCount(activityOfBlock(packed, 7, five.length))).toBe(1)
  })

  test.each([
    { block: 2 ** 32, transactionIndex: 0, timestamp: 0 },
    { block: 0, transactionIndex: 2 ** 22, timestamp: 0 },
    { block: 0, transactionIndex: 0, timestamp: 2 ** 34 },
  ])('refuses what does not fit: %j', place => {
    const ref = { ...place, hash: `0x${'a'.repeat(64)}` as Hash }
    const given = [{ address: `0x${'1'.repeat(40)}` as Address, first: ref, last: ref }]
    expect(() => packActivity(given)).toThrow(expect.objectContaining({ code: 'store_failed' }))
  })
})
