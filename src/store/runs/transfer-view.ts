// Transfers as a view: by contract, newest first, so that a page is one short walk. A value is the time and the hash of
// the block and then the payload: a page is read from packs alone. Pure.
import type { Interval, Position } from '../../model.ts'
import { valueBytesMax } from './pack.ts'
import {
  blockOfPlace,
  contractBytes,
  placeBytes,
  positionOfPlace,
  type Span,
  spanOfPlaces,
  within,
  wordAt,
  writeNumber,
  writePlace,
} from './place-key.ts'
import { sameRecord, type View } from './view.ts'

const contractMax = 2 ** 32 - 1
const keyBytes = contractBytes + placeBytes

export const transferView: View & { placeAt: number } = {
  id: 2,
  name: 'transfers',
  keyBytes,
  keysBeginWith: 'contract',
  placeAt: contractBytes,
  isUnique: true,
  // One place has one transfer.
  combine: sameRecord,
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

export function spanOfBlocks(contract: number, interval: Interval): Span {
  const beginning = new Uint8Array(contractBytes)
  writeNumber(beginning, 0, contractBytes, contract)
  return spanOfPlaces(beginning, interval)
}

/** Of the key that begins at `at`; likewise below. */
export function contractOfKey(keys: Uint8Array, at = 0): number {
  return wordAt(keys, at)
}

export function blockOfKey(keys: Uint8Array, at = 0): number {
  return blockOfPlace(keys, at + contractBytes)
}

export function positionOfKey(key: Uint8Array): Position {
  return positionOfPlace(key, contractBytes)
}

const hashAt = 5
export const payloadAt = hashAt + 32

// Values are packed without a pause: one serves all of a thread.
const packed = new Uint8Array(valueBytesMax)

/** Valid until the next one is packed. */
export function transferValue(block: { timestamp: number; hash: Uint8Array }, payload: Uint8Array): Uint8Array {
  packed[0] = block.timestamp / 2 ** 32
  writeNumber(packed, 1, 4, block.timestamp % 2 ** 32)
  packed.set(block.hash, hashAt)
  packed.set(payload, payloadAt)
  return packed.subarray(0, payloadAt + payload.length)
}

/** Of the value that begins at `at`; likewise below. */
export function timestampOf(values: Uint8Array, at = 0): number {
  return wordAt(values, at + 1) + values[at]! * 2 ** 32
}

export function hashOf(values: Uint8Array, at = 0): Uint8Array {
  return values.subarray(at + hashAt, at + payloadAt)
}
