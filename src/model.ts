// The types that every layer shares. No behaviour beyond parsing them at the edge.
import type { View, WholeScope } from './views.ts'

declare const brand: unique symbol
type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** An EVM address: `0x` and 40 lower-case hex digits. */
export type Address = Brand<string, 'Address'>
/** A 32-byte hash: `0x` and 64 lower-case hex digits. */
export type Hash = Brand<string, 'Hash'>
/** The EIP-155 id of an EVM chain. All real ids are below 2^53. */
export type ChainId = Brand<number, 'ChainId'>

/** The two programs that hold tokens on Solana. */
export type TokenProgram = 'token' | 'token-2022'

export type SolanaNetwork = 'mainnet' | 'devnet'
export const solanaNetworks: readonly SolanaNetwork[] = ['mainnet', 'devnet']

export const zeroAddress = '0x0000000000000000000000000000000000000000' as Address

/** Older than the standards. The second is their first contract, whose events are the same. */
export const [cryptoPunks, firstCryptoPunks] = [
  '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb',
  '0x6ba6f2207e343923ba692e5cae646fb0f566db8d',
] as [Address, Address]

const addressPattern = /^0x[0-9a-f]{40}$/

/** Accepts any mix of cases; the checksum is not checked. */
export function parseAddress(text: string): Address | undefined {
  const lower = text.toLowerCase()
  return addressPattern.test(lower) ? (lower as Address) : undefined
}

const hashPattern = /^0x[0-9a-f]{64}$/

export function parseHash(text: string): Hash | undefined {
  const lower = text.toLowerCase()
  return hashPattern.test(lower) ? (lower as Hash) : undefined
}

/** The highest that every store can hold. */
export const blockNumberMax = 2 ** 31 - 2

/** A block as the store keeps it. `timestamp` is in unix seconds. */
export type Block = { number: number; hash: Hash; timestamp: number }

/** A block as a node has it. */
export type NodeBlock = Block & { parentHash: Hash; transactions: number }

export type TokenStandard = 'ERC721' | 'ERC1155'

/** One token movement, without its position in the chain. */
export type TransferFacts = {
  standard: TokenStandard
  /** The row comes from a TransferBatch. */
  batch: boolean
  from: Address
  to: Address
  /** Known only for ERC-1155. */
  operator: Address | undefined
  tokenId: bigint
  amount: bigint
  /** Wei of the whole transaction. */
  value: bigint
  transactionHash: Hash
  /** How many consecutive token ids, starting at `tokenId`, the row stands for: 1, except for an ERC-2309 range. */
  idCount: number
  /** Who sent the transaction; absent if that was not known when the row was stored. */
  sentBy?: SentBy
}

/** A token that an answer shows. The standard decides how its contract is asked about it. */
export type ShownToken = { contract: Address; tokenId: bigint; standard: TokenStandard }

/** The role that the sender of the transaction has in the transfer. */
export type SentBy = 'recipient' | 'giver' | 'other'

/** The identity of a transfer within its chain, and the order of answers (descending). */
export type Position = { block: number; transactionIndex: number; logIndex: number; batchIndex: number }

/** Negative, zero or positive, in chain order. */
export function comparePositions(a: Position, b: Position): number {
  return (
    a.block - b.block ||
    a.transactionIndex - b.transactionIndex ||
    a.logIndex - b.logIndex ||
    a.batchIndex - b.batchIndex
  )
}

/** One transfer ready to be stored; `payload` is its TransferFacts as `store/transfer-payload.ts` packs them. */
export type TransferRow = Position & { contract: Address; payload: Uint8Array }

/** A transaction that a wallet took part in. */
export type TransactionRef = { block: number; transactionIndex: number; hash: Hash; timestamp: number }

/** The first and last transaction of an address within the blocks of a commit. */
export type ActivityRow = { address: Address; first: TransactionRef; last: TransactionRef }

/** How it is known that an interval holds every log, as answers show it; the strongest first. */
export const shownEvidences = ['canonical', 'receipts-root', 'bloom', 'two-endpoints', 'one-endpoint'] as const
export type ShownEvidence = (typeof shownEvidences)[number]

/**
 * The same as the store keeps it. `unanchored` blocks have the right roots and hang together, but on nothing that is
 * known to be of the chain yet: they rise when they connect, without being read again.
 */
