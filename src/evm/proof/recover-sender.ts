// Recovers who signed: the address from a signature and the digest that it signs, as Ethereum does. It knows nothing of
// transactions.
//
// A second, on one core of arm64: tiny-secp256k1 (libsecp256k1 in WebAssembly) 1,790, libauth (the same, 4 MB larger
// than an installation has room for) 2,130, noble (JavaScript) 436; native builds need scripts at installation.
// `npm run bench:senders` measures the first and the last.
import { recover } from 'tiny-secp256k1'
import { keccakDigits } from './block-hash.ts'

/**
 * The address, in small letters; undefined where no key can have signed. `signature`: `r` and `s`, 32 bytes each. A
 * large `s` is taken: it was allowed before Homestead, and later blocks that have one are not of the chain. `parity`: 0
 * or 1.
 */
export function recoverSender(digest: Uint8Array, signature: Uint8Array, parity: number): string | undefined {
  if (parity !== 0 && parity !== 1) return undefined
  try {
    const publicKey = recover(digest, signature, parity)
    // The first byte says that both coordinates follow.
    return publicKey === null ? undefined : `0x${keccakDigits(publicKey.subarray(1)).slice(24)}`
  } catch {
    // What is not a signature at all.
    return undefined
  }
}
