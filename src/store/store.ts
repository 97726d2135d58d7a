// The Store interface: everything that reads or writes stored data goes through it. Each engine implements it. No
// engine, SQL or rule of an answer here.
//
// From top to bottom: the store as a whole, EVM chains, transfers, activity, checkpoints, leases, work between
// processes. Indexes, Solana, keys and annotations have files of their own.

import { createHash } from 'node:crypto'
import type {
  ActivityRow,
  Address,
  Block,
  ChainId,
  CoverageScope,
  CoveredInterval,
  Hash,
  Interval,
  Position,
  TransferRow,
} from '../model.ts'
import type { AnnotationStore } from './annotation-store.ts'
import type { IndexReader, IndexWriter, MixedPage, TransferPage } from './index-reader.ts'
import type { KeyStore } from './key-store.ts'
import type { PackedActivity } from './packed-activity.ts'
import type { IndexName } from './runs/view.ts'
import type { SolanaStore } from './solana-store.ts'
import type { WebFactStore } from './web-fact-store.ts'
import type { WebhookProgressWriter, WebhookStore } from './webhook-store.ts'

/**
 * Every write is one transaction, all or nothing, and safe to repeat. Reads never wait for writes. Failures are
 * AlmanacErrors with a `store_*` code. A store is a plain object whose functions need no `this`: a wrapper spreads it
 * and replaces what it changes.
 */
export interface Store
  extends ChainReader,
    ChainWriter,
    TransferReader,
    ActivityReader,
    CheckpointStore,
    LeaseStore,
    WorkStore,
    SolanaStore,
    KeyStore,
    AnnotationStore,
    WebhookStore,
    WebFactStore {
  readonly engine: 'sqlite' | 'postgres'
  /** Where the data is, fit for a log: no password. */
  readonly location: string
  /** 32 random bytes, made with the store and the same for every process: signs cursors. */
  readonly secret: Uint8Array
  /**
   * Changes after every commit, by any process, that an answer can show. Cheap enough for every request; answers may be
   * cached while it stays the same.
   */
  revision(): number
  info(): Promise<StoreInfo>
  /** Only of an engine whose log is a file beside it: moves what it holds into the store and makes it small. */
  takeInLog?(): Promise<void>
  /** Costs little at any size. */
  runs(): Promise<RunSummary[]>
  /** Transfers by wallet, by token and by block. */
  indexes: IndexReader
  /** What is wrong with the store as a whole, as far as it is known without reading all of it. */
  problems(): Promise<StoreProblem[]>
  close(): Promise<void>
}

/** Names a store for every process that has it open, and tells nothing else of it. A copy keeps the name. */
export function storeIdOf({ secret }: Pick<Store, 'secret'>): string {
  return createHash('sha256').update('store id').update(secret).digest('hex').slice(0, 16)
}

export type StoreProblem = {
  /** The last three mean that answers may be wrong or lost. */
  problem: 'store_full' | 'worker_dead' | 'store_missing' | 'store_replaced' | 'store_damaged'
  /** Fit for any client: no path and no host. */
  reason: string
}

/** The sorted runs of one view of one chain. */
export type RunSummary = {
  chain: ChainId
  view: string
  runs: number
  records: number
  /** Of them those that a merge under way has still to move. */
  mergingRecords: number
}

export type StoreInfo = {
  engine: Store['engine']
  location: string
  schemaVersion: number
  /** On the disk, the write-ahead log of a file included. */
  sizeBytes: number
  /** Of them in use: the free pages of a file take new rows before it grows. */
  usedBytes: number
  /** The disk of a file; undefined for a server. */
  disk: { bytes: number; freeBytes: number } | undefined
  /** Told by `StoreRoom`. */
  bytesMax?: number | undefined
  fullInSeconds?: number | undefined
}

/** A copy of the store on another server that follows it with a lag, for reads that may be a moment old. */
export interface ReadReplica {
  /**
   * Undefined while the copy lags more than allowed or cannot be reached. The reads of one answer stay with one of
   * both.
   */
  current(): Store | undefined
  /** Reports a read that failed: the copy is not used until it has answered again. */
  failed(): void
  /** Changes when anything that answers from the copy can show changes, or the copy comes or goes. */
  revision(): number
  close(): Promise<void>
}

// EVM chains: heads, blocks, coverage, and the commits that change them.

export type ChainState = {
  head: Block
  /** The highest final block; -1 while none is known. Rows at or below it are cold, those above it hot. */
  finalized: number
  /** What is stored of recent blocks takes so much memory in each process that answers. */
  recentBytes?: number
}

/** Whole blocks, of which the last has this hash. */
export type StoredRange = Interval & { hash: Hash }

/** `askedOn`: the last day on which it was asked for, counted from 1970, UTC. */
export type WatchedContract = { contract: Address; watchedFrom: number; askedOn: number }

/**
 * A contract is followed at the head from a block on, of which the lowest stays, or no longer; or it was asked for on a
 * day, which is noted if it is followed.
 */
export type Watch = { from: number } | { askedOn: number } | 'ended'