export const evidences = [...shownEvidences, 'unanchored'] as const
export type Evidence = (typeof evidences)[number]

export function shownEvidence(evidence: Evidence): ShownEvidence {
  return evidence === 'unanchored' ? 'one-endpoint' : evidence
}

/** Whole blocks, every contract watched from its `watchedFrom` (`watched`), or one contract. */
export type CoverageScope = WholeScope | 'watched' | Address

/** The scopes that are not of a contract: their coverage does not grow with the number of contracts. */
export const chainScopes = ['full', 'transfers', 'watched'] as const satisfies CoverageScope[]

export function isContractScope(scope: CoverageScope): scope is Address {
  return scope.startsWith('0x')
}

export function isWholeScope(scope: CoverageScope): scope is WholeScope {
  return scope === 'full' || scope === 'transfers'
}

/** Blocks `from` to `to`, both included. */
export type Interval = { from: number; to: number }
export type CoveredInterval = Interval & { evidence: Evidence }
export type ShownInterval = Interval & { evidence: ShownEvidence }

/** An endpoint's health: the one type for it, from the transport to `/status`. */
export type EndpointStatus = {
  /** Safe to show: no path, no key. */
  endpoint: string
  healthy: boolean
  /** The last failure of an EVM endpoint. */
  reason?: string | undefined
  /** The same for Solana, null while it is healthy. */
  fault?: string | null | undefined
  head?: number | undefined
  /** It answers for another chain than the configured one, and is not used. */
  wrong_chain?: true | undefined
  /** The lowest block that the endpoint has; absent where it is not known to lack any. */
  history_from?: number | undefined
  /** What whole blocks are proven from: receipts as bytes or as JSON, or logs alone; absent: not asked yet. */
  receipts?: 'raw' | 'json' | 'logs' | undefined
  slot?: number | undefined
  latency_ms?: number | undefined
  requests?: number | undefined
  errors?: number | undefined
  /** How many requests the adaptive limit allows at once. */
  concurrency?: number | undefined
}

/** What a source of history has and got wrong. */
export type SourceStatus = {
  kind: 'files' | 'portal'
  /** Safe to show. */
  name: string
  /** How many it has, from and to which; absent where it has none. */
  blocks: number
  from?: number | undefined
  to?: number | undefined
  /** `ready` as long as it has a block that can be used. */
  state: 'ready' | 'waiting' | 'failed' | 'empty'
  /** Why it is not ready, or what else of it cannot be read: a path, the roots that proofs are checked against. */
  reason?: string | undefined
  /** What is not used, and why: files by their names, ranges of a portal. */
  refused: { name: string; block?: number | undefined; reason: string }[]
}

/** Whether the WebSocket of a chain is up. */
export type SocketStatus = { endpoint: string; connected: boolean; reconnects: number }

/** Endpoints that name different blocks at a height that should be final. */
export type Dispute = {
  block: number
  hashes: readonly { hash: Hash; endpoints: readonly string[] }[]
  /** As ISO 8601. */
  since: string
}

export type ChainStatus = {
  /** `store_full`: it goes on as soon as there is room. */
  state: 'backfilling' | 'live' | 'stalled' | 'disputed' | 'store_full'
  /** Why it is not live or backfilling. */
  reason?: string
  /** Nothing new is claimed while it lasts. */
  dispute?: Dispute
  /** Why blocks were stored as the word of endpoints, the last time. */
  evidence_reason?: string
  /** Of the newest block's hash, and of a fork that the chain table does not know; absent where it knows all. */
  new_header_fields?: readonly string[]
  index?: 'full' | 'on-demand'
  /** What the chain keeps; absent where it is indexed on demand. */
  views?: readonly View[]
  /** Indexes that are filled from stored rows: how many contracts are done, of how many. */
  views_filling?: readonly { view: View; contracts: number; of: number }[]
  /** First block to index. */
  from?: number
  head: number
  finalized: number
  lag_seconds: number
  /** For how long the process follows the head, or stands by. */
  following_seconds?: number
  /** How old the newest block is by the service's clock; null while none is known. */
  head_age_seconds?: number | null
  /** Older than a chain that runs lets it become. */
  head_old?: boolean
  /** Of which block answers are, while it is stalled or its newest block is old. */
  as_of?: string
  /** Of the scopes of the chain; of contracts only where they were asked for. */
  covered: readonly (ShownInterval & { scope: CoverageScope })[]
  /** Contracts that are followed on their own; absent where the chain is indexed in full. */
  contracts?: number
  /** Both absent where the chain is indexed in full. */
  queue?: QueueStatus
  /** Days without a request after which it is let go; 0: never. */
  retention?: { contract_days: number; wallet_days: number }
  complete: boolean
  /** Null if no rate is known yet, or while history is paused. */
  eta_seconds: number | null
  /** Of the history that is being filled. */
  blocks_left?: number
  /** Of the last minute; null if nothing is read. */
  rates?: { blocks_per_second: number; rows_per_second: number; bytes_per_second: number } | null
  /** Absent where another process has the chain. */
  backfill?: BackfillStatus
  rpc: readonly EndpointStatus[]
  /** Files and portals that give history; absent where there are none. */
  sources?: readonly SourceStatus[]
  /** Absent where none is set. */
  daily_budget?: BudgetStatus
  /** Absent where no WebSocket is configured. */
  ws?: SocketStatus
}

