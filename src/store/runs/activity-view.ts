// The first and last transactions of wallets as a view: by address, the least and the greatest. Pure.
import { compareRefs, mergePacked, type PackedActivity, refBytes, rowAt, rowBytes } from '../packed-activity.ts'
import type { Combine } from './merge.ts'
import type { PackWriter } from './pack.ts'
import type { View } from './view.ts'

/** A value is the first transaction, and after it the last one where they differ. */
const combine: Combine = (target, a, aLength, b, bLength) => {
  const [aLast, bLast] = [aLength - refBytes, bLength - refBytes]
  const first = compareRefs(a, 0, b, 0) <= 0 ? a : b
  copyRef(target, 0, first, 0)
  if (compareRefs(a, aLast, b, bLast) >= 0) copyRef(target, refBytes, a, aLast)
  else copyRef(target, refBytes, b, bLast)
  return compareRefs(target, 0, target, refBytes) === 0 ? refBytes : 2 * refBytes
}

export const activityView: View = {
  id: 1,
  name: 'activity',
  keyBytes: rowAt.first,
  keysBeginWith: 'address',
  isUnique: false,
  combine,
}

/** Rows in any order, of which many may be of one wallet. */
export function writeActivity(packed: PackedActivity, writerOf: (address: Uint8Array) => PackWriter): void {
  const rows = mergePacked(packed)
  for (let at = 0; at < rows.length; at += rowBytes) {
    const isOne = compareRefs(rows, at + rowAt.first, rows, at + rowAt.last) === 0
    const address = rows.subarray(at, at + rowAt.first)
    const value = rows.subarray(at + rowAt.first, at + rowBytes)
    writerOf(address).add(address, value, isOne ? refBytes : 2 * refBytes)
  }
}

export function refsOf(value: Uint8Array): { first: Uint8Array; last: Uint8Array | null } {
  return {
    first: value.subarray(0, refBytes),
    last: value.length > refBytes ? value.subarray(refBytes, 2 * refBytes) : null,
  }
}

function copyRef(target: Uint8Array, at: number, from: Uint8Array, fromAt: number): void {
  for (let byte = 0; byte < refBytes; byte++) target[at + byte] = from[fromAt + byte]!
}
