// Program-derived addresses, such as those of a mint's Metaplex metadata and edition. Pure.
import { sha256 } from '@noble/hashes/sha2.js'
import { isOnCurve } from '../on-curve.ts'
import { programKeys } from './decode.ts'

const text = new TextEncoder()
const marker = text.encode('ProgramDerivedAddress')
const metadataSeed = text.encode('metadata')
const editionSeed = text.encode('edition')

export function metadataAddress(mint: Uint8Array): Uint8Array {
  return deriveAddress([metadataSeed, programKeys.metadata, mint], programKeys.metadata)
}

/** Of a master edition and of a print alike. */
export function editionAddress(mint: Uint8Array): Uint8Array {
  return deriveAddress([metadataSeed, programKeys.metadata, mint, editionSeed], programKeys.metadata)
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