/** Whether history may be filled, and how fast. The head is followed, and requests are served, whatever it says. */
export type BackfillStatus = {
  state: 'open' | 'paused' | 'outside_hours'
  /** Who paused it; when, unless the settings did. */
  paused?: { by: string; at?: string | undefined } | undefined
  /** In UTC. */
  hours?: string | undefined
  /** Only outside of the hours: when they begin, as ISO 8601. */
  opens_at?: string | undefined
  blocks_per_second?: number | undefined
}

/** Contracts that are indexed on demand, and those that wait for it. */
export type QueueStatus = { running: number; running_max: number; waiting: number; waiting_max: number }

/** JSON-RPC calls of a day (UTC). */
export type BudgetStatus = { calls: number; left: number }

export type SolanaStatus = {
  state: 'live' | 'stalled'
  /** Why it is not live. */
  reason?: string
  slot: number
  lag_seconds: number
  rpc: readonly EndpointStatus[]
  /** Absent where none is set. */
  daily_budget?: BudgetStatus
}

/** The thread that indexes EVM chains in this process. */
export type IndexerStatus = {
  /** False: it is silent or starts again, and its chains are shown as they were last known. */
  answers: boolean
  restarts: number
  /** Why it was last started again. */
  last_restart?: string | undefined
}

/** What indexers report for `/status`, by the name of the chain or network. */
export type StatusReport = {
  /** Absent where this process indexes no EVM chain. */
  indexer?: IndexerStatus
  chains: Readonly<Record<string, ChainStatus>>
  solana: Readonly<Record<string, SolanaStatus>>
}

/** A mint, its Metaplex metadata and its edition, as a node has them at one slot. Processes hand it to each other. */
export type MintReading = {
  slot: number
  readAtMs: number
  /** Null where the account is not a mint, or does not exist. */
  facts: MintFacts | null
}

export type MintFacts = {
  decimals: number
  /** In the smallest unit, decimal. */
  supply: string
  /** Exact, in the main unit. */
  displayedSupply: string
  name: string
  symbol: string
  tokenStandard: number | null
  /** Base58; null where nobody may mint more. */
  mintAuthority: string | null
  /** Null where the mint has no Metaplex metadata. */
  metaplex: MetaplexFacts | null
}

export type MetaplexFacts = {
  uri: string
  masterEdition: boolean
  isMutable: boolean
  primarySaleHappened: boolean
  sellerFeeBasisPoints: number
  /** Base58. */
  updateAuthority: string
}

/** Native balances that a node is asked for; without a block at its head. */
export type AskedBalances = {
  chain: ChainId
  block: number | undefined
  wallets: readonly Address[]
  /** The client named a block below the head. */
  isEarlier?: boolean
}

/**
 * After `block`, in the smallest unit, decimal, in the order of the wallets. Processes of an earlier version tell no
 * hash.
 */
export type NodeBalances = { block: number; hash?: Hash; timestamp: number; balances: readonly string[] }

/** A wallet whose sent transactions up to a block a node is asked for. */
export type AskedNonce = { chain: ChainId; wallet: Address; block: number }
