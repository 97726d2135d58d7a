// Activity as the bytes that cross threads and are stored: rows of one length with an address and its first and last
// transaction. Bytes of transactions compare as their places in the chain do, so merging takes the smaller and the
// larger. Pure.
import { AlmanacError } from '../errors.ts'
import { bytesOfHex, hexOf, nibbles, noNibble } from '../hex.ts'
import type { ActivityRow, Address, ChainId, Hash, TransactionRef } from '../model.ts'
import { rowsInOrder } from './indexes/sorted-records.ts'
import { wordAt } from './runs/place-key.ts'

declare const brand: unique symbol
/** Any number of rows, back to back. */
export type PackedActivity = Uint8Array & { readonly [brand]: 'PackedActivity' }

const addressBytes = 20
/** Block (4 bytes), transaction index (22 bits) and timestamp (34 bits), hash (32 bytes). */
export const refBytes = 43
const hashAt = refBytes - 32
/** Where the parts of a row begin. */
export const rowAt = { address: 0, first: addressBytes, last: addressBytes + refBytes } as const
export const rowBytes = addressBytes + 2 * refBytes

const blockMax = 2 ** 32 - 1
export const transactionIndexMax = 2 ** 22 - 1
const timestampMax = 2 ** 34 - 1

export const noActivity = new Uint8Array(0) as PackedActivity

export function activityCount(packed: PackedActivity): number {
  return packed.length / rowBytes
}

export function packActivity(rows: readonly ActivityRow[]): PackedActivity {
  const bytesOf = (ref: TransactionRef): Buffer => {
    const bytes = Buffer.alloc(refBytes)
    packRef(ref, bytes, 0)
    return bytes
  }
  return joinActivity(
    rows.map(({ address, first, last }) => packedRow(bytesOfHex(address), bytesOf(first), bytesOf(last))),
  )
}

/** False where the hash is not `0x` and 64 digits. */
export function packRef(ref: TransactionRef, bytes: Buffer, at: number): boolean {
  const { block, transactionIndex, hash, timestamp } = ref
  if (block > blockMax || transactionIndex > transactionIndexMax || timestamp > timestampMax || timestamp < 0)
    throw new AlmanacError(
      'store_failed',
      `Transaction ${transactionIndex} of block ${block}, at time ${timestamp}, does not fit into a store.`,
      { hint: 'index this chain with index: on-demand, which stores only the activity of requested wallets.' },
    )
  const high = transactionIndex * 4 + Math.floor(timestamp / 2 ** 32)
  putWord(bytes, at, block)
  bytes[at + 4] = high >>> 16
  bytes[at + 5] = high >>> 8
  bytes[at + 6] = high
  putWord(bytes, at + 7, timestamp % 2 ** 32)
  if (hash.length !== 66 || hash.charCodeAt(0) !== 0x30 || hash.charCodeAt(1) !== 0x78) return false
  let seen = 0
  for (let digit = 2, to = at + hashAt; digit < 66; digit += 2, to++) {
    const upper = nibbles[hash.charCodeAt(digit)] ?? noNibble
    const lower = nibbles[hash.charCodeAt(digit + 1)] ?? noNibble
    seen |= upper | lower
    bytes[to] = (upper << 4) | lower
  }
  return seen < noNibble
}

function putWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}

/** Sorts before every packed transaction of a block and after those of lower ones. */
export function firstRefOf(block: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(Math.min(block, blockMax))
  return bytes
}

export function unpackRef(ref: Uint8Array): TransactionRef {
  const bytes = Buffer.from(ref.buffer, ref.byteOffset, refBytes)
  const middle = bytes.readUIntBE(4, 3)
  return {
    block: bytes.readUInt32BE(0),
    transactionIndex: middle >>> 2,
    hash: hexOf<Hash>(bytes.subarray(hashAt)),
    timestamp: (middle & 3) * 2 ** 32 + bytes.readUInt32BE(7),
  }
}

