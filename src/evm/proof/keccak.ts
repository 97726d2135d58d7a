// The hash function of Ethereum. OpenSSL's where the runtime has it (3.2 and later), else the one in JavaScript: the same
// digests at about a fifth of the time.
import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'

const native = getHashes().includes('keccak-256')

export function keccak256(bytes: Uint8Array): Uint8Array {
  const digest = Buffer.allocUnsafe(32)
  putKeccak256(bytes, digest, 0)
  return digest
}

export function putKeccak256(bytes: Uint8Array, out: Buffer, at: number): void {
  // By way of a text, because `hash` takes 1.3 times as long to make the buffer itself.
  if (native) out.write(hash('keccak-256', bytes, 'latin1'), at, 'latin1')
  else out.set(keccak_256(bytes), at)
}
