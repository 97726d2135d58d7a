// Reading the indexes of transfers (`indexes/`): their records as bytes, and the transfers that they point to. What
// follows from records is for `query/` to say.
import type { Address, ChainId, Position, ShownToken } from '../model.ts'
import type { IndexName } from './runs/view.ts'

export interface IndexReader {
  /** Up to `limit` records of a span of keys, hot and cold transfers alike, in one moment. */
  indexRecords(query: IndexQuery): Promise<IndexRecords>
  /** The transfers at these places, in their order; a place that has none any more is left out. */
  transfersAt(chain: ChainId, places: readonly ContractPlace[]): Promise<MixedPage>
  /**
   * The oldest record of each token in `by_token`, in the order of the tokens; undefined where there is none. Ranges
   * that cover a token are not looked at, but it is told which of `rangesOf` have some, which costs more than a token.
   */
  oldestOfTokens(chain: ChainId, tokens: readonly TokenKey[], rangesOf: readonly Address[]): Promise<OldestOfTokens>
  /** Cheap enough for every request. */
  rowState(chain: ChainId): Promise<RowState>
}

export type IndexQuery = {
  chain: ChainId
  index: IndexName
  /** Of `by_token` alone, whose keys are given and answered without the number of the contract. */
  contract?: Address
  /** First and last key in the order of keys, both included. */
  from: Uint8Array
  to: Uint8Array
  /** `keys`: in the order of keys, newest first within one wallet or token. `back`: the other way. */
  order: 'keys' | 'back'
  /** Records strictly beyond this key in the given order. */
  after?: Uint8Array | undefined
  limit: number
}

export type IndexRecords = {
  length: number
  /** One after the other. */
  keys: Uint8Array
  /** One after the other. */
  values: Uint8Array
  /** Where each value ends. */
  valueEnds: readonly number[]
  /** The contracts that values name by number; empty for `by_token`. */
  contracts: ReadonlyMap<number, Address>
}

export const noRecords: IndexRecords = {
  length: 0,
  ...{ keys: new Uint8Array(0), values: new Uint8Array(0), valueEnds: [], contracts: new Map<number, Address>() },
}

export type TokenKey = Pick<ShownToken, 'contract' | 'tokenId'>

export type TokenRecordAt = { place: Uint8Array; value: Uint8Array }

export type OldestOfTokens = {
  records: (TokenRecordAt | undefined)[]
  /** One that had some once may be among them. */
  withRanges: ReadonlySet<Address>
}

export type ContractPlace = Position & { contract: Address }

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

/** A page of several contracts. */
export type MixedPage = TransferPage & { contracts: readonly Address[] }

export type IndexState = {
  index: IndexName
  /** All stored transfers are in it. */
  filled: boolean
  /** While it is filled from stored rows: how many contracts are done, of how many. */
  progress?: { contracts: number; of: number }
}

/**
 * Of the rows of a chain. Both counts only go up. What is made of final rows stays true while the first, or for one
 * contract its count, stays.
 */
export type RowState = {
  /** One that is not kept is not named. */
  indexes: IndexState[]
  /** Changes that took rows of final blocks away, and indexes that became filled. */
  takenBack: number
  /** Commits that brought rows to blocks that were final before. */
  filled: number
}

export type KeptIndexes = { kept: ReadonlySet<IndexName>; filled: ReadonlySet<IndexName> }

export function keptAndFilled(states: readonly IndexState[]): KeptIndexes {
  const filled = states.filter(index => index.filled)
  return { kept: new Set(states.map(({ index }) => index)), filled: new Set(filled.map(({ index }) => index)) }
}

/** Which indexes a chain keeps. Records themselves come and go with the commits of transfers. */
export interface IndexWriter {
  /**
   * One step towards keeping exactly these; undefined: those that are kept. The first step says which: one that is left
   * out is no longer kept, nor answered from. The others fill new ones from stored rows, and remove records of those
   * that are not kept. False where nothing is left to do. A chain that the store does not know yet keeps all.
   */
  keepIndexes(chain: ChainId, indexes: readonly IndexName[] | undefined, transfersMax: number): Promise<boolean>
}