export function unpackActivity(packed: PackedActivity): ActivityRow[] {
  return Array.from({ length: activityCount(packed) }, (_, row) => {
    const at = row * rowBytes
    return {
      address: hexOf<Address>(packed.subarray(at, at + addressBytes)),
      first: unpackRef(packed.subarray(at + rowAt.first, at + rowAt.last)),
      last: unpackRef(packed.subarray(at + rowAt.last, at + rowBytes)),
    }
  })
}

export function packedRow(address: Uint8Array, first: Uint8Array, last: Uint8Array): PackedActivity {
  return joinActivity([address, first, last] as PackedActivity[])
}

export function joinActivity(parts: readonly PackedActivity[]): PackedActivity {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined as PackedActivity
}

/** The rows from `from` on whose first transaction is in the block, where rows are in the order of blocks. */
export function activityOfBlock(packed: PackedActivity, block: number, from: number): PackedActivity {
  let to = from
  while (to < packed.length && wordAt(packed, to + rowAt.first) === block) to += rowBytes
  return packed.subarray(from, to) as PackedActivity
}

/** One row for each address, sorted: every process writes neighbours in the table one after the other. */
export function mergePacked(packed: PackedActivity): PackedActivity {
  const rows = { count: activityCount(packed), rowBytes, keyBytes: addressBytes, wordFrom: 0 }
  const merged = new Uint8Array(packed.length)
  let end = 0
  for (const row of rowsInOrder(packed, rows)) end = addRow(merged, end, packed, row * rowBytes)
  return merged.subarray(0, end) as PackedActivity
}

/** Appends a row, or merges it into the last one where that has the same address. Returns where the rows end. */
function addRow(rows: Uint8Array, end: number, from: Uint8Array, at: number): number {
  const last = end - rowBytes
  if (end === 0 || order(rows, last, from, at, addressBytes) !== 0) {
    rows.set(from.subarray(at, at + rowBytes), end)
    return end + rowBytes
  }
  if (compareRefs(from, at + rowAt.first, rows, last + rowAt.first) < 0)
    rows.set(from.subarray(at + rowAt.first, at + rowAt.last), last + rowAt.first)
  if (compareRefs(from, at + rowAt.last, rows, last + rowAt.last) > 0)
    rows.set(from.subarray(at + rowAt.last, at + rowBytes), last + rowAt.last)
  return end
}

/** Of two packed transactions. */
export function compareRefs(a: Uint8Array, atA: number, b: Uint8Array, atB: number): number {
  return order(a, atA, b, atB, refBytes)
}

function order(a: Uint8Array, atA: number, b: Uint8Array, atB: number, length: number): number {
  for (let at = 0; at < length; at++) {
    const difference = a[atA + at]! - b[atB + at]!
    if (difference !== 0) return difference
  }
  return 0
}

// Activity as answers show it.

/**
 * Of each chain the earliest and the latest of the stored transactions of an address; `last` is null where it equals
 * `first`.
 */
export function activityByChain(
  address: Address,
  stored: readonly { chain: ChainId; first: Uint8Array; last: Uint8Array | null }[],
): Map<ChainId, ActivityRow> {
  const byChain = new Map<ChainId, ActivityRow>()
  for (const { chain, ...row } of stored) {
    const [first, last] = [unpackRef(row.first), unpackRef(row.last ?? row.first)]
    const known = byChain.get(chain)
    byChain.set(chain, {
      address,
      first: known === undefined || isEarlier(first, known.first) ? first : known.first,
      last: known === undefined || isEarlier(known.last, last) ? last : known.last,
    })
  }
  return byChain
}

/** One stored row; `last` is null where it equals `first`. */
export function activityRow(address: Address, first: Uint8Array, last: Uint8Array | null): ActivityRow {
  return { address, first: unpackRef(first), last: unpackRef(last ?? first) }
}

/** By their places in the chain. */
export function isEarlier(a: TransactionRef, b: TransactionRef): boolean {
  return a.block < b.block || (a.block === b.block && a.transactionIndex < b.transactionIndex)
}
