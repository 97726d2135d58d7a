// What is kept of EVM chains: heads, blocks, coverage and the commits that change them. Rows are read through other doors.
import type { Address, Block, ChainId, CoverageScope, CoveredInterval, Interval, TransferRow } from '../model.ts'
import type { PackedActivity } from './packed-activity.ts'

export type ChainState = {
  head: Block
  /** The highest final block; -1 while none is known. Rows at or below it are cold. */
  finalized: number
}

export interface ChainReader {
  chainState(chain: ChainId): Promise<ChainState | undefined>
  /** The intervals of exactly this scope, sorted and disjoint. */
  coverage(chain: ChainId, scope: CoverageScope): Promise<CoveredInterval[]>
  /** Every scope of a chain that has coverage, with its intervals. */
  coverageByScope(chain: ChainId): Promise<{ scope: CoverageScope; intervals: CoveredInterval[] }[]>
  /**
   * What is covered for one contract: its own intervals, the full ones, and the watched ones from its `watchedFrom` on.
   * Sorted and disjoint, the strongest evidence where they overlap.
   */
  contractCoverage(chain: ChainId, contract: Address): Promise<CoveredInterval[]>
  /**
   * The known blocks on both sides of a moment: the last with a timestamp below it and the first at or above it.
   * Every block that holds a row is known, and so are the ends of covered intervals.
   */
  blocksAround(chain: ChainId, timestamp: number): Promise<{ before: Block | undefined; after: Block | undefined }>
  /** Not yet final blocks that are stored, lowest first. */
  hotBlocks(chain: ChainId): Promise<Block[]>
  watchedContracts(chain: ChainId): Promise<WatchedContract[]>
  /** Contracts that rows were ever stored for, in the order of their addresses, from behind `after` on. */
  contractsOf(chain: ChainId, after: Address | undefined, limit: number): Promise<Address[]>
}

export type WatchedContract = { contract: Address; watchedFrom: number }

/** Rows of blocks that are final, in any order; the engine sorts. What lies above the known final block moves it there. */
export type ColdCommit = {
  chain: ChainId
  /** What the commit proves to be complete; empty where rows are put in without such a claim. */
  covered: readonly (CoveredInterval & { scope: CoverageScope })[]
  /** Every block that holds one of the rows, and the ends of the covered interval. */
  blocks: readonly Block[]
  transfers: readonly TransferRow[]
  activity: PackedActivity
}

/** The rows of one block that is not final yet. */
export type HotBlock = Block & { transfers: readonly TransferRow[]; activity: PackedActivity }

export type HotCommit = {
  chain: ChainId
  /**
   * The last block that stays: hot blocks above it are replaced by `blocks` in the same transaction. Appending to the
   * chain is the case in which nothing stands above it. Never below the final block (`conflict`).
   */
  ancestor: number
  /** Lowest first, without gaps of numbers if `covered` is given. */
  blocks: readonly HotBlock[]
  /**
   * The scope and evidence for which the blocks are complete. Coverage above `ancestor` in this scope is
   * replaced; where blocks are really replaced, coverage above it in every scope is forgotten.
   */
  covered?: { scope: CoverageScope; from: number; evidence: CoveredInterval['evidence'] }
  /** The chain's new head; it may lie above the last block given. */
  head: Block
}

export interface ChainWriter {
  commitCold(commit: ColdCommit): Promise<{ transfersAdded: number }>
  commitHot(commit: HotCommit): Promise<void>
  /**
   * Adds rows to hot blocks that are stored already, for a contract or wallet that was asked for after they came. All or
   * nothing: where a block is not hot any more or has another hash nothing is written and the answer is `conflict`.
   */
  addToHot(chain: ChainId, blocks: readonly HotBlock[], covered: ColdCommit['covered']): Promise<void>
  /** Moves hot rows at or below `upTo` to the cold tables and remembers `upTo` as final. */
  finalize(chain: ChainId, upTo: number): Promise<void>
  /** Remembers the head that a node reported, with no rows. Never moves it below a stored hot block. */
  putHead(chain: ChainId, head: Block): Promise<void>
  /** Records coverage without rows, as for the blocks below a contract's deployment. */
  addCoverage(chain: ChainId, scope: CoverageScope, interval: CoveredInterval): Promise<void>
  /**
   * Forgets the cold transfers within an interval, of all contracts (`full`) or of one, and every coverage that vouched
   * for them, so that they are indexed again.
   */
  dropRange(chain: ChainId, scope: Exclude<CoverageScope, 'watched'>, interval: Interval): Promise<void>
  /** Marks a contract as followed at the head from `watchedFrom` on. The lowest mark stays. */
  watchContract(chain: ChainId, contract: Address, watchedFrom: number): Promise<void>
}