/** What is complete for a scope, and what proves it. */
export type Claim = CoveredInterval & { scope: CoverageScope }

/**
 * A block that a reorganisation replaced. The hash of its parent is undefined where that was final. `page`: its
 * transfers, newest first.
 */
export type GoneBlock = Block & { parent: { number: number; hash: Hash | undefined }; page: MixedPage }

/** Rows of these final blocks were taken back, of one contract or of all. A later time has a higher era. */
export type TakenBack = Interval & { era: number; contract: Address | undefined }

export type BlocksAround = { before: Block | undefined; after: Block | undefined }

export interface ChainReader {
  chainState(chain: ChainId): Promise<ChainState | undefined>
  /**
   * What is claimed for exactly these scopes, or for every one, contracts last. Those of a scope are sorted and
   * disjoint. `claimsMax` bounds what is read.
   */
  coverage(chain: ChainId, scopes?: CoverageScope | readonly CoverageScope[], claimsMax?: number): Promise<Claim[]>
  /**
   * The coverage of one contract: its own intervals, those of whole blocks, and the watched ones from its `watchedFrom`
   * on. Of `every` contract: whole blocks. Those that were claimed before a contract was forgotten do not count for it,
   * nor for every one. Sorted and disjoint, the strongest evidence where they overlap.
   */
  contractCoverage(chain: ChainId, contract: Address | 'every'): Promise<CoveredInterval[]>
  /**
   * The known blocks on both sides of a moment: the last with a timestamp below it and the first at or above it.
   * Every block that holds a row is known, and so are the ends of covered intervals.
   */
  blocksAround(chain: ChainId, timestamp: number): Promise<BlocksAround>
  /**
   * The lowest known block of an interval, hot or cold; with `hash` the one that has it. No index helps to find a hash:
   * it reads every known block of the interval.
   */
  lowestBlock(chain: ChainId, within: Interval & { hash?: Hash }): Promise<Block | undefined>
  /** Ranges of whole blocks whose rows are stored and not claimed, lowest first and disjoint. */
  pendingRanges(chain: ChainId): Promise<StoredRange[]>
  /** Stored blocks that are not final yet, lowest first. */
  hotBlocks(chain: ChainId): Promise<Block[]>
  /** Kept for some days after a reorganisation replaced it, also where it came back since. */
  goneBlock(chain: ChainId, hash: Hash): Promise<GoneBlock | undefined>
  /** Oldest first: by repairs, by forgetting, and where a backup was restored. */
  takenBack(chain: ChainId): Promise<TakenBack[]>
  watchedContracts(chain: ChainId): Promise<WatchedContract[]>
  /** The contracts after `after` that rows are stored for, in the order of their addresses. */
  contractsOf(chain: ChainId, after: Address | undefined, limit: number): Promise<Address[]>
}

/** A chain, one of its contracts, or one of its views. */
export type ForgetTarget = { chain: ChainId; contract?: Address; view?: 'activity' | IndexName }

/** Rows of final blocks, in any order; the engine sorts. Blocks above the known final one move it there. */
export type ColdCommit = {
  chain: ChainId
  /** What the commit proves to be complete; empty for rows without such a claim. */
  covered: readonly Claim[]
  /**
   * The ranges of whole blocks whose rows the commit holds. Those that it does not cover are pending until a commit
   * does. They replace everything that is stored of their blocks, and what less than `full` claimed of them goes;
   * the rows of a pending range go with the first commit that holds or claims a block of it again.
   */
  ranges?: readonly StoredRange[]
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
   * The last block that stays: `blocks` replace the hot blocks above it in the same transaction. A commit appends where
   * there are none above it. Never below the final block (`conflict`).
   */
  ancestor: number
  /** Lowest first, without gaps of numbers if `covered` is given. */
  blocks: readonly HotBlock[]
  /**
   * The scope and evidence for which the blocks are complete. It replaces the coverage of this scope above `ancestor`;
   * where blocks are really replaced, coverage above it is forgotten in every scope.
   */
  covered?: { scope: CoverageScope; from: number; evidence: CoveredInterval['evidence'] }
  /** The chain's new head; it may be above the last block given. */
  head: Block
}

