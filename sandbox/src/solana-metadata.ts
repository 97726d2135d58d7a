// Encodes Metaplex metadata accounts. Local nodes do not have the program, so the accounts are written directly.
import { base58 } from '@scure/base'
import { deriveAddress, metadataProgram } from './solana-addresses.ts'

const metadataKey = 4
const nonFungible = 0

export function metadataAddress(mint: string): string {
  return deriveAddress([Buffer.from('metadata'), base58.decode(metadataProgram), base58.decode(mint)], metadataProgram)
}

export function metadataAccount(facts: {
  mint: string
  authority: string
  name: string
  symbol: string
  isNft: boolean
}): Uint8Array {
  const { mint, authority, name, symbol, isNft } = facts
  const some = (value: number): number[] => [1, value]
  return Buffer.concat([
    Uint8Array.of(metadataKey),
    base58.decode(authority),
    base58.decode(mint),
    ...[name, symbol, ''].map(borshText),
    // No fee, no creators; not sold yet, may be changed; no edition; then the standard, and neither collection nor
    // uses.
    Uint8Array.of(0, 0, 0, 0, 1, 0, ...(isNft ? some(nonFungible) : [0]), 0, 0),
  ])
}

function borshText(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}
