import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import type { ChainId } from '../model.ts'
import { CursorSigner, cursorLengthMax, filterBytesMax, type PageCursor } from './cursor.ts'

const integer = fc.oneof(fc.maxSafeNat(), fc.nat(300))
const optional = fc.option(integer, { nil: undefined })
const digits = (bytesMax: number) =>
  fc.uint8Array({ maxLength: bytesMax }).map(bytes => Buffer.from(bytes).toString('hex'))
const cursors: fc.Arbitrary<PageCursor> = fc.record({
  chain: integer.map(id => id as ChainId),
  list: fc.constantFrom('contract-transfers' as const, 'transfers' as const, 'contract-nfts' as const),
  subject: digits(52),
  filter: digits(filterBytesMax),
  key: digits(64),
  atBlock: optional,
  fromBlock: optional,
  toBlock: optional,
  fromTime: optional,
  toTime: optional,
  order: fc.constantFrom('asc' as const, 'desc' as const),
  format: fc.constantFrom('decimal' as const, 'hex' as const),
  limit: integer,
  countTotal: fc.boolean(),
  page: integer,
  after: fc.option(fc.record({ block: integer, transactionIndex: integer, logIndex: integer, batchIndex: integer }), {
    nil: undefined,
  }),
  mayContinue: fc.boolean(),
})
const signer = new CursorSigner(new Uint8Array(32).fill(7))

describe('page cursors', () => {
  test('come back as they were sealed, within the length limit', () => {
    fc.assert(
      fc.property(cursors, cursor => {
        const text = signer.seal(cursor)
        expect(text).toMatch(/^[\w-]+$/)
        expect(text.length).toBeLessThanOrEqual(cursorLengthMax)
        expect(signer.open(text)).toEqual(cursor)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  test('are void when any character is altered, cut off or added', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= .~é\0'
    fc.assert(
      fc.property(cursors, fc.nat(), fc.constantFrom(...alphabet), (cursor, index, character) => {
        const text = signer.seal(cursor)
        const at = index % text.length
        if (text[at] !== character)
          expect(signer.open(text.slice(0, at) + character + text.slice(at + 1))).toBeUndefined()
        expect(signer.open(text.slice(0, at))).toBeUndefined()
        expect(signer.open(text + character)).toBeUndefined()
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  test('are void when any bit of any byte is altered', () => {
    fc.assert(
      fc.property(cursors, fc.nat(), fc.integer({ min: 1, max: 255 }), (cursor, index, change) => {
        const bytes = Buffer.from(signer.seal(cursor), 'base64url')
        const at = index % bytes.length
        bytes[at] = bytes[at]! ^ change
        expect(signer.open(bytes.toString('base64url'))).toBeUndefined()
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  test('are void with another secret, and for any other text', () => {
    const other = new CursorSigner(new Uint8Array(32).fill(8))
    fc.assert(
      fc.property(cursors, fc.string({ unit: 'binary' }), (cursor, text) => {
        expect(other.open(signer.seal(cursor))).toBeUndefined()
        expect(signer.open(text)).toBeUndefined()
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

test('is signed with HMAC-SHA256', () => {
  const secret = Buffer.alloc(32, 9)
  const key = createHmac('sha256', secret).update('almanac page cursor').digest()
  const signer = new CursorSigner(secret)
  fc.assert(
    fc.property(cursors, cursor => {
      const bytes = Buffer.from(signer.seal(cursor), 'base64url')
      const mac = createHmac('sha256', key).update(bytes.subarray(0, -16)).digest().subarray(0, 16)
      expect(bytes.subarray(-16).equals(mac)).toBe(true)
    }),
    { numRuns: propertyRuns(200) },
  )
})
