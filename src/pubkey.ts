// The text of a Solana public key, as it stands in requests. Networks and accounts are not known here.
import { base58 } from '@scure/base'

export function parsePubkey(text: string): Uint8Array | undefined {
  // Decoding takes quadratic time, so the length is checked first.
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === 32 ? bytes : undefined
}
