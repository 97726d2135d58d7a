// Program-derived addresses, such as that of a mint's Metaplex metadata. Pure.
import { sha256 } from '@noble/hashes/sha2.js'
import { programKeys } from './decode.ts'

const text = new TextEncoder()
const marker = text.encode('ProgramDerivedAddress')
const metadataSeed = text.encode('metadata')

export function metadataAddress(mint: Uint8Array): Uint8Array {
  return deriveAddress([metadataSeed, programKeys.metadata, mint], programKeys.metadata)
}

/** The first hash, counting the bump down from 255, that is not on the curve and so has no private key. */
export function deriveAddress(seeds: readonly Uint8Array[], program: Uint8Array): Uint8Array {
  const input = Buffer.concat([...seeds, Uint8Array.of(0), program, marker])
  const bumpAt = input.length - marker.length - program.length - 1
  for (let bump = 255; bump >= 0; bump--) {
    input[bumpAt] = bump
    const address = sha256(input)
    if (!isOnCurve(address)) return address
  }
  // Each bump fails with a chance of one half, all of them with 2^-256.
  throw new Error('no bump gives an address off the curve')
}

const prime = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const yMask = 2n ** 255n - 1n

/**
 * Whether 32 bytes are the y of a point of ed25519: x² = (y² - 1) / (dy² + 1) must be a square. The Jacobi symbol of
 * the product answers that without the square root, at a third of the cost of decompressing the point.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & yMask
  const ySquared = (y * y) % prime
  return jacobi(((ySquared + prime - 1n) * (d * ySquared + 1n)) % prime) !== -1
}

/** (a / prime): 1 for a square, -1 for a non-square, 0 for 0. */
function jacobi(a: bigint): number {
  let [upper, lower, sign] = [a, prime, 1]
  while (upper !== 0n) {
    let twos = 0n
    while (((upper >> twos) & 0xffn) === 0n) twos += 8n
    while (((upper >> twos) & 1n) === 0n) twos++
    upper >>= twos
    const lowerBits = Number(lower & 7n)
    if (twos & 1n && (lowerBits === 3 || lowerBits === 5)) sign = -sign
    if ((upper & 3n) === 3n && (lowerBits & 3) === 3) sign = -sign
    ;[upper, lower] = [lower % upper, upper]
  }
  return lower === 1n ? sign : 0
}
