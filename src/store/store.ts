// The only door to the data: what every engine offers, in the words of the domain. No engine, SQL or rule of an answer here.
import type {
  ActivityRow,
  Address,
  Block,
  ChainId,
  CoverageScope,
  CoveredInterval,
  Interval,
  Position,
  SolanaNetwork,
  TransferRow,
} from '../model.ts'

/**
 * Every write is one transaction, all or nothing, and safe to repeat. Reads never wait for writes. Failures are
 * AlmanacErrors with a `store_*` code.
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
    WorkStore {
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
  /** Small named texts that must survive a restart, such as where a feed stopped. */
  checkpoint(name: string): Promise<string | undefined>
  putCheckpoint(name: string, value: string): Promise<void>
  info(): Promise<StoreInfo>
  close(): Promise<void>
}

export type StoreInfo = { engine: Store['engine']; location: string; schemaVersion: number; sizeBytes: number }

// ---- EVM chains: heads, blocks, coverage

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
  activity: readonly ActivityRow[]
}

/** The rows of one block that is not final yet. */
export type HotBlock = Block & { transfers: readonly TransferRow[]; activity: readonly ActivityRow[] }

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

// ---- several indexers on one store

/** The right to do a piece of work, such as following a chain. Each new holder gets a higher token. */
export type Lease = { name: string; token: number }

/** Writes that fail with `conflict`, within their own transaction, as soon as another holder has the lease. */
export type FencedWriter = ChainWriter & Pick<Store, 'putCheckpoint'>

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

// ---- processes that ask each other for work, and tell how they fare. Nothing here must survive a crash of the store.

/** Work of one name is done once for all who ask while it is not finished. */
export type WorkRequest = {
  name: string
  /** Who can do it: a process takes work of the topics that it serves. */
  topic: string
  /** How long whoever asks will wait. After that nobody begins with it any more. */
  waitMs: number
}

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

// ---- transfers

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

export interface TransferReader {
  transferPage(query: TransferPageQuery): Promise<TransferPage>
  /** How many transfers there are, an ERC-2309 range counting as many as its ids. From kept counts, never a whole scan. */
  transferCount(range: TransferRange): Promise<number>
}

// ---- wallets

export interface ActivityReader {
  /** The chains on which the address is known to be active. */
  activityOf(address: Address): Promise<ReadonlyMap<ChainId, ActivityRow>>
}

// ---- Solana: keys are raw 32 bytes

/**
 * What was read of an owner itself. `chainTime` is the unix time of the chain's own clock at `slot`: the displayed
 * amount of interest-bearing and scaled mints depends on it.
 */
export type SolanaAccount = { owner: Uint8Array; lamports: bigint; slot: number; chainTime: number; readAtMs: number }

export type TokenProgram = 'token' | 'token-2022'

export type Holding = {
  account: Uint8Array
  owner: Uint8Array
  mint: Uint8Array
  amount: bigint
  program: TokenProgram
  slot: number
  /** Orders updates within a slot; 0 where the source has none. */
  writeVersion: bigint
}

export type HoldingUpdate = Holding | { account: Uint8Array; closed: true; slot: number; writeVersion: bigint }

/** What a mint's own account says. */
export type MintAccount = {
  program: TokenProgram
  decimals: number
  supply: bigint
  /** From the token metadata extension; undefined where the mint has none. */
  name: string | undefined
  symbol: string | undefined
  /** What the displayed amount depends on, for interest-bearing and scaled mints; text that `solana/amounts.ts` reads. */
  amountRule: string | undefined
}

/** What a mint's Metaplex metadata account says; all undefined where it was looked for and there is none. */
export type MintMetadata = { name: string | undefined; symbol: string | undefined; tokenStandard: number | undefined }

/** The two accounts arrive apart on streams: each part replaces the stored one unless that one has a higher slot. */
export type MintUpdate = {
  mint: Uint8Array
  slot: number
  readAtMs: number
  account?: MintAccount
  metadata?: MintMetadata
}

/** Both parts as one: the extension's name and symbol win over Metaplex's, and `''` stands where there is neither. */
export type Mint = {
  mint: Uint8Array
  program: TokenProgram
  decimals: number
  supply: bigint
  name: string
  symbol: string
  tokenStandard: number | undefined
  amountRule: string | undefined
  /** The lower one of the two parts: when and at which slot both were last known to be so. 0 where metadata was never read. */
  slot: number
  readAtMs: number
}

