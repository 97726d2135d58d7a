// The place of a transfer in its chain as the end of a key, newest first: it counts down. Pure.
import type { Interval, Position } from '../../model.ts'

/** The number of a contract, which keys of some views begin with. */
export const contractBytes = 4
/** The block in four bytes, the places within it in three each. */
export const placeBytes = 13
const blockMax = 2 ** 32 - 1
const placeMax = 2 ** 24 - 1

/**
 * Whether a key can tell the place. No chain has others; rows at one are refused. The greatest
 * numbers stand for all beyond them and are not the place of a row.
 */
export function fitsKey({ block, transactionIndex, logIndex, batchIndex }: Position): boolean {
  return block < blockMax && transactionIndex < placeMax && logIndex < placeMax && batchIndex < placeMax
}

/** Positions outside of what a key can tell become the nearest that it can: -1 becomes 0. */
export function writePlace(key: Uint8Array, at: number, position: Position): void {
  const { block, transactionIndex, logIndex, batchIndex } = position
  // What is beyond the greatest number in one place is beyond all of the places after it.
  const isBlockBeyond = block >= blockMax
  const isTransactionBeyond = isBlockBeyond || transactionIndex >= placeMax
  const isLogBeyond = isTransactionBeyond || logIndex >= placeMax
  writeNumber(key, at, 4, blockMax - within(block, blockMax))
  writeNumber(key, at + 4, 3, isBlockBeyond ? 0 : placeMax - within(transactionIndex, placeMax))
  writeNumber(key, at + 7, 3, isTransactionBeyond ? 0 : placeMax - within(logIndex, placeMax))
  writeNumber(key, at + 10, 3, isLogBeyond ? 0 : placeMax - within(batchIndex, placeMax))
}

/** The first place of a block in the order of keys, and the last. */
export const newestOfBlock = { transactionIndex: Infinity, logIndex: Infinity, batchIndex: Infinity }
export const oldestOfBlock = { transactionIndex: 0, logIndex: 0, batchIndex: 0 }

/** The first and the last key of records that a walk meets, both included. */
export type Span = { from: Uint8Array; to: Uint8Array }

/** The keys that begin alike and end with a place in an interval. */
export function spanOfPlaces(beginning: Uint8Array, { from, to }: Interval): Span {
  const keyOf = (position: Position): Uint8Array => {
    const key = new Uint8Array(beginning.length + placeBytes)
    key.set(beginning)
    writePlace(key, beginning.length, position)
    return key
  }
  return { from: keyOf({ ...newestOfBlock, block: to }), to: keyOf({ ...oldestOfBlock, block: from }) }
}

export function within(number: number, max: number): number {
  return Math.max(0, Math.min(number, max))
}

export function writeNumber(key: Uint8Array, at: number, length: number, number: number): void {
  for (let place = 0; place < length; place++) key[at + place] = number >>> (8 * (length - 1 - place))
}

/** Of the place that begins at `at`; likewise below. */
export function blockOfPlace(keys: Uint8Array, at: number): number {
  return blockOfWord(wordAt(keys, at))
}

/** Of the four bytes that a place begins with. */
export function blockOfWord(word: number): number {
  return blockMax - word
}

/** The same where keys are read four bytes at a time. */
export function blockInView(keys: DataView, at: number): number {
  return blockMax - keys.getUint32(at)
}

export function transactionIndexOfPlace(keys: Uint8Array, at: number): number {
  return placeMax - threeAt(keys, at + 4)
}

export function logIndexOfPlace(keys: Uint8Array, at: number): number {
  return placeMax - threeAt(keys, at + 7)
}

export function batchIndexOfPlace(keys: Uint8Array, at: number): number {
  return placeMax - threeAt(keys, at + 10)
}

export function positionOfPlace(keys: Uint8Array, at: number): Position {
  return {
    block: blockOfPlace(keys, at),
    transactionIndex: transactionIndexOfPlace(keys, at),
    logIndex: logIndexOfPlace(keys, at),
    batchIndex: batchIndexOfPlace(keys, at),
  }
}

export function wordAt(key: Uint8Array, at: number): number {
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0
}

function threeAt(key: Uint8Array, at: number): number {
  return (key[at]! << 16) | (key[at + 1]! << 8) | key[at + 2]!
}
