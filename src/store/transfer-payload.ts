// How a transfer is packed into bytes, and reading packed rows one by one. Every engine stores the same payload, so a
// page is answered by copying bytes: unpacking each row into columns costs three times the whole query.
//
//   byte 0      flags (below)
//   byte 1..3   lengths of the token id, the amount and the value
//   32 bytes    transaction hash
//   20 bytes    to, absent when zero       20 bytes  from, absent when zero       20 bytes  operator, if flagged
//   …           token id, amount, value: big-endian without leading zeros; amount is absent when it is 1
//   4 bytes     id count, if flagged

import { hexOf } from '../hex.ts'
import {
  type Address,
  type ChainId,
  type Hash,
  type Interval,
  type Position,
  type SentBy,
  type TransferFacts,
  zeroAddress,
} from '../model.ts'
import type { TransferPage } from './index-reader.ts'
import type { TransferReader } from './store.ts'

/**
 * All eight bits are used. The lengths after them are at most 32: the upper two bits of each of these bytes are free
 * for a further flag, once `layOut` and `layOutParties` mask them. A field of several bytes goes before the token id,
 * and such a flag says that it is there. The id count must stay the last field, because `idCountOf` reads the last four
 * bytes.
 */
export const payloadFlags = {
  erc1155: 1,
  batch: 2,
  fromZero: 4,
  toZero: 8,
  operator: 16,
  range: 32,
  /** Who sent the transaction, in two bits; none: unknown. The sender itself would take 20 bytes a row. */
  sentByRecipient: 64,
  sentByGiver: 128,
  sentByOther: 64 | 128,
} as const

const sentByStates: readonly (SentBy | undefined)[] = [undefined, 'recipient', 'giver', 'other']

export const payloadHeaderBytes = 4
export const idCountMax = 2 ** 32 - 1

/** Where each field of a payload begins. An absent field begins where the next one does, and `end` follows the last. */
export type PayloadLayout = {
  flags: number
  hash: number
  to: number
  from: number
  operator: number
  tokenId: number
  amount: number
  value: number
  idCount: number
  end: number
}

export function newLayout(): PayloadLayout {
  return { flags: 0, hash: 0, to: 0, from: 0, operator: 0, tokenId: 0, amount: 0, value: 0, idCount: 0, end: 0 }
}

/**
 * Lays out the payload that starts at `at`; those of a page stand back to back. It writes into an object that the
 * caller keeps, because it runs for every row of every page. `unpackTransfer`, the packer (`evm/decode/`) and the
 * indexes rest on the same order.
 */
export function layOut(payloads: Uint8Array, at: number, layout: PayloadLayout): void {
  // `| 0` turns what a damaged page lacks into 0, which keeps every field a small integer.
  const flags = payloads[at]! | 0
  layout.flags = flags
  layout.hash = at + payloadHeaderBytes
  let place = at + payloadHeaderBytes + 32
  layout.to = place
  if ((flags & payloadFlags.toZero) === 0) place += 20
  layout.from = place
  if ((flags & payloadFlags.fromZero) === 0) place += 20
  layout.operator = place
  if (flags & payloadFlags.operator) place += 20
  layout.tokenId = place
  place += payloads[at + 1]! | 0
  layout.amount = place
  place += payloads[at + 2]! | 0
  layout.value = place
  place += payloads[at + 3]! | 0
  layout.idCount = place
  layout.end = flags & payloadFlags.range ? place + 4 : place
}

/**
 * Where the parties of a page's rows stand, for labels, which need nothing else: this takes half the time. Fills
 * `positions` with where each address begins and `places` with twice its row, plus one for the recipient. Returns how
 * many there are; the places of the zero address, which takes no bytes, follow these. Both arrays must have room for
 * two parties of each row.
 */
