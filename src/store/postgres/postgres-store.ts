// The store on a PostgreSQL server. It only joins the parts: statements, transactions and errors are theirs.
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
import { databaseOptions } from './address.ts'
import * as allowances from './allowances.ts'
import * as annotations from './annotations.ts'
import { blocksAround, hotBlocksOf } from './blocks.ts'
import * as commits from './chain-commits.ts'
import * as coverage from './coverage-table.ts'
import { Database, type Transaction } from './database.ts'
import { Dictionary } from './dictionary.ts'
import * as keys from './keys.ts'
import * as leases from './leases.ts'
import * as marks from './marks.ts'
import { migrate } from './migrate.ts'
import { schemaVersion } from './migrations.ts'
import { type RevisionWatch, watchRevision } from './revision.ts'
import * as solana from './solana.ts'
import * as mints from './solana-mints.ts'
import { emptyPage, transferCount, transferPage } from './transfer-pages.ts'
import { bytesOf, hexTextOf } from './values.ts'
import * as work from './work.ts'

export async function openPostgresStore(url: string): Promise<PostgresStore> {
  const options = databaseOptions(url)
  const database = new Database(options)
  try {
    await migrate(database)
    const watch = watchRevision(options.connectionString, database)
    await watch.refresh()
    return new PostgresStore(database, watch, new Dictionary(database))
  } catch (error) {
    await database.close()
    throw error
  }
}

export class PostgresStore implements Store {
  readonly engine = 'postgres'
  readonly location: string
  readonly #database: Database
  readonly #dictionary: Dictionary
  readonly #watch: RevisionWatch
  readonly #lease: Lease | undefined
  readonly #labelFilter: LabelFilter
  #closed = false

  /** With a lease it is a second face of the same store, whose writes check the lease. */
  constructor(database: Database, watch: RevisionWatch, dictionary: Dictionary, lease?: Lease) {
    this.location = database.location
    this.#database = database
    this.#watch = watch
    this.#dictionary = dictionary
    this.#lease = lease
    const isOpen = () => !this.#closed
    this.#labelFilter = new LabelFilter(annotations.labelAddresses(database, () => watch.labels, isOpen))
  }

  // ---- the store itself

  revision(): number {
    return this.#watch.value
  }

  /** The commits that this process knows of, and when it last asked. */
  seen(): { commits: number; atMs: number } {
    return { commits: this.#watch.commits, atMs: this.#watch.seenAtMs }
  }

  async secret(): Promise<Uint8Array> {
    const [[value] = []] = await this.#database.read("SELECT value FROM secrets WHERE name = 'cursor'")
    return bytesOf(value)
  }

  async checkpoint(name: string): Promise<string | undefined> {
    const [row] = await this.#database.read('SELECT value FROM checkpoints WHERE name = $1', name)
    return row?.[0] ?? undefined
  }

  async putCheckpoint(name: string, value: string): Promise<void> {
    await this.#database.transaction(async transaction => {
      await transaction.run(
        'INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        value,
      )
      if (this.#lease !== undefined) await leases.requireLease(transaction, this.#lease)
    })
  }

  async info(): Promise<StoreInfo> {
    const [[size] = []] = await this.#database.read('SELECT pg_database_size(current_database())')
    return { engine: this.engine, location: this.location, schemaVersion, sizeBytes: Number(size) }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#watch.leave(this.#database)
    await this.#database.close()
  }

  // ---- EVM chains

