// Stretches cover every address once, whatever was read and whatever changed. No store is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from '../model.ts'
import { bytesOfHex } from '../store/bytes.ts'
import { everyAddress } from '../store/label-changes.ts'
import { LabelSegment } from './label-segment.ts'
import { addressAfter, type LabelStretch, LabelStretches } from './label-stretches.ts'

const segment = () => new LabelSegment([], { withTexts: true })
// Many that are alike in their first bytes, as addresses are that were chosen for their looks.
const address = fc
  .tuple(fc.constantFrom('00000000', '0000abcd', '12345678', 'ffffffff'), fc.nat(3), fc.nat(3))
  .map(([start, middle, end]) => `0x${start}${`${middle}`.repeat(24)}${`${end}`.repeat(8)}` as Address)
const ends = fc.uniqueArray(address, { maxLength: 30 }).map(found => found.toSorted())

function stretchesOf(lasts: readonly Address[], isRead: (index: number) => boolean): LabelStretches {
  const all: LabelStretch[] = []
  let first: Address = everyAddress.first
  for (const [index, last] of [...lasts, everyAddress.last].entries()) {
    all.push({ first, last, segment: isRead(index) ? segment() : undefined })
    first = addressAfter(last)!
  }
  return new LabelStretches(all)
}

function expectWhole({ all }: LabelStretches): void {
  expect([all[0]!.first, all.at(-1)!.last]).toEqual([everyAddress.first, everyAddress.last])
  for (const [index, { first }] of all.slice(1).entries()) expect(first).toBe(addressAfter(all[index]!.last))
}

test('finds the stretch of an address', () => {
  fc.assert(
    fc.property(ends, fc.array(address), (lasts, asked) => {
      const stretches = stretchesOf(lasts, () => true)
      for (const one of [...asked, ...lasts, everyAddress.first, everyAddress.last]) {
        const { first, last } = stretches.all[stretches.indexOf(bytesOfHex(one), 0)]!
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
      const before = stretchesOf(lasts, isRead)
      const after = before.without(changed)
      expectWhole(after)
      const touches = (stretch: LabelStretch) =>
        changed.some(({ first, last }) => first <= stretch.last && stretch.first <= last)
      for (const stretch of after.all) if (touches(stretch)) expect(stretch.segment).toBeUndefined()
      for (const stretch of before.all)
        if (stretch.segment !== undefined && !touches(stretch)) expect(after.all).toContain(stretch)
      // What is being read for a stretch that changed must find no place.
      for (const stretch of before.all) if (touches(stretch)) expect(after.all).not.toContain(stretch)
    }),
  )
})

test('what was read takes the place of what was unknown', () => {
  const whole = new LabelStretches()
  expect([whole.isEmpty, whole.unread]).toEqual([false, whole.all[0]])
  const middle = `0x${'7'.repeat(40)}` as Address
  const read = { first: everyAddress.first, last: middle, segment: segment() }
  const rest = { first: addressAfter(middle)!, last: everyAddress.last, segment: undefined }
  const half = whole.with(whole.all[0]!, [read, rest])
  expectWhole(half)
  expect(half.unread).toBe(rest)
  expect(half.with(whole.all[0]!, [])).toEqual(half)
  expect(half.with(rest, [{ ...rest, segment: segment() }]).isEmpty).toBe(true)
})
