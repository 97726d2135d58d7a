// The addresses of Solana's own programs, and those that programs derive. Pure.
import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'

export const systemProgram = '11111111111111111111111111111111'
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'
export const metadataProgram = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

export type TokenProgram = 'token' | 'token-2022'

export const tokenProgramAddresses: Readonly<Record<TokenProgram, string>> = {
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'token-2022': 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
}

/** The first hash, counting the bump down from 255, that is not a point of the curve and so has no private key. */
export function deriveAddress(seeds: readonly Uint8Array[], program: string): string {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const seed of seeds) hash.update(seed)
    const address = hash
      .update(Uint8Array.of(bump))
      .update(base58.decode(program))
      .update('ProgramDerivedAddress')
      .digest()
    if (!isOnCurve(address)) return base58.encode(address)
  }
  throw new Error('no bump gives an address off the curve')
}

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes)
    return true
  } catch {
    return false
  }
}
