// The hash function of Ethereum. OpenSSL's where the runtime has it (3.2 and later), else the one in JavaScript: the same
// digests at about a fifth of the time.
import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'

const native = getHashes().includes('keccak-256')

export function keccak256(bytes: Uint8Array): Uint8Array {
  // By way of hex, because `hash` takes 1.5 times as long to make the buffer itself.
  return native ? Buffer.from(hash('keccak-256', bytes, 'hex'), 'hex') : keccak_256(bytes)
}
