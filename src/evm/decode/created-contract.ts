// The address of the contract that a transaction creates: from its sender and nonce, as every EVM chain does it.
import { bytesOfHex, quantityBytes } from '../hex.ts'
import { keccak256 } from '../proof/keccak.ts'
import { encodeRlp } from '../proof/rlp.ts'

/** 40 lower-case digits without `0x`; undefined where sender or nonce cannot be read. */
export function createdContractDigits(creation: { from: unknown; nonce: unknown }): string | undefined {
  const sender = bytesOfHex(creation.from)
  const nonce = quantityBytes(creation.nonce)
  if (sender?.length !== 20 || nonce === undefined) return undefined
  return Buffer.from(keccak256(encodeRlp([sender, nonce])).subarray(12)).toString('hex')
}