  async chainState(chain: ChainId): Promise<ChainState | undefined> {
    const [row] = await this.#database.read(
      'SELECT head_number, head_hash, head_timestamp, finalized FROM chains WHERE id = $1 AND head_number IS NOT NULL',
      chain,
    )
    if (row === undefined) return undefined
    return {
      head: { number: Number(row[0]), hash: hexTextOf<Hash>(row[1]), timestamp: Number(row[2]) },
      finalized: Number(row[3]),
    }
  }

  coverage(chain: ChainId, scope: CoverageScope): Promise<CoveredInterval[]> {
    return this.#ofChain(chain, [], ordinal => coverage.coverageOf(this.#database, ordinal, scope))
  }

  coverageByScope(chain: ChainId): Promise<{ scope: CoverageScope; intervals: CoveredInterval[] }[]> {
    return this.#ofChain(chain, [], ordinal => coverage.coverageByScope(this.#database, ordinal))
  }

  contractCoverage(chain: ChainId, address: Address): Promise<CoveredInterval[]> {
    return this.#ofChain(chain, [], ordinal => coverage.contractCoverage(this.#database, ordinal, address))
  }

  blocksAround(chain: ChainId, timestamp: number): Promise<{ before: Block | undefined; after: Block | undefined }> {
    const none = { before: undefined, after: undefined }
    return this.#ofChain(chain, none, ordinal => blocksAround(this.#database, ordinal, timestamp))
  }

  hotBlocks(chain: ChainId): Promise<Block[]> {
    return this.#ofChain(chain, [], ordinal => hotBlocksOf(this.#database, ordinal))
  }

  watchedContracts(chain: ChainId): Promise<WatchedContract[]> {
    return this.#ofChain(chain, [], async ordinal => {
      const rows = await this.#database.read(
        'SELECT contract, watched_from FROM watched_contracts WHERE chain = $1 ORDER BY contract',
        ordinal,
      )
      return rows.map(([address, from]) => ({ contract: hexTextOf<Address>(address), watchedFrom: Number(from) }))
    })
  }

  contractsOf(chain: ChainId, after: Address | undefined, limit: number): Promise<Address[]> {
    return this.#ofChain(chain, [], ordinal => this.#dictionary.contractsOf(ordinal, after, limit))
  }

  async commitCold(commit: ColdCommit): Promise<{ transfersAdded: number }> {
    const numbers = await this.#numbers(commit.chain, commit.transfers)
    return await this.#writing(transaction => commits.commitCold(transaction, numbers, commit))
  }

  async commitHot(commit: HotCommit): Promise<void> {
    const numbers = await this.#numbers(
      commit.chain,
      commit.blocks.flatMap(block => block.transfers),
    )
    await this.#writing(transaction => commits.commitHot(transaction, numbers, commit))
  }

  async addToHot(chain: ChainId, blocks: readonly HotBlock[], covered: ColdCommit['covered']): Promise<void> {
    const numbers = await this.#numbers(
      chain,
      blocks.flatMap(block => block.transfers),
    )
    await this.#writing(transaction => commits.addToHot(transaction, numbers, blocks, covered))
  }

  async finalize(chain: ChainId, upTo: number): Promise<void> {
    const ordinal = await this.#dictionary.addOrdinal(chain)
    await this.#writing(transaction => commits.finalize(transaction, ordinal, upTo))
  }

  async putHead(chain: ChainId, head: Block): Promise<void> {
    const ordinal = await this.#dictionary.addOrdinal(chain)
    await this.#writing(transaction => commits.putHead(transaction, ordinal, head))
  }

  async addCoverage(chain: ChainId, scope: CoverageScope, interval: CoveredInterval): Promise<void> {
    const ordinal = await this.#dictionary.addOrdinal(chain)
    await this.#writing(transaction => commits.addCovered(transaction, ordinal, [{ ...interval, scope }]))
  }

  async dropRange(chain: ChainId, scope: Exclude<CoverageScope, 'watched'>, interval: Interval): Promise<void> {
    const ordinal = await this.#dictionary.ordinalOf(chain)
    if (ordinal === undefined) return
    const number = scope === 'full' ? undefined : await this.#dictionary.contractOf(ordinal, scope)
    await this.#writing(transaction => commits.dropRange(transaction, { ordinal, contract: number }, scope, interval))
  }

  async watchContract(chain: ChainId, address: Address, watchedFrom: number): Promise<void> {
    const ordinal = await this.#dictionary.addOrdinal(chain)
    await this.#writing(transaction => commits.watchContract(transaction, ordinal, address, watchedFrom))
  }

  // ---- transfers and activity

  transferPage(query: TransferPageQuery): Promise<TransferPage> {
    return this.#ofContract(query, emptyPage, number => transferPage(this.#database, number, query))
  }

  transferCount(range: TransferRange): Promise<number> {
    return this.#ofContract(range, 0, number => transferCount(this.#database, number, range))
  }

  activityOf(address: Address): Promise<ReadonlyMap<ChainId, ActivityRow>> {
    return activityOf(this.#database, this.#dictionary, address)
  }

  // ---- Solana

  portfolioOf(
    network: SolanaNetwork,
    owner: Uint8Array,
  ): Promise<{ account: SolanaAccount; holdings: HoldingColumns } | undefined> {
    return solana.portfolioOf(this.#database, network, owner)
  }

  putOwner(network: SolanaNetwork, account: SolanaAccount, holdings: readonly Holding[]): Promise<void> {
    return this.#writing(transaction => solana.putOwner(transaction, network, account, holdings))
  }

  mintsOf(network: SolanaNetwork, wanted: readonly Uint8Array[]): Promise<Mint[]> {
    return mints.mintsOf(this.#database, network, wanted)
  }

  putMints(network: SolanaNetwork, updates: readonly MintUpdate[]): Promise<void> {
    return this.#writing(transaction => mints.putMints(transaction, network, updates))
  }

  applyHoldings(network: SolanaNetwork, updates: readonly HoldingUpdate[]): Promise<void> {
    return this.#writing(transaction => solana.applyHoldings(transaction, network, updates))
  }

  putLamports(network: SolanaNetwork, account: SolanaAccount): Promise<void> {
    return this.#writing(transaction => solana.putLamports(transaction, network, account))
  }

  // ---- keys

  putKey(key: KeyRecord): Promise<void> {
    return this.#writing(transaction => keys.putKey(transaction, key))
  }

  keyByHash(hash: string): Promise<KeyRecord | undefined> {
    return keys.keyByHash(this.#database, hash)
  }

  keys(): Promise<KeyRecord[]> {
    return keys.allKeys(this.#database)
  }

  revokeKey(id: string, revokedAt: number): Promise<boolean> {
    return this.#writing(transaction => keys.revokeKey(transaction, id, revokedAt))
  }

  addUse(uses: readonly KeyUse[]): Promise<ReadonlyMap<string, number>> {
    return this.#database.transaction(transaction => keys.addUse(transaction, uses))
  }

  usesOf(day: string): Promise<KeyUse[]> {
    return keys.usesOf(this.#database, day)
  }

  takeAllowance(request: AllowanceRequest): Promise<AllowanceGrant> {
    return allowances.takeAllowance(this.#database, request)
  }

  takeIndexing(asked: { keyId: string; target: string; perDay: number }): Promise<boolean> {
    return this.#database.transaction(transaction => allowances.takeIndexing(transaction, asked))
  }

  // ---- work for other processes

  requestWork(request: WorkRequest): Promise<void> {
    return work.requestWork(this.#database, request)
  }

  takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]> {
    return work.takeWork(this.#database, asked)
  }

  finishWork(name: string, outcome: string): Promise<void> {
    return work.finishWork(this.#database, name, outcome)
  }

  workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return work.workOutcomes(this.#database, names)
  }

  putHeartbeat(process: string, report: string | undefined): Promise<void> {
    return work.putHeartbeat(this.#database, process, report)
  }

  heartbeats(): Promise<Heartbeat[]> {
    return work.heartbeats(this.#database)
  }

  // ---- annotations

  async putLabels(labels: readonly Label[]): Promise<void> {
    const ordinals = await this.#addOrdinals(labels.flatMap(label => label.chain ?? []))
    await this.#changingLabels(transaction => annotations.putLabels(transaction, ordinals, labels))
  }

  async removeLabels(labels: readonly LabelKey[]): Promise<number> {
    const ordinals = await this.#addOrdinals(labels.flatMap(label => label.chain ?? []))
    return await this.#changingLabels(transaction => annotations.removeLabels(transaction, ordinals, labels))
  }

  labelHint(): LabelHint | undefined {
    return this.#labelFilter.hint()
  }

  async labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>> {
    return await annotations.labelsOf(this.#database, await this.#dictionary.ordinalOf(chain), addresses)
  }

  async labelCandidates(chain: ChainId, address: Address): Promise<Label[]> {
    return await annotations.labelCandidates(this.#database, await this.#dictionary.ordinalOf(chain), address)
  }

  async labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]> {
    const ordinals = { filter: await this.#ordinalIf(filter.chain), after: await this.#ordinalIf(after?.chain) }
    return await annotations.labelsAfter(this.#database, filter, ordinals, after, limit)
  }

  async putMarks(given: readonly Mark[]): Promise<void> {
    const ordinals = await this.#addOrdinals(given.map(({ chain }) => chain))
    await this.#writing(transaction => marks.putMarks(transaction, ordinals, given))
  }

  async removeMarks(given: readonly MarkKey[]): Promise<number> {
    const ordinals = await this.#addOrdinals(given.map(({ chain }) => chain))
    return await this.#writing(transaction => marks.removeMarks(transaction, ordinals, given))
  }

  marksOf(chain: ChainId, address: Address): Promise<Mark[]> {
    return this.#ofChain(chain, [], ordinal => marks.marksOf(this.#database, ordinal, address))
  }

  async marks(filter: AnnotationFilter, after: MarkKey | undefined, limit: number): Promise<Mark[]> {
    const ordinals = { filter: await this.#ordinalIf(filter.chain), after: await this.#ordinalIf(after?.chain) }
    return await marks.marksAfter(this.#database, filter, ordinals, after, limit)
  }

  async replaceSource({ source, labels, marks: given, checkpoint }: SourceContent): Promise<void> {
    const ordinals = await this.#addOrdinals([...labels, ...given].flatMap(({ chain }) => chain ?? []))
    await this.#changingLabels(async transaction => {
      await annotations.forgetSource(transaction, source)
      await annotations.putLabels(
        transaction,
        ordinals,
        labels.map(label => ({ ...label, source })),
      )
      await marks.putMarks(
        transaction,
        ordinals,
        given.map(mark => ({ ...mark, source })),
      )
      await transaction.run(
        'INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        checkpoint.name,
        checkpoint.value,
      )
    })
  }

  async putContractFacts(facts: readonly ContractFacts[]): Promise<void> {
    const ordinals = await this.#addOrdinals(facts.map(({ chain }) => chain))
    await this.#writing(transaction => annotations.putContractFacts(transaction, ordinals, facts))
  }

  contractFacts(chain: ChainId, address: Address): Promise<ContractFacts | undefined> {
    return this.#ofChain(chain, undefined, ordinal =>
      annotations.contractFacts(this.#database, ordinal, chain, address),
    )
  }

  async verifiedNames(): Promise<string[]> {
    return await annotations.verifiedNames(this.#database)
  }

  // ---- leases

  claim(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    return this.#database.transaction(transaction => leases.claim(transaction, name, holder, ttlMs))
  }

  release(lease: Lease): Promise<void> {
    return this.#database.transaction(transaction => leases.release(transaction, lease))
  }

  fenced(lease: Lease): FencedWriter {
    return new PostgresStore(this.#database, this.#watch, this.#dictionary, lease)
  }

  // ---- the ways in

  /** One transaction; the revision counts up when it changed anything. */
  async #writing<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    let counted: number | undefined
    const result = await this.#database.transaction(async transaction => {
      counted = undefined
      const done = await work(transaction)
      if (this.#lease !== undefined) await leases.requireLease(transaction, this.#lease)
      if (transaction.changed) counted = await this.#watch.countUp(transaction)
      return done
    })
    if (counted !== undefined) this.#watch.committed(counted)
    return result
  }

  async #changingLabels<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    let counted: number | undefined
    const result = await this.#writing(async transaction => {
      const done = await work(transaction)
      counted = transaction.changed ? await this.#watch.countLabels(transaction) : undefined
      return done
    })
    if (counted !== undefined) this.#watch.labelsCommitted(counted)
    return result
  }

  async #ofChain<T>(chain: ChainId, none: T, work: (ordinal: number) => Promise<T>): Promise<T> {
    const ordinal = await this.#dictionary.ordinalOf(chain)
    return ordinal === undefined ? none : await work(ordinal)
  }

  #ofContract<T>(
    { chain, contract: address }: TransferRange,
    none: T,
    work: (number: number) => Promise<T>,
  ): Promise<T> {
    return this.#ofChain(chain, none, async ordinal => {
      const number = await this.#dictionary.contractOf(ordinal, address)
      return number === undefined ? none : await work(number)
    })
  }

  async #numbers(chain: ChainId, rows: readonly { contract: Address }[]): Promise<commits.Numbers> {
    const ordinal = await this.#dictionary.addOrdinal(chain)
    return {
      ordinal,
      contracts: await this.#dictionary.addContracts(
        ordinal,
        rows.map(row => row.contract),
      ),
    }
  }

  async #ordinalIf(chain: ChainId | undefined): Promise<number | undefined> {
    return chain === undefined ? undefined : await this.#dictionary.ordinalOf(chain)
  }

  async #addOrdinals(chains: readonly ChainId[]): Promise<annotations.Ordinals> {
    const ordinals = new Map<ChainId, number>()
    for (const chain of new Set(chains)) ordinals.set(chain, await this.#dictionary.addOrdinal(chain))
    return ordinals
  }
}
