// Stretches cover every address once, whatever was read and whatever changed. No store is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOfHex } from '../hex.ts'
import type { Address } from '../model.ts'
import { everyAddress } from '../store/label-changes.ts'
import { addressAfter, type LabelStretch, LabelStretches } from './label-stretches.ts'

// Many that are alike in their first bytes, as addresses are that were chosen for their looks.
const address = fc
  .tuple(fc.constantFrom('00000000', '0000abcd', '12345678', 'ffffffff'), fc.nat(3), fc.nat(3))
  .map(([start, middle, end]) => `0x${start}${`${middle}`.repeat(24)}${`${end}`.repeat(8)}` as Address)
const ends = fc.uniqueArray(address, { maxLength: 30 }).map(found => found.toSorted())

/** Each holds a record that is its number, and the hash of it. */
function stretchesOf(lasts: readonly Address[], isRead: (index: number) => boolean): LabelStretches {
  const all: LabelStretch[] = []
  let first: Address = everyAddress.first
  for (const [index, last] of [...lasts, everyAddress.last].entries()) {
    const hashes = isRead(index) ? Uint32Array.of(index) : new Uint32Array(0)
    all.push({ first, last, isRead: isRead(index), records: Uint32Array.of(index), hashes })
    first = addressAfter(last)!
  }
  return new LabelStretches(all)
}

function expectWhole({ all, unread, hashCount }: LabelStretches): void {
  expect([all[0]!.first, all.at(-1)!.last]).toEqual([everyAddress.first, everyAddress.last])
  for (const [index, { first }] of all.slice(1).entries()) expect(first).toBe(addressAfter(all[index]!.last))
  expect(unread).toBe(all.find(({ isRead }) => !isRead))
  expect(hashCount).toBe(all.reduce((sum, { hashes }) => sum + hashes.length, 0))
}

test('finds the stretch of an address', () => {
  fc.assert(
    fc.property(ends, fc.array(address), (lasts, asked) => {
      const stretches = stretchesOf(lasts, () => true)
      for (const one of [...asked, ...lasts, everyAddress.first, everyAddress.last]) {
        const { first, last } = stretches.of(bytesOfHex(one), 0)
        expect(first <= one && one <= last).toBe(true)
      }
    }),
  )
})

test('nothing that a change touches stays known, and all else does', () => {
  const ranges = fc.array(
    fc.tuple(address, address).map(([a, b]) => (a < b ? { first: a, last: b } : { first: b, last: a })),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(ends, fc.func(fc.boolean()), ranges, (lasts, isRead, changed) => {
      const stretches = stretchesOf(lasts, isRead)
      const before = [...stretches.all]
      stretches.forget(changed)
      expectWhole(stretches)
      const touches = (stretch: LabelStretch) =>
        changed.some(({ first, last }) => first <= stretch.last && stretch.first <= last)
      for (const stretch of stretches.all) if (touches(stretch)) expect(stretch.isRead).toBe(false)
      for (const stretch of before) {
        if (stretch.isRead && !touches(stretch)) expect(stretches.all).toContain(stretch)
        // What is being read for a stretch that changed must find no place.
        if (touches(stretch)) expect(stretches.has(stretch)).toBe(false)
      }
      // What the table holds stays known, in the order of addresses, to be exchanged for what is read.
      expect(stretches.all.flatMap(({ records }) => [...records])).toEqual(before.map((_, index) => index))
    }),
  )
})

test('what was read takes the place of what was unknown', () => {
  const stretches = new LabelStretches()
  const whole = stretches.unread!
  expect(stretches.all).toEqual([whole])
  const middle = `0x${'7'.repeat(40)}` as Address
  const read = { ...whole, last: middle, isRead: true }
  const rest = { ...whole, first: addressAfter(middle)! }
  stretches.replace(whole, [read, rest])
  expectWhole(stretches)
  expect([stretches.unread, stretches.has(whole), stretches.has(read)]).toEqual([rest, false, true])
  stretches.replace(rest, [{ ...rest, isRead: true }])
  expectWhole(stretches)
  expect(stretches.unread).toBeUndefined()
})
