// Where labels changed, as ranges of addresses that a store keeps for a while: a process reads again only the labels
// near them. It does not read the store.

import { bytesOfHex, hexOf } from '../hex.ts'
import type { Address } from '../model.ts'

/** Both ends included. */
export type AddressRange = { first: Address; last: Address }

export type LabelChanges = {
  /** How many changes there have been. */
  count: number
  ranges: readonly AddressRange[]
}

export const everyAddress: AddressRange = {
  first: `0x${'0'.repeat(40)}` as Address,
  last: `0x${'f'.repeat(40)}` as Address,
}

/** How many changes a store keeps: four imports of a million labels. */
export const changesKept = 200

/**
 * A change of more addresses is kept as one range over all of them: long lists are written in the order of addresses,
 * so that the range of each commit is narrow.
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

/** `kept` are the changes after the `since`th. Where some are missing, labels may have changed anywhere. */
export function changesSince(since: number | undefined, count: number, kept: readonly Uint8Array[]): LabelChanges {
  const isWhole = since !== undefined && kept.length === count - since
  return { count, ranges: isWhole ? kept.flatMap(unpackRanges) : [everyAddress] }
}
