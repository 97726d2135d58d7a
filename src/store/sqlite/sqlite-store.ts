// The store in one SQLite file. It only joins the parts: transactions, snapshots and errors are theirs.
import { statSync } from 'node:fs'
import { addCoverage, removeCoverage } from '../../coverage.ts'
import type {
  ActivityRow,
  Address,
  Block,
  ChainId,
  CoverageScope,
  CoveredInterval,
  Hash,
  Interval,
  SolanaNetwork,
} from '../../model.ts'
import type { AnnotationFilter } from '../annotation-rank.ts'
import type { SourceContent } from '../annotation-store.ts'
import { bytesOfHex, hexOf } from '../bytes.ts'
import type { ChainState, ColdCommit, HotBlock, HotCommit, WatchedContract } from '../chain-store.ts'
import type { ContractFacts } from '../contract-facts-store.ts'
import type { AllowanceGrant, AllowanceRequest, KeyRecord, KeyUse } from '../key-store.ts'
import { LabelFilter } from '../label-filter.ts'
import type { Label, LabelHint, LabelKey } from '../label-store.ts'
import type { FencedWriter, Lease } from '../lease-store.ts'
import type { Mark, MarkKey } from '../mark-store.ts'
import type { Holding, HoldingColumns, HoldingUpdate, Mint, MintUpdate, SolanaAccount } from '../solana-store.ts'
import type { Store, StoreInfo } from '../store.ts'
import type { TransferPage, TransferPageQuery, TransferRange } from '../transfer-store.ts'
import type { Heartbeat, WorkRequest } from '../work-store.ts'
import { activityOf } from './activity.ts'
import * as annotations from './annotations.ts'
import { blocksAround, hotBlocksOf } from './blocks.ts'
import * as commits from './chain-commits.ts'
import { Connection, type Row } from './connection.ts'
import * as coverage from './coverage-table.ts'
import { Dictionary } from './dictionary.ts'
import { storeFailure } from './failures.ts'
import * as keys from './keys.ts'
import * as leases from './leases.ts'
import * as marks from './marks.ts'
import { schemaVersion } from './migrations.ts'
import { ownerWriteOptions, prepareFile, readOptions, writeOptions } from './open-file.ts'
import { Ownership } from './ownership.ts'
import { SharedFile } from './shared-file.ts'
import * as solana from './solana.ts'
import { emptyPage, transferCount, transferPage } from './transfer-pages.ts'
import { WriteQueue } from './write-queue.ts'

export type StoreRole = 'owner' | 'reader' | 'tool'

/** How long a write waits for other processes. */
const waitMsMax: Record<StoreRole, number> = { owner: 60_000, reader: 5_000, tool: 60_000 }

export async function openSqliteStore(path: string, role: StoreRole): Promise<SqliteStore> {
  const location = `file:${path}`
  let ownership: Ownership | undefined
  try {
    await prepareFile(path)
    if (role === 'owner') ownership = new Ownership(path)
    const options = role === 'owner' ? ownerWriteOptions : writeOptions
    return new SqliteStore({
      path,
      read: new Connection(path, readOptions),
      openWrite: () => new Connection(path, options),
      waitMsMax: waitMsMax[role],
      ownership,
    })
  } catch (error) {
    ownership?.release()
    throw storeFailure(error, location)
  }
}

export type SqliteStoreParts = {
  path: string
  read: Connection
  openWrite: () => Connection
  waitMsMax: number
  ownership: Ownership | undefined
}

/** The one writer of a store, and what it knows of numbers that were given. */
type Writer = { queue: WriteQueue; dictionary: Dictionary | undefined }

function newWriter(location: string, { openWrite, waitMsMax }: SqliteStoreParts): Writer {
  const writer: Writer = {
    queue: new WriteQueue(openWrite, { location, waitMsMax, onRollback: () => writer.dictionary?.forget() }),
    dictionary: undefined,
  }
  return writer
}

