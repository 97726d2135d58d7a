// Recovers who signed a transaction, of a random sample: the sender that a node reports is under no root, and
// recovering each one would cost more than all the rest.
import { randomInt } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { quantityBytes } from '../../hex.ts'
import type { RpcTransaction } from '../rpc/port.ts'
import { keccak256, keccakDigits } from './block-hash.ts'
import { signedPart } from './transactions-root.ts'

/** Whether to look at the next one: once in so many, which no node can foresee; never if 0. */
export function isSampled(oneIn: number): boolean {
  return oneIn === 1 || (oneIn > 1 && randomInt(oneIn) === 0)
}

/** What is wrong with the reported sender; undefined if nothing is, or if the transaction has no signature. */
export function checkSender(transaction: RpcTransaction): string | undefined {
  const part = signedPart(transaction)
  const { r, s } = transaction as { r?: unknown; s?: unknown }
  const signature = [quantityBytes(r), quantityBytes(s)]
  if (part === undefined || signature.some(each => each === undefined || each.length > 32)) return undefined
  const reported = String(transaction.from).toLowerCase()
  const bytes = Buffer.concat([
    Buffer.of(part.parity),
    ...signature.map(each => Buffer.concat([Buffer.alloc(32 - each!.length), each!])),
  ])
  try {
    const compressed = secp256k1.recoverPublicKey(bytes, keccak256(part.bytes), { prehash: false })
    const point = secp256k1.Point.fromBytes(compressed).toBytes(false)
    const recovered = `0x${keccakDigits(point.subarray(1)).slice(24)}`
    return recovered === reported ? undefined : `${recovered} signed it, the node says ${reported}`
  } catch {
    return 'nobody can have signed it'
  }
}
