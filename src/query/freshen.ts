// How a query asks indexers for what the store does not have yet. Types only: the indexers implement them.
import type { AlmanacError } from '../errors.ts'
import type {
  Address,
  AskedBalances,
  AskedCalls,
  AskedNonce,
  ChainId,
  Hash,
  MintReading,
  NodeBalances,
  NodeBlock,
  NodeCalls,
  ShownToken,
  SolanaNetwork,
} from '../model.ts'
import type { KeyRecord } from '../store/key-store.ts'

/**
 * A member is absent where nothing indexes its data. The EVM ones return when the data is stored or `waitMs` has
 * passed, and do not throw when an upstream fails: the answer then says that it is incomplete.
 */
export type Freshen = {
  /** Notes that a contract was requested: contracts without requests are let go. */
  asked?(chain: ChainId, contract: Address): void
  /** `key` pays for the work: throws `quota_exceeded` or `rate_limited` where its limits on indexing are reached. */
  contract?(chain: ChainId, contract: Address, waitMs: number, key: IndexingKey): Promise<void>
  wallet?(chains: readonly ChainId[], wallet: Address, waitMs: number, key: IndexingKey): Promise<void>
  /** What a node says of native balances, or throws the upstream's error: none are stored. */
  balances?(asked: AskedBalances, key: IndexingKey): Promise<NodeBalances>
  /** What contracts say at one block, by a node, or throws the upstream's error: nothing is stored. */
  calls?(asked: AskedCalls, key: IndexingKey): Promise<NodeCalls>
  /** A node's word of a block. Throws `not_configured` where no process has nodes of the chain. */
  block?: AskBlock
  /** A node's word of how many transactions a wallet sent. Throws where no node tells it. */
  nonce?(asked: AskedNonce, key: IndexingKey): Promise<number>
  /** Reads what contracts say of tokens into the store; returns when that is done or given up, and may take long. */
  tokenUris?(chain: ChainId, tokens: readonly ShownToken[]): Promise<void>
  /**
   * Makes the stored account of an owner fresh enough, or throws the upstream's error. Returns the freshness of the
   * answer where it exceeds that of the stored row, as while a subscription is live.
   */
  portfolio?(network: SolanaNetwork, owner: Uint8Array, key: IndexingKey): Promise<PortfolioFreshness | undefined>
  /** What a node says of a mint, fresh enough, or throws the upstream's error. */
  mint?(network: SolanaNetwork, mint: Uint8Array, key: IndexingKey): Promise<MintReading>
}

/** Asks a node for a block by its number or its hash; undefined where its chain has none. `key`: its request asks. */
export type AskBlock = (chain: ChainId, block: number | Hash, key?: IndexingKey) => Promise<NodeBlock | undefined>

export type IndexingKey = Pick<KeyRecord, 'id' | 'indexPerDay' | 'indexWaiting'>

/** Of a request: whose key it is, and for how long an indexer may let it wait. */
export type FreshenOptions = { key: IndexingKey; freshen: Freshen | undefined; freshenWaitMs: number }

/** What a key may have indexed. False: not now, and the answer is what is stored. */
export type IndexingLimits = {
  contract(key: IndexingKey, chain: ChainId, contract: Address): Promise<boolean>
  wallet(key: IndexingKey, wallet: Address): Promise<boolean>
  /** Throws where a node may not be asked about one of them, or about one of them at an earlier block. */
  balances(key: IndexingKey, asked: Pick<AskedBalances, 'wallets'> & Partial<AskedBalances>): Promise<void>
  owner<T>(key: IndexingKey, owner: { network: SolanaNetwork; owner: Uint8Array }, read: () => Promise<T>): Promise<T>
  mint<T>(key: IndexingKey, mint: { network: SolanaNetwork; mint: Uint8Array }, read: () => Promise<T>): Promise<T>
  /**
   * Throws what an indexer refused, in words for the client. Where the contract is indexed in part, that part is the
   * answer once nodes may be asked no more.
   */
  refused(error: AlmanacError, key: IndexingKey, of: { chain: ChainId; contract: Address }): Promise<void>
}

/** The slot and the chain's unix time up to which a portfolio is known, and when it was known. */
export type PortfolioFreshness = { slot: number; chainTime: number; readAtMs: number }
