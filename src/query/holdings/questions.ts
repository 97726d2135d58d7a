// The questions of who owns what, and their answers. Types only: `holdings.ts` answers them, routes write them as JSON.
import type { ShownFacts } from '../../annotate/shown-facts.ts'
import type { Address, ChainId, Evidence, Position, ShownToken, TokenStandard } from '../../model.ts'
import type { FreshenOptions } from '../freshen.ts'
import type { TokenDetails } from '../metadata/token-uris.ts'

export type HoldingsOptions = FreshenOptions & {
  /** Fires once the client has left or its request timed out. Absent: the client waits until the end. */
  signal?: AbortSignal | undefined
  /** What tokens say of themselves, in the order asked. Absent: nothing is known of any. */
  tokenFacts?: TokenFactsReader | undefined
}

export type TokenRef = { contract: Address; tokenId: bigint }

export type TokenFactsReader = (chain: ChainId, tokens: readonly ShownToken[]) => Promise<readonly TokenDetails[]>

// Lists. A page and its continuation answer as of one block, so nothing shifts while tokens move.

/**
 * `atBlock` is what was asked for or what a continuation pins; undefined: the head. A block above the head means the
 * head: it is for the route to refuse one that was asked for.
 */
export type ListQuestion<Key> = {
  chain: ChainId
  atBlock: number | undefined
  after: Key | undefined
  limit: number
  countTotal: boolean
}

/** Put into the question of a page, it makes the question of the next one. */
export type Continuation<Key> = { atBlock: number; after: Key }

export type Completeness = {
  /** The state after this block is answered; -1 where the chain has no head yet. */
  block: number
  complete: boolean
  /** The weakest evidence of a complete answer. */
  evidence: Evidence | undefined
}

export type ListAnswer<Row, Key> = Completeness & {
  rows: readonly Row[]
  /** Undefined when it was not asked for. */
  total: number | undefined
  /** Undefined on the last page. */
  next: Continuation<Key> | undefined
}

/** The place of a holding in its list: newest change first, the recipient before the giver, greater ids first. */
export type HoldingKey = { position: Position; leg: Leg; tokenId: bigint }

/** Which party of its newest transfer a holder is; `recipient` where it is both. */
export type Leg = 'recipient' | 'giver'

/** A token with one of its holders. */
export type NftRow = TokenRef & {
  /** 32 hex digits. */
  tokenHash: string
  standard: TokenStandard
  owner: Address
  amount: bigint
  /**
   * The last transfer that touched the token and the owner. For an id of an ERC-2309 range `batchIndex` counts from the
   * range's first id.
   */
  position: Position
  /** The first stored transfer of the token; undefined where the index by token does not tell it. */
  blockMinted: number | undefined
  /** Undefined where it is unknown, and for ERC-1155, whose tokens have no single minter. */
  minter: Address | undefined
  facts: ShownFacts | undefined
  token: TokenDetails | undefined
}

// Contracts and tokens.

export type OwnersQuestion = ListQuestion<HoldingKey> & { contract: Address; tokenId: bigint | undefined }
export type OwnersAnswer = ListAnswer<NftRow, HoldingKey>

/** Ascending by address. */
export type UniqueOwnersQuestion = ListQuestion<Address> & { contract: Address }
export type UniqueOwnersAnswer = ListAnswer<Address, Address>

/**
 * Descending by token hash, then ids of ERC-2309 ranges that never moved alone, ascending. Each row has the newest
 * holder of its token.
 */
export type ContractNftsQuestion = ListQuestion<ContractNftKey> & {
  contract: Address
  /** A stretch of the space of hashes: `range` from 0, the high end, to `totalRanges` - 1, which has the ranges too. */
  part: { range: number; totalRanges: number } | undefined
}
export type ContractNftKey = { tokenHash: string } | { rangeId: bigint }
export type ContractNftsAnswer = ListAnswer<NftRow, ContractNftKey>

export type NftsQuestion = { chain: ChainId; tokens: readonly TokenRef[]; atBlock?: number | undefined }
/** In the order of the question; undefined for a token without a holder. Complete where all contracts are. */
export type NftsAnswer = Completeness & { rows: readonly (NftRow | undefined)[] }

// ERC-20 tokens, whose chain is the ledger of its tokens.