export function layOutParties(payloads: DataView, rows: number, places: Int32Array, positions: Int32Array): number {
  let count = 0
  let end = rows * 2
  for (let row = 0, at = 0; row < rows; row++) {
    const header = payloads.getInt32(at)
    const flags = header >>> 24
    at += payloadHeaderBytes + 32
    if (flags & payloadFlags.toZero) places[--end] = row * 2 + 1
    else {
      places[count] = row * 2 + 1
      positions[count++] = at
      at += 20
    }
    if (flags & payloadFlags.fromZero) places[--end] = row * 2
    else {
      places[count] = row * 2
      positions[count++] = at
      at += 20
    }
    if (flags & payloadFlags.operator) at += 20
    at += ((header >>> 16) & 0xff) + ((header >>> 8) & 0xff) + (header & 0xff)
    if (flags & payloadFlags.range) at += 4
  }
  return count
}

const layout = newLayout()

export function unpackTransfer(payload: Uint8Array): TransferFacts {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  layOut(bytes, 0, layout)
  const { flags } = layout
  const hex = (from: number, to: number): string => `0x${bytes.toString('hex', from, to)}`
  const address = (from: number, to: number): Address => (from === to ? zeroAddress : (hex(from, to) as Address))
  const integer = (from: number, to: number): bigint => (from === to ? 0n : BigInt(hex(from, to)))
  const sentBy = sentByOf(flags)
  return {
    standard: flags & payloadFlags.erc1155 ? 'ERC1155' : 'ERC721',
    batch: (flags & payloadFlags.batch) !== 0,
    from: address(layout.from, layout.operator),
    to: address(layout.to, layout.from),
    operator: flags & payloadFlags.operator ? address(layout.operator, layout.tokenId) : undefined,
    tokenId: integer(layout.tokenId, layout.amount),
    amount: layout.amount === layout.value ? 1n : integer(layout.amount, layout.value),
    value: integer(layout.value, layout.idCount),
    transactionHash: hex(layout.hash, layout.to) as Hash,
    idCount: idCountOf(payload),
    ...(sentBy === undefined ? {} : { sentBy }),
  }
}

export function sentByOf(flags: number): SentBy | undefined {
  return sentByStates[(flags & payloadFlags.sentByOther) >> 6]
}

/** The id count of one payload, which ends it, without laying out the rest. */
export function idCountOf(payload: Uint8Array): number {
  if (((payload[0] ?? 0) & payloadFlags.range) === 0) return 1
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(payload.byteLength - 4)
}

// Every stored transfer of a contract within a range, row by row, for work on whole ranges. Answers read pages as they
// are.

export type StoredTransfer = Position & { blockHash: Hash; timestamp: number; payload: Uint8Array }

const rowsPerPage = 1_000

/** Oldest first. */
export async function* storedTransfers(
  store: TransferReader,
  { chain, contract, from, to }: Interval & { chain: ChainId; contract: Address },
): AsyncGenerator<StoredTransfer> {
  const range = { chain, contract, fromBlock: from, toBlock: to, order: 'asc' } as const
  let limit = rowsPerPage
  for (let after: StoredTransfer | undefined; ; ) {
    const page = await store.transferPage({ ...range, limit, ...(after === undefined ? {} : { after }) })
    const rows = transfersOfPage(page)
    if (rows === undefined) {
      // A damaged payload hides where the next one starts, which a page of one row does not need to know.
      limit = 1
      continue
    }
    yield* rows
    if (page.length < limit) return
    after = rows.at(-1)
  }
}

/** Undefined where the payloads' own lengths do not add up. */
export function transfersOfPage(page: TransferPage): StoredTransfer[] | undefined {
  const rows: StoredTransfer[] = []
  let at = 0
  for (let row = 0; row < page.length; row++) {
    layOut(page.payloads, at, layout)
    const length = page.length === 1 ? page.payloads.length : layout.end - at
    if (!(at + length <= page.payloads.length)) return undefined
    rows.push({
      block: page.blocks[row]!,
      transactionIndex: page.transactionIndexes[row]!,
      logIndex: page.logIndexes[row]!,
      batchIndex: page.batchIndexes[row]!,
      blockHash: hexOf<Hash>(page.blockHashes.subarray(row * 32, row * 32 + 32)),
      timestamp: page.timestamps[row]!,
      payload: page.payloads.subarray(at, at + length),
    })
    at += length
  }
  return at === page.payloads.length ? rows : undefined
}
