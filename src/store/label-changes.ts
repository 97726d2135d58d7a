// Where labels changed, as ranges of addresses that a store keeps for a while: whoever holds labels in memory reads those again and
// nothing else. It reads no store and knows no engine.

import { bytesOfHex, hexOf } from '../hex.ts'
import type { Address } from '../model.ts'

/** Both ends belong to it. */
export type AddressRange = { first: Address; last: Address }

export type LabelChanges = {
  /** How often labels have changed so far. */
  count: number
  ranges: readonly AddressRange[]
}

export const everyAddress: AddressRange = {
  first: `0x${'0'.repeat(40)}` as Address,
  last: `0x${'f'.repeat(40)}` as Address,
}

/** So many changes are kept: four imports of a million labels. */
export const changesKept = 200

/**
 * Beyond so many addresses one range stands for all of them: long lists are written in the order of addresses, so that the range
 * of each commit is narrow.
 */
const singlesMax = 500
const addressBytes = 20

export function packRanges(addresses: readonly Address[]): Buffer {
  const sorted = [...new Set(addresses)].sort()
  const ranges =
    sorted.length > singlesMax ? [sorted[0]!, sorted.at(-1)!] : sorted.flatMap(address => [address, address])
  return Buffer.concat(ranges.map(bytesOfHex))
}

function unpackRanges(packed: Uint8Array): AddressRange[] {
  const addressAt = (at: number) => hexOf<Address>(packed.subarray(at, at + addressBytes))
  return Array.from({ length: packed.length / (2 * addressBytes) }, (_, index) => {
    const at = index * 2 * addressBytes
    return { first: addressAt(at), last: addressAt(at + addressBytes) }
  })
}

/** From the kept changes behind the `since`th. Where some are missing, labels may have changed anywhere. */
export function changesSince(since: number | undefined, count: number, kept: readonly Uint8Array[]): LabelChanges {
  const isWhole = since !== undefined && kept.length === count - since
  return { count, ranges: isWhole ? kept.flatMap(unpackRanges) : [everyAddress] }
}

// A hash of the 20 bytes of an address where they stand in a page, without a text in between. It is no fingerprint: whoever finds
// something by it compares the address.

export function addressHash(bytes: Uint8Array, at: number): number {
  return hashOfWords(addressWord(bytes, at), addressWord(bytes, at + 16))
}

/** From the first and the last four bytes: addresses that were chosen for their looks are alike at one of both ends, hardly ever at both. */
export function hashOfWords(first: number, last: number): number {
  return mixed(Math.imul(first, 0x9e3779b1) ^ last)
}

/** Four bytes from `at` on. */
export function addressWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** The finaliser of MurmurHash3. */
function mixed(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