/** The largest first, or the smallest; those with the same by address. */
export type HoldersQuestion = Omit<ListQuestion<HolderKey>, 'countTotal'> & {
  contract: Address
  smallestFirst: boolean
  /** Unix seconds, the newest first: how many holders there were then. */
  moments?: readonly number[]
}
/** The last row of a page. */
export type HolderKey = { amount: bigint; address: Address }
export type HolderRow = { owner: Address; amount: bigint }

export type HoldersAnswer = Completeness & {
  /** Sums of the transfers, which are not balances for every token. */
  rows: readonly HolderRow[]
  next: Continuation<HolderKey> | undefined
  holders: number
  /** Of what all holders have. */
  sum: bigint
  /** How many gave more than they received: the transfers do not tell what is held. */
  impossible: number
  /** What the largest of them have, the largest first: at most `largestMax`. */
  largest: readonly bigint[]
  /** For each moment; undefined where finding it takes more than is read. */
  past: readonly (number | undefined)[]
  /** Some holders by chance, to be compared with what the token says. */
  sample: readonly HolderRow[]
}

// Wallets.

/** `contracts` and `excludeSpam` filter rows and totals. */
export type WalletNftsQuestion = ListQuestion<HoldingKey> & {
  wallet: Address
  contracts: readonly Address[] | undefined
  excludeSpam: boolean
}
export type WalletNftsAnswer = ListAnswer<NftRow, HoldingKey>

/** Descending by address. */
export type WalletCollectionsQuestion = ListQuestion<Address> & { wallet: Address; excludeSpam: boolean }
export type WalletCollectionsAnswer = ListAnswer<CollectionRow, Address>
export type CollectionRow = {
  contract: Address
  standard: TokenStandard
  /** Distinct ids that the wallet holds. */
  count: number
  facts: ShownFacts | undefined
}

// Stats.

type StatsQuestion = { chain: ChainId; atBlock: number | undefined }

export type CollectionStatsQuestion = StatsQuestion & {
  contract: Address
  /** Fails with `list_too_large` where counting takes minutes. */
  onlyQuick?: boolean
}
export type CollectionStatsAnswer = Completeness & {
  /** Ids with a holder. */
  tokens: number
  owners: number
  transfers: number
  /** Pairs of token and owner that gave more than they received: never shown as holders. */
  impossible: number
}

export type TokenStatsQuestion = StatsQuestion & TokenRef
export type TokenStatsAnswer = Completeness & { owners: number; transfers: number }

export type WalletStatsQuestion = StatsQuestion & { wallet: Address }
/** `transfers` is undefined for the zero address: its transfers are not kept by wallet. */
export type WalletStatsAnswer = Completeness & { nfts: number; collections: number; transfers: number | undefined }

export type BlockStatsQuestion = { chain: ChainId; block: number }
/** `block` is the one asked for. */
export type BlockStatsAnswer = Completeness & {
  /** False above the head. */
  exists: boolean
  transfers: number
}

/** What `holdings.ts` answers. */
export type HoldingsQueries = {
  owners(question: OwnersQuestion, options: HoldingsOptions): Promise<OwnersAnswer>
  uniqueOwners(question: UniqueOwnersQuestion, options: HoldingsOptions): Promise<UniqueOwnersAnswer>
  contractNfts(question: ContractNftsQuestion, options: HoldingsOptions): Promise<ContractNftsAnswer>
  nfts(question: NftsQuestion, options: HoldingsOptions): Promise<NftsAnswer>
  holders(question: HoldersQuestion, options: HoldingsOptions): Promise<HoldersAnswer>
  walletNfts(question: WalletNftsQuestion, options: HoldingsOptions): Promise<WalletNftsAnswer>
  walletCollections(question: WalletCollectionsQuestion, options: HoldingsOptions): Promise<WalletCollectionsAnswer>
  collectionStats(question: CollectionStatsQuestion, options: HoldingsOptions): Promise<CollectionStatsAnswer>
  tokenStats(question: TokenStatsQuestion, options: HoldingsOptions): Promise<TokenStatsAnswer>
  walletStats(question: WalletStatsQuestion, options: HoldingsOptions): Promise<WalletStatsAnswer>
  blockStats(question: BlockStatsQuestion, options: HoldingsOptions): Promise<BlockStatsAnswer>
}