/** What an owner holds, by columns, because answers have thousands of rows: one array for each fact of all holdings. */
export type HoldingColumns = {
  length: number
  /** 32 bytes each, in their own order. */
  accounts: Uint8Array
  mints: Uint8Array
  /** In the smallest unit, decimal. */
  amounts: string[]
  /** This and the columns below are facts of the mint; null while the mint's own account was never read. */
  decimals: (number | null)[]
  /** Decimal. */
  supplies: (string | null)[]
  names: string[]
  symbols: string[]
  tokenStandards: (number | null)[]
  amountRules: (string | null)[]
}

export interface SolanaStore {
  /** One consistent look at an owner; undefined when the owner was never read. */
  portfolioOf(
    network: SolanaNetwork,
    owner: Uint8Array,
  ): Promise<{ account: SolanaAccount; holdings: HoldingColumns } | undefined>
  /**
   * Replaces everything known of an owner by one consistent reading: holdings of this owner that the reading lacks are
   * gone, unless what is stored of a token account (held or closed) has a higher slot than the reading. An older reading
   * than the stored one changes nothing.
   */
  putOwner(network: SolanaNetwork, account: SolanaAccount, holdings: readonly Holding[]): Promise<void>
  /** Those of the given mints whose own account was read. */
  mintsOf(network: SolanaNetwork, mints: readonly Uint8Array[]): Promise<Mint[]>
  putMints(network: SolanaNetwork, updates: readonly MintUpdate[]): Promise<void>
  /**
   * Applies updates of single token accounts; each only if its (slot, write version) is not older than what is stored,
   * so that of two updates in one slot without write versions the later call wins. A close is remembered with its
   * version, so that an older reading cannot bring the account back; an owner's next newer reading may forget it.
   */
  applyHoldings(network: SolanaNetwork, updates: readonly HoldingUpdate[]): Promise<void>
  /** Replaces the owner's own row unless the stored one has a higher slot; the holdings stay. */
  putLamports(network: SolanaNetwork, account: SolanaAccount): Promise<void>
}

// ---- keys and their use

/** Moments are in unix milliseconds. */
export type KeyRecord = {
  id: string
  name: string
  /** SHA-256 of the secret, hex. The secret itself is never stored. */
  hash: string
  scopes: readonly string[]
  createdAt: number
  expiresAt: number | undefined
  revokedAt: number | undefined
  ratePerSecond: number | undefined
  quotaPerDay: number | undefined
  /** Contracts and wallets a day that may be indexed because this key asks for them. */
  indexPerDay: number | undefined
}

export type KeyUse = { keyId: string; day: string; operation: string; count: number }

/** What a process asks of a key's rate and quota, which all processes share. */
export type AllowanceRequest = {
  keyId: string
  /** How many requests it would admit. */
  wanted: number
  ratePerSecond: number | undefined
  quotaPerDay: number | undefined
  /** What it was granted before and did not use: the quota of that day gets it back. */
  unused: { count: number; day: string } | undefined
}

/** A second begins with the first request that it counts, by the store's clock; days are UTC. */
export type AllowanceGrant = {
  /** How many it may admit: fewer than wanted where the rate or the quota ends. */
  granted: number
  usedInSecond: number
  secondEndsInMs: number
  day: string
  usedInDay: number
}

export interface KeyStore {
  /** Adds a key, or replaces the one with the same hash. */
  putKey(key: KeyRecord): Promise<void>
  keyByHash(hash: string): Promise<KeyRecord | undefined>
  keys(): Promise<KeyRecord[]>
  /** Returns false when there is no such key. */
  revokeKey(id: string, revokedAt: number): Promise<boolean>
  /** Adds to the counts of a day (`YYYY-MM-DD`, UTC) and returns each key's total of that day afterwards. */
  addUse(uses: readonly KeyUse[]): Promise<ReadonlyMap<string, number>>
  usesOf(day: string): Promise<KeyUse[]>
  /** No process is granted what another one was. A quota that is met first on a day begins with the uses of that day. */
  takeAllowance(request: AllowanceRequest): Promise<AllowanceGrant>
  /** Whether the key may have this indexed today: at most `perDay` targets a day, each counted once. */
  takeIndexing(asked: { keyId: string; target: string; perDay: number }): Promise<boolean>
}

// ---- annotations

/** Who says it, the strongest first: the operator wins over imported lists, and those over the built-in pack. */
export const annotationRanks = ['operator', 'imported', 'built-in'] as const
export type AnnotationRank = (typeof annotationRanks)[number]

