// A page of transfers as the engines give it. Pure.

/**
 * A page as the engines give it: columns of numbers and bytes, so an answer is written without an object for each row.
 * Hot and cold rows merged, in the given order. An ERC-2309 range is one row.
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
  /** The rows' payloads back to back. */
  payloads: Uint8Array
}

export const emptyPage: TransferPage = {
  length: 0,
  ...{ blocks: [], transactionIndexes: [], logIndexes: [], batchIndexes: [], timestamps: [] },
  ...{ blockHashes: new Uint8Array(0), payloads: new Uint8Array(0) },
}
