// Reading transfers: pages as columns, and counts. How a row is packed is `transfer-payload.ts`.
import type { Address, ChainId, Position } from '../model.ts'

export type TransferRange = {
  chain: ChainId
  contract: Address
  /** Inclusive. */
  fromBlock?: number
  /** Inclusive. */
  toBlock?: number
}

export type TransferPageQuery = TransferRange & {
  order: 'asc' | 'desc'
  /** Rows strictly beyond this position in the asked order. A `batchIndex` of -1 stands before the first row of its log. */
  after?: Position
  limit: number
}

/**
 * A page as the engines give it: columns of numbers and bytes, so that an answer can be written without an object per
 * row. Hot and cold rows merged, in the asked order. An ERC-2309 range is one row.
 */
export type TransferPage = {
  length: number
  blocks: readonly number[]
  transactionIndexes: readonly number[]
  logIndexes: readonly number[]
  batchIndexes: readonly number[]
  /** Unix seconds. */
  timestamps: readonly number[]
  /** 32 bytes a row. */
  blockHashes: Uint8Array
  /** The rows' payloads (`transfer-payload.ts`) back to back. */
  payloads: Uint8Array
}

const noBytes = new Uint8Array(0)

export const emptyPage: TransferPage = {
  length: 0,
  blocks: [],
  transactionIndexes: [],
  logIndexes: [],
  batchIndexes: [],
  timestamps: [],
  blockHashes: noBytes,
  payloads: noBytes,
}

export interface TransferReader {
  transferPage(query: TransferPageQuery): Promise<TransferPage>
  /** How many transfers there are, an ERC-2309 range counting as many as its ids. From kept counts, never a whole scan. */
  transferCount(range: TransferRange): Promise<number>
}