export type Label = {
  /** Undefined: on every chain. */
  chain: ChainId | undefined
  address: Address
  label: string
  source: string
  rank: AnnotationRank
  /** Unix milliseconds. */
  updatedAt: number
}

/** Tells cheaply which addresses surely have no label; 20 bytes of an address begin at `at`. */
export interface LabelHint {
  /** There is no label at all. */
  readonly empty: boolean
  mayHave(bytes: Uint8Array, at: number): boolean
}

export type LabelKey = Pick<Label, 'chain' | 'address' | 'source'>

/**
 * What one source says of a contract: a pin of the operator, a line of an imported list, or an entry of the built-in
 * pack. Undefined: it says nothing of that.
 */
export type Mark = {
  chain: ChainId
  contract: Address
  source: string
  rank: AnnotationRank
  verified: boolean | undefined
  spam: boolean | undefined
  /** Unix milliseconds. */
  updatedAt: number
}

export type MarkKey = Pick<Mark, 'chain' | 'contract' | 'source'>

/** Those of exactly this chain, source and rank; what is left out does not matter. */
export type AnnotationFilter = { chain?: ChainId; source?: string; rank?: AnnotationRank }

/** All that a source says, and a checkpoint that is kept with it. */
export type SourceContent = {
  source: string
  labels: readonly Omit<Label, 'source'>[]
  marks: readonly Omit<Mark, 'source'>[]
  checkpoint: { name: string; value: string }
}

/** What is known of a contract by itself. What answers show, marks considered, is decided in `annotate/shown-facts.ts`. */
export type ContractFacts = {
  chain: ChainId
  contract: Address
  name: string | undefined
  symbol: string | undefined
  /** What the rules say. */
  possibleSpam: boolean
  /** Absent while the contract was never read. */
  reading?: ContractReading
  /** Absent while it was never judged. */
  verdict?: SpamVerdict
}

export const contractInterfaces = ['erc721', 'erc721-metadata', 'erc1155', 'erc2981'] as const
export type ContractInterface = (typeof contractInterfaces)[number]

/** What a contract said of itself and where it came from, beside its name. */
export type ContractReading = {
  /** Those that it declares by ERC-165. */
  interfaces: readonly ContractInterface[]
  /** Who sent the transaction that created it; absent where another contract created it, or nobody knows. */
  deployer?: Address
  createdBlock?: number
  readAtMs: number
}

/** What the rules of `annotate/spam-rules.ts` said of a contract, and on what. */
export type SpamVerdict = {
  rulesVersion: number
  score: number
  /** The rules that fired, with the numbers that made them. */
  reasons: readonly SpamReason[]
  /** The rows that it was judged on: their count and the newest one's place. Others need another verdict. */
  basis: string
  judgedAtMs: number
}

export type SpamReason = { rule: string; weight: number; numbers: Readonly<Record<string, number | string>> }

export interface AnnotationStore {
  putLabels(labels: readonly Label[]): Promise<void>
  removeLabels(labels: readonly LabelKey[]): Promise<number>
  /** Undefined for a moment after labels changed, while every address may have one. */
  labelHint(): LabelHint | undefined
  /** The winning label of each address that has one on this chain. */
  labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  /** Everything that labels an address on this chain; the first one is what answers show. */
  labelCandidates(chain: ChainId, address: Address): Promise<Label[]>
  /** Stored labels in the order of their addresses, from behind `after` on. */
  labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]>
  /** Adds marks; a flag left undefined keeps what the same source said of it before. */
  putMarks(marks: readonly Mark[]): Promise<void>
  removeMarks(marks: readonly MarkKey[]): Promise<number>
  /** Everything that was said of a contract: by rank, then the newer first. */
  marksOf(chain: ChainId, contract: Address): Promise<Mark[]>
  /** Stored marks in a fixed order, from behind `after` on. */
  marks(filter: AnnotationFilter, after: MarkKey | undefined, limit: number): Promise<Mark[]>
  /** Makes what a source says exactly this, in one transaction. */
  replaceSource(content: SourceContent): Promise<void>
  putContractFacts(facts: readonly ContractFacts[]): Promise<void>
  contractFacts(chain: ChainId, contract: Address): Promise<ContractFacts | undefined>
  /** What verified collections are called, by themselves or by their labels: what an imitation would imitate. */
  verifiedNames(): Promise<string[]>
}
