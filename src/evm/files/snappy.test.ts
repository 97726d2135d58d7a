import fc from 'fast-check'
import { expect, test } from 'vitest'
import { frame } from '../../../test/history-writer.ts'
import { UnreadableFile } from './e2store.ts'
import { maskedCrc, unframe } from './snappy.ts'

const identifier = Buffer.from('ff060000734e61507059', 'hex')

test('the checksum is CRC32C, masked', () => {
  // The check value of CRC32C, 0xe3069283, turned by 15 bits and moved by the constant of the format.
  const crc = 0xe3069283
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
  const bytes = Buffer.from('0123456789')
  expect(maskedCrc(bytes, 1, 10)).toBe(masked)
})

test('what was framed comes out again, whatever it is', () => {
  const few = fc.array(fc.constantFrom(0, 1, 255), { maxLength: 300 })
  const repeated = fc.tuple(fc.uint8Array({ maxLength: 90 }), fc.nat(1_200))
  fc.assert(
    fc.property(few, repeated, (some, [part, times]) => {
      const bytes = Buffer.concat([Buffer.from(some), ...Array.from({ length: times }, () => part), Buffer.from(some)])
      expect(unframe(frame(bytes)).equals(bytes)).toBe(true)
    }),
    { numRuns: 40 },
  )
  expect(unframe(identifier)).toHaveLength(0)
})

test('copies may overlap what they write, with offsets of one, two and four bytes', () => {
  const chunk = (elements: string, expected: string): Buffer => {
    const plain = Buffer.from(expected, 'latin1')
    const data = Buffer.concat([Buffer.of(plain.length), Buffer.from(elements, 'hex')])
    const header = Buffer.alloc(8)
    header.writeUIntLE(data.length + 4, 1, 3)
    header.writeUInt32LE(maskedCrc(plain, 0, plain.length), 4)
    return Buffer.concat([identifier, header, data])
  }
  expect(unframe(chunk('00611501', 'aaaaaaaaaa')).toString()).toBe('aaaaaaaaaa')
  expect(unframe(chunk('0461621e0200', 'ababababab')).toString()).toBe('ababababab')
  expect(unframe(chunk('0461621f02000000', 'ababababab')).toString()).toBe('ababababab')
  for (const wrong of ['00611502', '006115', '0061', '00611501ff', '00611901', '0061150100'])
    expect(() => unframe(chunk(wrong, 'aaaaaaaaaa')), wrong).toThrow(UnreadableFile)
})

test('padding and skippable chunks are passed over, reserved ones refused', () => {
  const framed = frame(Buffer.from('some bytes'))
  const skippable = Buffer.from('80020000abcdfe010000ff', 'hex')
  expect(unframe(Buffer.concat([framed, skippable])).toString()).toBe('some bytes')
  expect(() => unframe(Buffer.concat([framed, Buffer.from('02000000', 'hex')]))).toThrow('unknown type 2')
  expect(() => unframe(framed.subarray(10))).toThrow('not in Snappy frames')
})

test('a flipped bit and a missing end are noticed', () => {
  const bytes = Buffer.from('a transfer of a transfer of a transfer of nothing at all')
  const framed = frame(bytes)
  for (let bit = 0; bit < 8 * framed.length; bit++) {
    const flipped = Buffer.from(framed)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    // A chunk that becomes a skippable one leaves nothing.
    if (bit === 8 * identifier.length + 7) expect(unframe(flipped)).toHaveLength(0)
    else expect(() => unframe(flipped), `bit ${bit}`).toThrow(UnreadableFile)
  }
  for (let length = 1; length < framed.length; length++) {
    // The identifier alone is frames of nothing.
    if (length === identifier.length) continue
    expect(() => unframe(framed.subarray(0, length)), `${length} bytes`).toThrow(UnreadableFile)
  }
})
