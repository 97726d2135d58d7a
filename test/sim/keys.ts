// Keys of simulated wallets and their signatures: real enough to recover the sender from, and cheap. Independent of src on
// purpose.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { pointFromScalar } from 'tiny-secp256k1'
import { hexOfBytes, keccak } from './rlp.ts'

export type Signature = { r: string; s: string; parity: number }

const { n: order } = secp256k1.Point.CURVE()
const base = secp256k1.Point.BASE.toAffine()

/** With the nonce 1, which gives the key away: the point of the nonce is then the base point, and no curve is needed. */
export function sign(digest: Uint8Array, key: bigint): Signature {
  const s = (BigInt(hexOfBytes(digest)) + base.x * key) % order
  const parity = Number(base.y & 1n)
  const high = s > order / 2n
  return { r: hex(base.x), s: hex(high ? order - s : s), parity: high ? 1 - parity : parity }
}

export function addressOfKey(key: bigint): string {
  // A third of the time that a library in JavaScript takes: most of what signed chains cost.
  const point = pointFromScalar(Buffer.from(key.toString(16).padStart(64, '0'), 'hex'), false)!
  return hexOfBytes(keccak(point.subarray(1)).subarray(12))
}

/** Of any text. */
export function keyOf(text: string): bigint {
  return (BigInt(hexOfBytes(keccak(Buffer.from(text)))) % (order - 1n)) + 1n
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`
}
