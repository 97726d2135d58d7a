import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256 } from './block-hash.ts'

test('whichever implementation is at work, the digests are those of Keccak', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
      expect(Buffer.compare(keccak256(bytes), keccak_256(bytes))).toBe(0)
    }),
  )
  expect(Buffer.from(keccak256(new Uint8Array(0))).toString('hex')).toBe(
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  )
})
