import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import { putDate, putDecimal, putHex, putNumber, putTime, secondsPerDay } from './json-bytes.ts'

const written = (put: (out: Buffer) => number) => {
  const out = Buffer.alloc(200)
  return out.toString('latin1', 0, put(out))
}

function decimalOf(value: bigint, offset: number): string {
  const hex = value === 0n ? '' : value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  const source = Buffer.concat([Buffer.alloc(offset, 255), bytes, Buffer.alloc(3, 255)])
  return written(out => putDecimal(out, 0, source, offset, bytes.length))
}

describe('decimal text', () => {
  test.each([0n, 1n, 9n, 10n, 999_999_999n, 10n ** 9n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 10n ** 18n, 10n ** 27n])(
    'of %s',
    value => {
      expect(decimalOf(value, 0)).toBe(`${value}`)
    },
  )

  test('of any integer of up to 32 bytes is that of a BigInt', () => {
    const value = fc.integer({ min: 1, max: 256 }).chain(bits => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }))
    const round = fc.tuple(fc.nat(77), fc.integer({ min: -1, max: 1 })).map(([power, by]) => {
      const near = 10n ** BigInt(power) + BigInt(by)
      return near < 2n ** 256n ? near : 0n
    })
    fc.assert(
      fc.property(fc.oneof(value, round), fc.nat(3), (integer, offset) => {
        expect(decimalOf(integer, offset)).toBe(`${integer}`)
      }),
      { numRuns: propertyRuns(5_000) },
    )
    expect(decimalOf(2n ** 256n - 1n, 1)).toBe(`${2n ** 256n - 1n}`)
  })

  test('of any whole number is its own', () => {
    const near = fc
      .tuple(fc.nat(15), fc.integer({ min: -1, max: 1 }))
      .map(([power, by]) => Math.max(0, 10 ** power + by))
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), near), number => {
        expect(written(out => putNumber(out, 0, number))).toBe(`${number}`)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })
})

test('hex of any bytes, wherever they stand', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(5), fc.nat(5), (bytes, from, to) => {
      const source = Buffer.concat([Buffer.alloc(from), bytes])
      const out = Buffer.alloc(to + 40)
      putHex(new DataView(out.buffer, out.byteOffset), to, new DataView(source.buffer, source.byteOffset), from, 20)
      expect(out.toString('latin1', to)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})

test('dates of days', () => {
  const dateOf = (day: number) =>
    written(out => {
      putDate(Object.assign(out, { 4: 45, 7: 45 }), 0, day)
      return 10
    })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_932_896 }), day => {
      expect(dateOf(day)).toBe(new Date(day * secondsPerDay * 1_000).toISOString().slice(0, 10))
    }),
    { numRuns: propertyRuns(3_000) },
  )
  for (let day = 10_950; day < 10_950 + 4 * 366; day++)
    expect(dateOf(day)).toBe(new Date(day * secondsPerDay * 1_000).toISOString().slice(0, 10))
})

test('times of day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), seconds => {
      const text = written(out => {
        putTime(Object.assign(out, { 2: 58, 5: 58 }), 0, seconds)
        return 8
      })
      expect(text).toBe(new Date(seconds * 1_000).toISOString().slice(11, 19))
    }),
  )
})
