// Transfers as a view: by contract, newest first, so that a page is one short walk. A value is the payload. Pure.
import type { Interval, Position } from '../../model.ts'
import type { View } from './view.ts'

/** Contract and block in four bytes each; the places within a block in three. All but the contract count down. */
const keyBytes = 17
const contractMax = 2 ** 32 - 1
const blockMax = 2 ** 32 - 1
const placeMax = 2 ** 24 - 1

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

/**
 * Whether a key can tell the place. No chain has others; where one does, its rows are kept elsewhere. The greatest
 * numbers stand for all beyond them and are no place of a row.
 */
export function fitsKey({ block, transactionIndex, logIndex, batchIndex }: Position): boolean {
  return block < blockMax && transactionIndex < placeMax && logIndex < placeMax && batchIndex < placeMax
}

/** Positions outside of what a key can tell become the nearest that it can: -1 becomes 0. */
export function transferKey(
  contract: number,
  position: Position,
  key: Uint8Array = new Uint8Array(keyBytes),
): Uint8Array {
  const { block, transactionIndex, logIndex, batchIndex } = position
  writeNumber(key, 0, 4, within(contract, contractMax))
  // What is beyond the greatest number in one place is beyond all of the places after it.
  const isBlockBeyond = block >= blockMax
  const isTransactionBeyond = isBlockBeyond || transactionIndex >= placeMax
  const isLogBeyond = isTransactionBeyond || logIndex >= placeMax
  writeNumber(key, 4, 4, blockMax - within(block, blockMax))
  writeNumber(key, 8, 3, isBlockBeyond ? 0 : placeMax - within(transactionIndex, placeMax))
  writeNumber(key, 11, 3, isTransactionBeyond ? 0 : placeMax - within(logIndex, placeMax))
  writeNumber(key, 14, 3, isLogBeyond ? 0 : placeMax - within(batchIndex, placeMax))
  return key
}

const newestOfBlock = { transactionIndex: Infinity, logIndex: Infinity, batchIndex: Infinity }
const oldestOfBlock = { transactionIndex: 0, logIndex: 0, batchIndex: 0 }

/** The keys of a contract's rows in an interval, first and last. */
export function spanOfBlocks(contract: number, { from, to }: Interval): { from: Uint8Array; to: Uint8Array } {
  return {
    from: transferKey(contract, { ...newestOfBlock, block: to }),
    to: transferKey(contract, { ...oldestOfBlock, block: from }),
  }
}

function within(number: number, max: number): number {
  return Math.max(0, Math.min(number, max))
}

function writeNumber(key: Uint8Array, at: number, length: number, number: number): void {
  for (let place = 0; place < length; place++) key[at + place] = number >>> (8 * (length - 1 - place))
}

/** Of the key that begins at `at`; likewise below. */
export function contractOfKey(keys: Uint8Array, at = 0): number {
  return wordAt(keys, at)
}

export function blockOfKey(keys: Uint8Array, at = 0): number {
  return blockMax - wordAt(keys, at + 4)
}

export function transactionIndexOfKey(keys: Uint8Array, at = 0): number {
  return placeMax - placeAt(keys, at + 8)
}

export function logIndexOfKey(keys: Uint8Array, at = 0): number {
  return placeMax - placeAt(keys, at + 11)
}

export function batchIndexOfKey(keys: Uint8Array, at = 0): number {
  return placeMax - placeAt(keys, at + 14)
}

export function positionOfKey(key: Uint8Array): Position {
  return {
    block: blockOfKey(key),
    transactionIndex: transactionIndexOfKey(key),
    logIndex: logIndexOfKey(key),
    batchIndex: batchIndexOfKey(key),
  }
}

function wordAt(key: Uint8Array, at: number): number {
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0
}

function placeAt(key: Uint8Array, at: number): number {
  return (key[at]! << 16) | (key[at + 1]! << 8) | key[at + 2]!
}
