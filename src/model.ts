// The types that every layer shares. No behaviour beyond parsing them at the edge.
import type { WholeScope } from './views.ts'

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

/**
 * Logs of ether's own transfers come from here (EIP-7708, from Glamsterdam on). They have the form of ERC-20: no NFT
 * moves by them, and their parties are active like those of a token.
 */
export const etherLogs = '0xfffffffffffffffffffffffffffffffffffffffe' as Address

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
  /** Base58; null where no more can be minted. */
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

/** A call of a contract that changes nothing: `data` is hex with its prefix, in lower case. */
export type ContractCall = { to: Address; data: string }

/** Calls that a node is asked for, all at one block; without a block at its head. */
export type BlockCalls = { chain: ChainId; block: number | undefined; calls: readonly ContractCall[] }

/** `about`: the addresses that the client asked about, which count against its key's share of the node. */
export type AskedCalls = BlockCalls & {
  about: readonly Address[]
  /** The client named a block below the head. */
  isEarlier?: boolean
}

/**
 * What the contracts returned after `block`, in hex, in the order of the calls. Null: the contract refused, has no
 * code, used too much gas, or returned more than an answer of one value takes.
 */
export type NodeCalls = { block: number; hash: Hash; results: readonly (string | null)[] }

/** A wallet whose sent transactions up to a block a node is asked for. */
export type AskedNonce = { chain: ChainId; wallet: Address; block: number }
