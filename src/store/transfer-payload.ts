// How a transfer is packed into bytes. Every engine stores the same payload, so that a page can be answered by copying
// bytes: unpacking each row into columns costs three times the whole query.
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
import type { TransferPage, TransferReader } from './store.ts'

export const payloadFlags = {
  erc1155: 1,
  batch: 2,
  fromZero: 4,
  toZero: 8,
  operator: 16,
  range: 32,
  /** Who sent the transaction, in two bits; neither: unknown. The sender itself would take 20 bytes a row. */
  sentByRecipient: 64,
  sentByGiver: 128,
  sentByOther: 64 | 128,
} as const

const sentByStates: readonly (SentBy | undefined)[] = [undefined, 'recipient', 'giver', 'other']

export const payloadHeaderBytes = 4
export const idCountMax = 2 ** 32 - 1

export function unpackTransfer(payload: Uint8Array): TransferFacts {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const flags = bytes[0] ?? 0
  let at = payloadHeaderBytes
  const take = (length: number): Buffer => {
    at += length
    return bytes.subarray(at - length, at)
  }
  const hex = (length: number): string => `0x${take(length).toString('hex')}`
  const integer = (length: number): bigint => (length === 0 ? 0n : BigInt(hex(length)))
  const transactionHash = hex(32) as Hash
  const to = flags & payloadFlags.toZero ? zeroAddress : (hex(20) as Address)
  const from = flags & payloadFlags.fromZero ? zeroAddress : (hex(20) as Address)
  const operator = flags & payloadFlags.operator ? (hex(20) as Address) : undefined
  const tokenId = integer(bytes[1] ?? 0)
  const amountLength = bytes[2] ?? 0
  const amount = amountLength === 0 ? 1n : integer(amountLength)
  const value = integer(bytes[3] ?? 0)
  const sentBy = sentByOf(flags)
  const idCount = flags & payloadFlags.range ? take(4).readUInt32BE() : 1
  return {
    standard: flags & payloadFlags.erc1155 ? 'ERC1155' : 'ERC721',
    batch: (flags & payloadFlags.batch) !== 0,
    from,
    to,
    operator,
    tokenId,
    amount,
    value,
    transactionHash,
    idCount,
    ...(sentBy === undefined ? {} : { sentBy }),
  }
}

export function sentByOf(flags: number): SentBy | undefined {
  return sentByStates[(flags & payloadFlags.sentByOther) >> 6]
}

/** How many bytes the payload takes that starts at `at`; payloads of a page stand back to back. */
export function payloadLengthAt(payloads: Uint8Array, at: number): number {
  const flags = payloads[at]!
  return (
    payloadHeaderBytes +
    32 +
    (flags & payloadFlags.toZero ? 0 : 20) +
    (flags & payloadFlags.fromZero ? 0 : 20) +
    (flags & payloadFlags.operator ? 20 : 0) +
    payloads[at + 1]! +
    payloads[at + 2]! +
    payloads[at + 3]! +
    (flags & payloadFlags.range ? 4 : 0)
  )
}

/** How many bytes follow behind the recipient and the sender, by the first four bytes as one number. */
export function bytesBehindParties(header: number): number {
  const flags = header >>> 24
  return (
    (flags & payloadFlags.operator ? 20 : 0) +
    ((header >>> 16) & 0xff) +
    ((header >>> 8) & 0xff) +
    (header & 0xff) +
    (flags & payloadFlags.range ? 4 : 0)
  )
}

/** The id count of a packed row without unpacking the rest. */
export function idCountOf(payload: Uint8Array): number {
  if (((payload[0] ?? 0) & payloadFlags.range) === 0) return 1
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(payload.byteLength - 4)
}

// Every stored transfer of a contract within a range, row by row, for work that looks at whole ranges. Pages for answers are read as they are.

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
      // A damaged payload hides where the next one starts. A page of one row needs no such knowledge.
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
    const length = page.length === 1 ? page.payloads.length : payloadLengthAt(page.payloads, at)
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
