import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import { type Address, getAddressDecoder, getProgramDerivedAddress } from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { solanaAccount } from '../../test/recordings.ts'
import { propertyRuns } from '../../test/release-runs.ts'
import { isOnCurve } from '../on-curve.ts'
import { decodeMetadata, metadataProgram, programKeys } from './decode.ts'
import { deriveAddress, editionAddress, metadataAddress } from './pda.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })

async function officialMetadataAddress(mint: Uint8Array, ...more: string[]) {
  return getProgramDerivedAddress({
    programAddress: metadataProgram as Address,
    seeds: ['metadata', programKeys.metadata, mint, ...more],
  })
}

describe('metadata addresses', () => {
  test('are those of the official library for many mints, whatever bump they need', async () => {
    const bumps = new Set<number>()
    await fc.assert(
      fc.asyncProperty(key, async mint => {
        const [address, bump] = await officialMetadataAddress(mint)
        bumps.add(bump)
        expect(getAddressDecoder().decode(metadataAddress(mint))).toBe(address)
      }),
      { numRuns: propertyRuns(1_500) },
    )
    // A derivation that always stops at the first bump would pass on half of the mints.
    expect(bumps.size).toBeGreaterThan(4)
  })

  test.each(['usdc-metadata', 'jitosol-metadata', 'madlads-9963-metadata', 'silurian-edition-metadata'])(
    '%s is where it was found on mainnet',
    name => {
      const { key: address, data } = solanaAccount(name)
      expect(metadataAddress(decodeMetadata(data)!.mint)).toEqual(address)
    },
  )

  test.each([
    'usdc-mint',
    'jitosol-mint',
    'pyusd-mint',
    'susd-mint',
    'bern-mint',
    'madlads-9963-mint',
    'silurian-edition-mint',
    'bndrg-mint',
  ])('of %s, and of its edition', async name => {
    const { key: mint } = solanaAccount(name)
    expect(base58.encode(metadataAddress(mint))).toBe((await officialMetadataAddress(mint))[0])
    expect(base58.encode(editionAddress(mint))).toBe((await officialMetadataAddress(mint, 'edition'))[0])
  })
})

describe('the curve test', () => {
  test('agrees with decompressing the point', () => {
    fc.assert(
      fc.property(key, bytes => {
        expect(isOnCurve(bytes)).toBe(decompresses(bytes))
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  test('knows the edges', () => {
    const y = (low: number) => Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? low : 0))
    for (let low = 0; low < 256; low++) expect(isOnCurve(y(low))).toBe(decompresses(y(low)))
  })

  test('a derived address is never on the curve', () => {
    fc.assert(fc.property(key, mint => !isOnCurve(deriveAddress([mint], programKeys.token))))
  })
})

function decompresses(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes)
    return true
  } catch {
    return false
  }
}
