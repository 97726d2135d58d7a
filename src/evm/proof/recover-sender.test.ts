import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import { keccakDigits } from './block-hash.ts'
import { recoverSender } from './recover-sender.ts'

const order = secp256k1.Point.CURVE().n
const bytesOf = (number: bigint): Buffer => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
const addressOf = (publicKey: Uint8Array): string => `0x${keccakDigits(publicKey.subarray(1)).slice(24)}`

/** By another library. */
function expected(digest: Uint8Array, signature: Uint8Array, parity: number): string | undefined {
  try {
    const given = secp256k1.Signature.fromBytes(Buffer.concat([Buffer.of(parity), signature]), 'recovered')
    return addressOf(given.recoverPublicKey(digest).toBytes(false))
  } catch {
    return undefined
  }
}

const word = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('a signature gives who signed, also with a large s', () => {
  fc.assert(
    fc.property(word, word, (secret, digest) => {
      const key = bytesOf((numberOf(secret) % (order - 1n)) + 1n)
      const signed = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
      const [parity, signature] = [signed[0]!, signed.subarray(1)]
      const sender = addressOf(secp256k1.getPublicKey(key, false))
      expect(recoverSender(digest, signature, parity)).toBe(sender)
      const large = Buffer.concat([signature.subarray(0, 32), bytesOf(order - numberOf(signature.subarray(32)))])
      expect(recoverSender(digest, large, 1 - parity)).toBe(sender)
      expect(recoverSender(digest, signature, 1 - parity)).not.toBe(sender)
    }),
    { numRuns: propertyRuns(40) },
  )
})

test('any bytes give what another library gives, or nothing', () => {
  const signature = fc.tuple(word, word).map(([r, s]) => Buffer.concat([r, s]))
  fc.assert(
    fc.property(word, signature, fc.nat(1), (digest, given, parity) => {
      expect(recoverSender(digest, given, parity)).toBe(expected(digest, given, parity))
    }),
    { numRuns: propertyRuns(100) },
  )
})

test('what is not a signature gives nothing', () => {
  const digest = Buffer.alloc(32, 1)
  const key = Buffer.alloc(32, 2)
  const signed = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
  const [r, s] = [signed.subarray(1, 33), signed.subarray(33)]
  const [zero, tooLarge] = [bytesOf(0n), bytesOf(order)]
  for (const [first, second] of [
    [zero, s],
    [r, zero],
    [tooLarge, s],
    [r, tooLarge],
    [Buffer.alloc(32, 255), s],
  ] as const)
    expect(recoverSender(digest, Buffer.concat([first, second]), signed[0]!)).toBeUndefined()
  const signature = signed.subarray(1)
  for (const parity of [2, 3, 27, -1, 0.5, Number.NaN]) expect(recoverSender(digest, signature, parity)).toBeUndefined()
  expect(recoverSender(digest, signature.subarray(1), 0)).toBeUndefined()
  expect(recoverSender(digest.subarray(1), signature, 0)).toBeUndefined()
  expect(recoverSender(digest, signature, signed[0]!)).toBe(addressOf(secp256k1.getPublicKey(key, false)))
})
