// Kept counts of transfers as a view: by contract and bucket of blocks, summed. Pure.
import type { View } from './view.ts'

/** Contract and bucket, four bytes each. 0 is the whole chain; buckets of blocks begin at 1. */
const keyBytes = 8
const valueBytes = 6
/** The blocks of a bucket. */
export const bucketBlocks = 4096
export const bucketMax = 2 ** 32 - 2

export const countView: View = {
  id: 3,
  name: 'counts',
  keyBytes,
  keysBeginWith: 'contract',
  isUnique: false,
  combine(target, a, _aLength, b) {
    return writeCount(target, countOf(a) + countOf(b))
  },
}

/** Below 0 where it takes back what another record counts. */
export function countOf(value: Uint8Array): number {
  return Buffer.from(value.buffer, value.byteOffset, valueBytes).readIntBE(0, valueBytes)
}

function writeCount(target: Uint8Array, count: number): number {
  Buffer.from(target.buffer, target.byteOffset, valueBytes).writeIntBE(count, 0, valueBytes)
  return valueBytes
}

export function countValue(count: number): Uint8Array {
  const value = new Uint8Array(valueBytes)
  writeCount(value, count)
  return value
}

/** The bucket -1 is the whole chain. */
export function countKey(contract: number, bucket: number): Uint8Array {
  const key = Buffer.alloc(keyBytes)
  key.writeUInt32BE(contract, 0)
  key.writeUInt32BE(bucket + 1, 4)
  return key
}

export function bucketOfKey(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, keyBytes).readUInt32BE(4) - 1
}

export function bucketOf(block: number): number {
  return Math.floor(block / bucketBlocks)
}