export class SqliteStore implements Store {
  readonly engine = 'sqlite'
  readonly location: string
  readonly #path: string
  readonly #read: Connection
  readonly #readDictionary: Dictionary
  readonly #labelFilter: LabelFilter
  readonly #writer: Writer
  readonly #ownership: Ownership | undefined
  readonly #shared: SharedFile
  readonly #parts: SqliteStoreParts
  readonly #lease: Lease | undefined

  /** With a fence it is a second face of the same store, whose writes check the lease. */
  constructor(parts: SqliteStoreParts, fence?: { lease: Lease; writer: Writer }) {
    this.location = `file:${parts.path}`
    this.#path = parts.path
    this.#read = parts.read
    this.#readDictionary = new Dictionary(parts.read)
    this.#labelFilter = new LabelFilter(annotations.labelAddresses(parts.read))
    this.#ownership = parts.ownership
    this.#shared = new SharedFile(`${parts.path}-shared`)
    this.#parts = parts
    this.#lease = fence?.lease
    this.#writer = fence?.writer ?? newWriter(this.location, parts)
  }

  // ---- the store itself

  /**
   * A row that only commits which answers can show count up, read in 2.5 µs. PRAGMA data_version costs 2.2 µs and changes
   * with every commit, so that the use counts of keys and checkpoints would empty caches every second.
   */
  revision(): number {
    return this.#reading(read => (read.get('SELECT value FROM revision') as Row)[0] as number)
  }

  async secret(): Promise<Uint8Array> {
    return this.#reading(read => (read.get("SELECT value FROM secrets WHERE name = 'cursor'") as Row)[0] as Uint8Array)
  }

