// Transfers as a view: by contract, newest first, so that a page is one short walk. A value is the payload. Pure.
import type { Interval, Position } from '../../model.ts'
import {
  batchIndexOfPlace,
  blockOfPlace,
  logIndexOfPlace,
  newestOfBlock,
  oldestOfBlock,
  placeBytes,
  positionOfPlace,
  transactionIndexOfPlace,
  within,
  wordAt,
  writeNumber,
  writePlace,
} from './place-key.ts'
import type { View } from './view.ts'

const contractBytes = 4
const contractMax = 2 ** 32 - 1
const keyBytes = contractBytes + placeBytes

export const transferView: View = {
  id: 2,
  name: 'transfers',
  keyBytes,
  byContract: true,
  // One place has one transfer.
  combine(target, a, aLength) {
    target.set(a.subarray(0, aLength))
    return aLength
  },
}

export function transferKey(
  contract: number,
  position: Position,
  key: Uint8Array = new Uint8Array(keyBytes),
): Uint8Array {
  writeNumber(key, 0, contractBytes, within(contract, contractMax))
  writePlace(key, contractBytes, position)
  return key
}

/** The keys of a contract's rows in an interval, first and last. */
export function spanOfBlocks(contract: number, { from, to }: Interval): { from: Uint8Array; to: Uint8Array } {
  return {
    from: transferKey(contract, { ...newestOfBlock, block: to }),
    to: transferKey(contract, { ...oldestOfBlock, block: from }),
  }
}

/** Of the key that begins at `at`; likewise below. */
export function contractOfKey(keys: Uint8Array, at = 0): number {
  return wordAt(keys, at)
}

export function blockOfKey(keys: Uint8Array, at = 0): number {
  return blockOfPlace(keys, at + contractBytes)
}

export function transactionIndexOfKey(keys: Uint8Array, at = 0): number {
  return transactionIndexOfPlace(keys, at + contractBytes)
}

export function logIndexOfKey(keys: Uint8Array, at = 0): number {
  return logIndexOfPlace(keys, at + contractBytes)
}

export function batchIndexOfKey(keys: Uint8Array, at = 0): number {
  return batchIndexOfPlace(keys, at + contractBytes)
}

export function positionOfKey(key: Uint8Array): Position {
  return positionOfPlace(key, contractBytes)
}
