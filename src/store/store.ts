// The only door to the data: what every engine offers, in the words of the domain, joined from one file for each area. No
// engine, SQL or rule of an answer here.

import type {
  ActivityRow,
  Address,
  Block,
  ChainId,
  CoverageScope,
  CoveredInterval,
  Interval,
  Position,
  TransferRow,
} from '../model.ts'
import type { AnnotationStore } from './annotation-store.ts'
import type { KeyStore } from './key-store.ts'
import type { PackedActivity } from './packed-activity.ts'
import type { SolanaStore } from './solana-store.ts'

/**
 * Every write is one transaction, all or nothing, and safe to repeat. Reads never wait for writes. Failures are
 * AlmanacErrors with a `store_*` code. A store is a plain object whose functions need no `this`: what stands in front of one
 * spreads it and replaces what it changes.
 */
export interface Store
  extends ChainReader,
    ChainWriter,
    TransferReader,
    ActivityReader,
    SolanaStore,
    KeyStore,
    AnnotationStore,
    LeaseStore,
    WorkStore,
    CheckpointStore {
  readonly engine: 'sqlite' | 'postgres'
  /** Where the data is, fit for a log: no password. */
  readonly location: string
  /**
   * A number that is another one after anything that an answer can show was committed, by this or any other process.
   * Cheap enough to ask for on every request; answers may be cached for as long as it stays.
   */
  revision(): number
  /** 32 random bytes, made with the store and the same for every process: signs cursors. */
  secret(): Promise<Uint8Array>
  info(): Promise<StoreInfo>
  close(): Promise<void>
}

/** A copy of the store on another server that follows it with a lag, for reads that may be a moment old. */
export interface ReadReplica {
  /** Undefined while the copy is further behind than allowed, or cannot be reached. Reads of one answer stay with one of both. */
  current(): Store | undefined
  /** Reports a read that failed: the copy is not used until it has answered again. */
  failed(): void
  /** Another number after anything that answers from the copy can show has changed, or the copy comes or goes. */
  revision(): number
  close(): Promise<void>
}

export type StoreInfo = { engine: Store['engine']; location: string; schemaVersion: number; sizeBytes: number }

// What is kept of EVM chains: heads, blocks, coverage and the commits that change them. Rows are read through other doors.

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

// Reading transfers: pages as columns, and counts. How a row is packed is `transfer-payload.ts`.

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

// Reading which chains a wallet is active on. The rows come with the commits of `chain-store.ts`.

export interface ActivityReader {
  /** The chains on which the address is known to be active. */
  activityOf(address: Address): Promise<ReadonlyMap<ChainId, ActivityRow>>
}

// Small named texts that must survive a restart, such as where a feed stopped. What they mean is their writers' business.

export interface CheckpointStore {
  checkpoint(name: string): Promise<string | undefined>
  putCheckpoint(name: string, value: string): Promise<void>
}

// Several indexers on one store: who may write, and writes that nobody else's can overtake. It says nothing of the work itself.

/** The right to do a piece of work, such as following a chain. Each new holder gets a higher token. */
export type Lease = { name: string; token: number }

/** Writes that fail with `conflict`, within their own transaction, as soon as another holder has the lease. */
export type FencedWriter = ChainWriter & Pick<CheckpointStore, 'putCheckpoint'>

export interface LeaseStore {
  /**
   * Takes a name for `holder`, or keeps it for longer, by the store's clock. Undefined while another holder has it. A holder
   * that comes back late keeps its token if nobody claimed the name meanwhile.
   */
  claim(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /** Gives a name back before its time; nothing happens where another holder has it by now. */
  release(lease: Lease): Promise<void>
  fenced(lease: Lease): FencedWriter
}

// Processes on one store that ask each other for work, and tell how they fare. Nothing here must survive a crash of the store.

/** Work of one name is done once for all who ask while it is not finished. */
export type WorkRequest = {
  name: string
  /** Who can do it: a process takes work of the topics that it serves. */
  topic: string
  /** How long whoever asks will wait. After that nobody begins with it any more. */
  waitMs: number
}

/** Finished or forgotten work stays this long, for those who still look for its outcome. */
export const workKeptMs = 60_000
/** What a process said that never took it back. */
export const heartbeatsKeptMs = 86_400_000

export type Heartbeat = { process: string; ageMs: number; report: string }

export interface WorkStore {
  /** Asks for work, anew where it was finished before. */
  requestWork(request: WorkRequest): Promise<void>
  /**
   * Takes work that nobody else has, oldest first, for at most `holdMs`: whoever dies meanwhile leaves it to others. `waitMs` is
   * what is left of the wait.
   */
  takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]>
  finishWork(name: string, outcome: string): Promise<void>
  /** The outcomes of those that are finished. */
  workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What a process says of itself; an undefined report takes it back. */
  putHeartbeat(process: string, report: string | undefined): Promise<void>
  /** Of every process that did not take it back, youngest first, for a day. */
  heartbeats(): Promise<Heartbeat[]>
}
