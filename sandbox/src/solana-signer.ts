// Derives the key pairs of a sandbox's Solana accounts from names. They are not secret: they are for local chains only.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { base58 } from '@scure/base'

export type SolanaSigner = { address: string; sign(message: Uint8Array): Uint8Array }

/** What PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

export function createSigner(name: string): SolanaSigner {
  const secret = createHash('sha256').update(name).digest()
  const key = createPrivateKey({ key: Buffer.concat([keyPrefix, secret]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  return {
    address: base58.encode(Buffer.from(x ?? '', 'base64url')),
    sign: message => sign(undefined, message, key),
  }
}