  async checkpoint(name: string): Promise<string | undefined> {
    return this.#reading(
      read => read.get('SELECT value FROM checkpoints WHERE name = ?', name)?.[0] as string | undefined,
    )
  }

  async putCheckpoint(name: string, value: string): Promise<void> {
    await this.#writer.queue.transaction(write => {
      if (this.#lease !== undefined) leases.requireLease(write, this.#lease)
      write.run('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)', name, value)
    })
  }

  async info(): Promise<StoreInfo> {
    const { engine, location } = this
    return { engine, location, schemaVersion, sizeBytes: sizeOf(this.#path) + sizeOf(`${this.#path}-wal`) }
  }

  async close(): Promise<void> {
    // The writer is the last to leave: it moves the log into the file and removes it.
    await this.#shared.close()
    await this.#writer.queue.settled()
    this.#read.close()
    this.#writer.queue.close()
    this.#ownership?.release()
  }

  // ---- EVM chains

  async chainState(chain: ChainId): Promise<ChainState | undefined> {
    const row = this.#reading(read =>
      read.get('SELECT head_number, head_hash, head_timestamp, finalized FROM chains WHERE id = ?', chain),
    )
    if (row === undefined || row[0] === null) return undefined
    return {
      head: { number: row[0] as number, hash: hexOf<Hash>(row[1] as Uint8Array), timestamp: row[2] as number },
      finalized: row[3] as number,
    }
  }

  async coverage(chain: ChainId, scope: CoverageScope): Promise<CoveredInterval[]> {
    return this.#ofChain(chain, [], (read, ordinal) => coverage.coverageOf(read, ordinal, scope))
  }

  async coverageByScope(chain: ChainId): Promise<{ scope: CoverageScope; intervals: CoveredInterval[] }[]> {
    return this.#ofChain(chain, [], coverage.coverageByScope)
  }

  async contractCoverage(chain: ChainId, address: Address): Promise<CoveredInterval[]> {
    return this.#ofChain(chain, [], (read, ordinal) =>
      read.snapshot(() => {
        const covered = [
          coverage.coverageOf(read, ordinal, 'full'),
          coverage.coverageOf(read, ordinal, address),
          watchedCoverage(read, ordinal, address),
        ].filter(intervals => intervals.length > 0)
        return covered.length < 2 ? (covered[0] ?? []) : covered.flat().reduce<CoveredInterval[]>(addCoverage, [])
      }),
    )
  }

  async blocksAround(
    chain: ChainId,
    timestamp: number,
  ): Promise<{ before: Block | undefined; after: Block | undefined }> {
    return this.#ofChain(chain, { before: undefined, after: undefined }, (read, ordinal) =>
      read.snapshot(() => {
        const hot = blocksAround(read, 'hot_blocks', ordinal, timestamp)
        const cold = blocksAround(read, 'blocks', ordinal, timestamp)
        return { before: hot.before ?? cold.before, after: cold.after ?? hot.after }
      }),
    )
  }

  async hotBlocks(chain: ChainId): Promise<Block[]> {
    return this.#ofChain(chain, [], hotBlocksOf)
  }

  async watchedContracts(chain: ChainId): Promise<WatchedContract[]> {
    return this.#ofChain(chain, [], (read, ordinal) =>
      read
        .all('SELECT contract, watched_from FROM watched_contracts WHERE chain = ? ORDER BY contract', ordinal)
        .map(([address, watchedFrom]) => ({
          contract: hexOf<Address>(address as Uint8Array),
          watchedFrom: watchedFrom as number,
        })),
    )
  }

  async contractsOf(chain: ChainId, after: Address | undefined, limit: number): Promise<Address[]> {
    return this.#ofChain(chain, [], (_read, ordinal) => this.#readDictionary.contractsOf(ordinal, after, limit))
  }

  commitCold(commit: ColdCommit): Promise<{ transfersAdded: number }> {
    return this.#writing(context => commits.commitCold(context, commit))
  }

  commitHot(commit: HotCommit): Promise<void> {
    return this.#writing(context => commits.commitHot(context, commit))
  }

  addToHot(chain: ChainId, blocks: readonly HotBlock[], covered: ColdCommit['covered']): Promise<void> {
    return this.#writing(context => commits.addToHot(context, chain, blocks, covered))
  }

  finalize(chain: ChainId, upTo: number): Promise<void> {
    return this.#writing(context => commits.finalize(context, chain, upTo))
  }

  putHead(chain: ChainId, head: Block): Promise<void> {
    return this.#writing(context => commits.putHead(context, chain, head))
  }

  addCoverage(chain: ChainId, scope: CoverageScope, interval: CoveredInterval): Promise<void> {
    return this.#writing(({ connection, dictionary }) =>
      coverage.addCoverageRows(connection, dictionary.addOrdinal(chain), scope, interval),
    )
  }

  dropRange(chain: ChainId, scope: Exclude<CoverageScope, 'watched'>, interval: Interval): Promise<void> {
    return this.#writing(context => commits.dropRange(context, chain, scope, interval))
  }

  watchContract(chain: ChainId, address: Address, watchedFrom: number): Promise<void> {
    return this.#writing(context => commits.watchContract(context, chain, address, watchedFrom))
  }

  // ---- transfers and activity

  async transferPage(query: TransferPageQuery): Promise<TransferPage> {
    return this.#ofContract(query, emptyPage, (read, ordinal, number) => transferPage(read, ordinal, number, query))
  }

  async transferCount(range: TransferRange): Promise<number> {
    return this.#ofContract(range, 0, (read, _ordinal, number) => transferCount(read, number, range))
  }

  async activityOf(address: Address): Promise<ReadonlyMap<ChainId, ActivityRow>> {
    return this.#reading(read => activityOf(read, address))
  }

  // ---- Solana

  async portfolioOf(
    network: SolanaNetwork,
    owner: Uint8Array,
  ): Promise<{ account: SolanaAccount; holdings: HoldingColumns } | undefined> {
    return this.#reading(read => solana.portfolioOf(read, network, owner))
  }

  putOwner(network: SolanaNetwork, account: SolanaAccount, holdings: readonly Holding[]): Promise<void> {
    return this.#writing(({ connection }) => solana.putOwner(connection, network, account, holdings))
  }

  async mintsOf(network: SolanaNetwork, mints: readonly Uint8Array[]): Promise<Mint[]> {
    return this.#reading(read => solana.mintsOf(read, network, mints))
  }

  putMints(network: SolanaNetwork, mints: readonly MintUpdate[]): Promise<void> {
    return this.#writing(({ connection }) => solana.putMints(connection, network, mints))
  }

  applyHoldings(network: SolanaNetwork, updates: readonly HoldingUpdate[]): Promise<void> {
    return this.#writing(({ connection }) => solana.applyHoldings(connection, network, updates))
  }

  putLamports(network: SolanaNetwork, account: SolanaAccount): Promise<void> {
    return this.#writing(({ connection }) => solana.putLamports(connection, network, account))
  }

  // ---- keys

  putKey(key: KeyRecord): Promise<void> {
    return this.#writing(({ connection }) => keys.putKey(connection, key))
  }

  async keyByHash(hash: string): Promise<KeyRecord | undefined> {
    return this.#reading(read => keys.keyByHash(read, hash))
  }

  async keys(): Promise<KeyRecord[]> {
    return this.#reading(keys.allKeys)
  }

  revokeKey(id: string, revokedAt: number): Promise<boolean> {
    return this.#writing(({ connection }) => keys.revokeKey(connection, id, revokedAt))
  }

  addUse(uses: readonly KeyUse[]): Promise<ReadonlyMap<string, number>> {
    return this.#writer.queue.transaction(connection => keys.addUse(connection, uses))
  }

  async usesOf(day: string): Promise<KeyUse[]> {
    return this.#reading(read => keys.usesOf(read, day))
  }

  takeAllowance(request: AllowanceRequest): Promise<AllowanceGrant> {
    return this.#shared.takeAllowance(request, day => this.#reading(read => keys.usedOn(read, day, request.keyId)))
  }

  takeIndexing(asked: { keyId: string; target: string; perDay: number }): Promise<boolean> {
    return this.#shared.takeIndexing(asked)
  }

  // ---- work for other processes

  requestWork(request: WorkRequest): Promise<void> {
    return this.#shared.requestWork(request)
  }

  takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]> {
    return this.#shared.takeWork(asked)
  }

  finishWork(name: string, outcome: string): Promise<void> {
    return this.#shared.finishWork(name, outcome)
  }

  workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#shared.workOutcomes(names)
  }

  putHeartbeat(process: string, report: string | undefined): Promise<void> {
    return this.#shared.putHeartbeat(process, report)
  }

  heartbeats(): Promise<Heartbeat[]> {
    return this.#shared.heartbeats()
  }

  // ---- annotations

  putLabels(labels: readonly Label[]): Promise<void> {
    return this.#writing(({ connection, dictionary }) => annotations.putLabels(connection, dictionary, labels))
  }

  removeLabels(labels: readonly LabelKey[]): Promise<number> {
    return this.#writing(({ connection, dictionary }) => annotations.removeLabels(connection, dictionary, labels))
  }

  labelHint(): LabelHint | undefined {
    return this.#reading(() => this.#labelFilter.hint())
  }

  async labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>> {
    return this.#reading(read => annotations.labelsOf(read, this.#readDictionary, chain, addresses))
  }

  async labelCandidates(chain: ChainId, address: Address): Promise<Label[]> {
    return this.#reading(read => annotations.labelCandidates(read, this.#readDictionary, chain, address))
  }

  async labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]> {
    return this.#reading(read => annotations.labelsAfter(read, this.#readDictionary, filter, after, limit))
  }

  putMarks(given: readonly Mark[]): Promise<void> {
    return this.#writing(({ connection, dictionary }) => marks.putMarks(connection, dictionary, given))
  }

  removeMarks(given: readonly MarkKey[]): Promise<number> {
    return this.#writing(({ connection, dictionary }) => marks.removeMarks(connection, dictionary, given))
  }

  async marksOf(chain: ChainId, address: Address): Promise<Mark[]> {
    return this.#ofChain(chain, [], (read, ordinal) => marks.marksOf(read, ordinal, address))
  }

  async marks(filter: AnnotationFilter, after: MarkKey | undefined, limit: number): Promise<Mark[]> {
    return this.#reading(read => marks.marksAfter(read, this.#readDictionary, filter, after, limit))
  }

  replaceSource({ source, labels, marks: given, checkpoint }: SourceContent): Promise<void> {
    return this.#writing(({ connection, dictionary }) => {
      annotations.forgetSource(connection, source)
      annotations.putLabels(
        connection,
        dictionary,
        labels.map(label => ({ ...label, source })),
      )
      marks.putMarks(
        connection,
        dictionary,
        given.map(mark => ({ ...mark, source })),
      )
      connection.run('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)', checkpoint.name, checkpoint.value)
    })
  }

  putContractFacts(facts: readonly ContractFacts[]): Promise<void> {
    return this.#writing(({ connection, dictionary }) => annotations.putContractFacts(connection, dictionary, facts))
  }

  async contractFacts(chain: ChainId, address: Address): Promise<ContractFacts | undefined> {
    return this.#reading(read => annotations.contractFacts(read, this.#readDictionary, chain, address))
  }

  async verifiedNames(): Promise<string[]> {
    return this.#reading(annotations.verifiedNames)
  }

  // ---- leases

  claim(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    return this.#writer.queue.transaction(connection => leases.claim(connection, name, holder, ttlMs))
  }

  release(lease: Lease): Promise<void> {
    return this.#writer.queue.transaction(connection => leases.release(connection, lease))
  }

  fenced(lease: Lease): FencedWriter {
    return new SqliteStore(this.#parts, { lease, writer: this.#writer })
  }

  // ---- the two ways in

  /** One transaction; the revision counts up when it changed anything. */
  #writing<T>(work: (context: commits.WriteContext) => T): Promise<T> {
    return this.#writer.queue.transaction(connection => {
      if (this.#lease !== undefined) leases.requireLease(connection, this.#lease)
      this.#writer.dictionary ??= new Dictionary(connection)
      const before = totalChanges(connection)
      const result = work({ connection, dictionary: this.#writer.dictionary })
      if (totalChanges(connection) !== before) connection.run('UPDATE revision SET value = value + 1')
      return result
    })
  }

  #reading<T>(work: (read: Connection) => T): T {
    try {
      return work(this.#read)
    } catch (error) {
      throw storeFailure(error, this.location)
    }
  }

  #ofChain<T>(chain: ChainId, none: T, work: (read: Connection, ordinal: number) => T): T {
    return this.#reading(read => {
      const ordinal = this.#readDictionary.ordinalOf(chain)
      return ordinal === undefined ? none : work(read, ordinal)
    })
  }

  #ofContract<T>(
    { chain, contract: address }: TransferRange,
    none: T,
    work: (read: Connection, ordinal: number, number: number) => T,
  ): T {
    return this.#ofChain(chain, none, (read, ordinal) => {
      const number = this.#readDictionary.contractOf(ordinal, address)
      return number === undefined ? none : work(read, ordinal, number)
    })
  }
}

/** The watched intervals from the contract's mark on. */
function watchedCoverage(read: Connection, ordinal: number, address: Address): CoveredInterval[] {
  const bytes = bytesOfHex(address)
  const mark = read.get('SELECT watched_from FROM watched_contracts WHERE chain = ? AND contract = ?', ordinal, bytes)
  if (mark === undefined) return []
  const below = { from: 0, to: (mark[0] as number) - 1 }
  return removeCoverage(coverage.coverageOf(read, ordinal, 'watched'), below)
}

function totalChanges(connection: Connection): number {
  return (connection.get('SELECT total_changes()') as Row)[0] as number
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
