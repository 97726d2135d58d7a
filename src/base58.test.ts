import { base58 } from '@scure/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../test/release-runs.ts'
import { encodeKey } from './base58.ts'

test('keys are encoded as the general encoder does', () => {
  const key = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc
      .tuple(fc.nat(32), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([zeros, bytes]) => bytes.fill(0, 0, zeros)),
    fc.constantFrom(0, 255, 1, 128).map(byte => new Uint8Array(32).fill(byte)),
  )
  fc.assert(
    fc.property(key, bytes => {
      expect(encodeKey(bytes)).toBe(base58.encode(bytes))
    }),
    { numRuns: propertyRuns(5_000) },
  )
})

test('another length is refused', () => {
  for (const length of [0, 31, 33]) expect(() => encodeKey(new Uint8Array(length))).toThrow(RangeError)
})
