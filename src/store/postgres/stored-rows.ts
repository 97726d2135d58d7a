// Transfers as the tables hold them, and as COPY takes them. Pure.
import { bytesOfHex } from '../../hex.ts'
import type { Address, Block, TransferRow } from '../../model.ts'
import type { StoredTransfer } from '../runs/view.ts'
import { writeInt8 } from './arrays.ts'
import { noNumber } from './dictionary.ts'
import { batchIndexOf, logIndexOf, placeHigh, placeLow, requireFits, transactionIndexOf } from './place.ts'

/** A row as the tables hold it. The place is two halves of 32 bits. */
export type StoredRow = {
  contract: number
  block: number
  placeHigh: number
  placeLow: number
  timestamp: number
  hash: Uint8Array
  payload: Uint8Array
}

/** Sorted as the index is: rows inserted in this order are appended within each contract. */
export function storedRows(
  rows: readonly TransferRow[],
  contracts: ReadonlyMap<Address, number>,
  blocks: ReadonlyMap<number, Block>,
): StoredRow[] {
  const hashes = new Map<number, Uint8Array>()
  const stored = rows.map(row => {
    requireFits(row)
    const block = blocks.get(row.block) as Block
    const hash = hashes.get(row.block) ?? bytesOfHex(block.hash)
    hashes.set(row.block, hash)
    const contract = contracts.get(row.contract)
    if (contract === undefined) throw noNumber(`contract ${row.contract}`)
    return {
      contract,
      block: row.block,
      placeHigh: placeHigh(row),
      placeLow: placeLow(row),
      timestamp: block.timestamp,
      hash,
      payload: row.payload,
    }
  })
  return stored.sort(
    (a, b) => a.contract - b.contract || b.block - a.block || b.placeHigh - a.placeHigh || b.placeLow - a.placeLow,
  )
}

type PlacedRow = Omit<StoredRow, 'timestamp' | 'hash'>

export function transferOf({ contract, block, placeHigh, placeLow, payload }: PlacedRow): StoredTransfer {
  const transactionIndex = transactionIndexOf(placeHigh)
  const logIndex = logIndexOf(placeHigh, placeLow)
  return { contract, block, transactionIndex, logIndex, batchIndex: batchIndexOf(placeLow), payload }
}

// Rows in PostgreSQL's binary COPY format, in pieces of bounded size.

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailer = Buffer.from([0xff, 0xff])
const pieceBytes = 256 * 1024

/** `write` returns where the row ends. */
export function* copyPieces<T>(
  rows: readonly T[],
  sizeOf: (row: T) => number,
  write: (piece: Buffer, row: T, at: number) => number,
): Generator<Uint8Array> {
  yield signature
  let piece = Buffer.allocUnsafe(pieceBytes)
  let at = 0
  for (const row of rows) {
    const size = sizeOf(row)
    if (at + size > piece.length) {
      yield piece.subarray(0, at)
      piece = Buffer.allocUnsafe(Math.max(pieceBytes, size))
      at = 0
    }
    at = write(piece, row, at)
  }
  yield piece.subarray(0, at)
  yield trailer
}

/** The field count, six lengths, and the fields but for hash and payload. */
const fixedBytes = 2 + 6 * 4 + 4 + 4 + 8 + 8

export function copyRows(rows: readonly StoredRow[]): Generator<Uint8Array> {
  return copyPieces(rows, ({ hash, payload }) => fixedBytes + hash.length + payload.length, writeRow)
}

function writeRow(piece: Buffer, row: StoredRow, start: number): number {
  let at = piece.writeInt16BE(6, start)
  at = piece.writeInt32BE(4, at)
  at = piece.writeInt32BE(row.contract, at)
  at = piece.writeInt32BE(4, at)
  at = piece.writeInt32BE(row.block, at)
  at = piece.writeInt32BE(8, at)
  at = piece.writeInt32BE(row.placeHigh, at)
  at = piece.writeUInt32BE(row.placeLow, at)
  at = piece.writeInt32BE(8, at)
  at = writeInt8(piece, row.timestamp, at)
  return writeBytes(piece, row.payload, writeBytes(piece, row.hash, at))
}

export function writeBytes(piece: Buffer, bytes: Uint8Array, start: number): number {
  const at = piece.writeInt32BE(bytes.length, start)
  piece.set(bytes, at)
  return at + bytes.length
}