export interface ChainWriter extends IndexWriter {
  commitCold(commit: ColdCommit): Promise<{ transfersAdded: number }>
  commitHot(commit: HotCommit): Promise<void>
  /**
   * Adds rows to stored hot blocks, for a contract or wallet that was asked for later. All or nothing: `conflict` where
   * a block is no longer hot or has another hash.
   */
  addToHot(chain: ChainId, blocks: readonly HotBlock[], covered: ColdCommit['covered']): Promise<void>
  /** Remembers what a node reported, without rows. Never moves the head below a stored hot block. */
  putChainState(chain: ChainId, state: Partial<Pick<ChainState, 'head' | 'finalized'>>): Promise<void>
  /** Records coverage without rows, as for the blocks below a contract's deployment. */
  addCoverage(chain: ChainId, scope: CoverageScope, interval: CoveredInterval): Promise<void>
  /**
   * Forgets the cold transfers of an interval, of all contracts (`full`) or of one, and every coverage that claimed
   * them: they are indexed again. `full` takes the blocks along, and pending ranges that reach into the interval.
   */
  dropRange(chain: ChainId, scope: 'full' | Address, interval: Interval): Promise<void>
  /**
   * Takes finality back: forgets every row, block and claim above `to`, hot and cold, and remembers `to` as final. A
   * wallet whose last transaction was above keeps its first one alone: the caller marks it before. What was looked up
   * of single wallets, and the hash of the final block, are forgotten. `conflict` where `to` is not below that block.
   */
  unfinalize(chain: ChainId, to: number): Promise<void>
  /** Forgets the cold activity of wallets on a chain. */
  dropActivity(chain: ChainId, wallets: readonly Address[]): Promise<void>
  /** Ending it keeps the rows, and what is covered by the contract's own intervals. */
  watchContract(chain: ChainId, contract: Address, watch: Watch): Promise<void>
  /** Forgets how far wallets were looked up, of those last looked up at a lower block. Their activity stays. */
  forgetWallets(chain: ChainId, below: number): Promise<void>
  /**
   * One step of forgetting, a transaction of about `rowsMax` rows: the first takes claims away, the others remove rows.
   * What was begun is kept under `forgetName`, so that it goes on after a crash. Nothing may be indexed into the chain
   * before it is done (`forget.ts`). Labels and marks stay: they are not indexed.
   */
  forgetStep(what: ForgetTarget, rowsMax: number): Promise<{ removed: number; done: boolean }>
}

// Transfers: pages as columns, and counts. `transfer-payload.ts` knows how a row is packed.

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
  /**
   * Rows strictly beyond this position in the given order. A `batchIndex` of -1 stands before the first row of its log.
   */
  after?: Position
  limit: number
}

export interface TransferReader {
  transferPage(query: TransferPageQuery): Promise<TransferPage>
  /** The number of transfers, an ERC-2309 range counting as many as its ids. From kept counts, never a whole scan. */
  transferCount(range: TransferRange): Promise<number>
}

// Activity: the chains that a wallet is active on. Its rows come with the commits of chains.

export interface ActivityReader {
  activityOf(address: Address): Promise<ReadonlyMap<ChainId, ActivityRow>>
  /**
   * Cold activity of which the first or the last transaction is in the interval, by address, after `after`. No index
   * helps: it reads every wallet of the chain.
   */
  activityWithin(
    chain: ChainId,
    interval: Interval,
    page: { after: Address | undefined; limit: number },
  ): Promise<ActivityRow[]>
}

// Checkpoints: small named texts that must survive a restart, such as where a feed stopped. Their writers know what
// they mean.

export interface CheckpointStore {
  checkpoint(name: string): Promise<string | undefined>
  putCheckpoint(name: string, value: string): Promise<void>
}

// Leases: several indexers on one store, each piece of work with one writer at a time.

/** The right to do a piece of work, such as following a chain. Each new holder gets a higher token. */
export type Lease = { name: string; token: number }

/** Writes that fail with `conflict`, within their own transaction, as soon as another holder has the lease. */
export type FencedWriter = ChainWriter & Pick<CheckpointStore, 'putCheckpoint'> & WebhookProgressWriter

export interface LeaseStore {
  /**
   * Takes a name for `holder`, or keeps it for longer, by the store's clock. Undefined while another holder has it. A
   * holder that returns late keeps its token if no other claimed the name meanwhile.
   */
  claim(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /** Gives a name back early; does nothing where another holder has it by now. */
  release(lease: Lease): Promise<void>
  fenced(lease: Lease): FencedWriter
}

// Work that processes on one store ask of each other, and their heartbeats. None of it must survive a crash of the
// store.

/** Work of one name is done once for all processes that ask while it is not finished. */
export type WorkRequest = {
  name: string
  /** A process takes work of the topics that it serves. */
  topic: string
  /** How long the asking process waits. No process starts the work after that. */
  waitMs: number
}

/** No lease and no hold lasts longer: one that seems to was written before the clock went back, and counts as over. */
export const heldMsMax = 600_000
/** Finished or forgotten work stays this long for processes that still look for its outcome. */
export const workKeptMs = 60_000
/** The heartbeat of a process that ended without taking it back. */
export const heartbeatsKeptMs = 86_400_000

export type Heartbeat = { process: string; ageMs: number; report: string }

export interface WorkStore {
  /** Asks for work, again where it was finished before. */
  requestWork(request: WorkRequest): Promise<void>
  /**
   * Takes work that no other process has, oldest first, for at most `holdMs`: work of a process that dies goes to
   * others. `waitMs` is what is left of the wait.
   */
  takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]>
  finishWork(name: string, outcome: string): Promise<void>
  /** The outcomes of finished work. */
  workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What a process reports of itself; undefined takes it back. */
  putHeartbeat(process: string, report: string | undefined): Promise<void>
  /** The reports that were not taken back, youngest first, for a day. */
  heartbeats(): Promise<Heartbeat[]>
}
