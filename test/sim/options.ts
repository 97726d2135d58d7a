// What one may choose about a simulated chain, with the defaults. Two chains with equal options are equal, block for block.

import type { SimScenario } from './scenario.ts'

export type ContractKind = 'erc721' | 'erc1155' | 'erc2309' | 'kitties' | 'punks' | 'malformed'

/** Legacy, access list, dynamic fee, blobs, code of accounts. */
export type TransactionType = 0 | 1 | 2 | 3 | 4

export type SimContractSpec = {
  kind: ContractKind
  deployedAt: number
  /** Relative popularity; the most popular generated contract has 1. */
  weight: number
  /** Given for collections that are known by address; otherwise derived from the deployer and its nonce. */
  address?: string
}

/** Hashed fields of headers beyond the base fee, in their order, each with what it is. */
export type SimHeaderFields = readonly (readonly [name: string, kind: 'hash' | 'quantity'])[]

/** From a block on, headers have these fields after the base fee. */
export type SimFork = {
  from: number
  fields: SimHeaderFields
  /** Transfers of ether's value emit a log (EIP-7708). */
  etherLogs?: boolean
}

const pragueFields: SimHeaderFields = [
  ['withdrawalsRoot', 'hash'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'hash'],
  ['requestsHash', 'hash'],
]
const glamsterdamFields: SimHeaderFields = [
  ...pragueFields,
  ['blockAccessListHash', 'hash'],
  ['slotNumber', 'quantity'],
]

export const prague = (from: number): SimFork => ({ from, fields: pragueFields })
export const glamsterdam = (from: number): SimFork => ({ from, fields: glamsterdamFields, etherLogs: true })
/** A fork that no table knows. */
export const laterFork = (from: number, added: SimHeaderFields): SimFork => ({
  ...glamsterdam(from),
  fields: [...glamsterdamFields, ...added],
})

export type SimChainOptions = {
  seed: number
  chainId: number
  /** The head at the start. */
  height: number
  /**
   * `cheap`: hashes and roots are drawn, so any block of a chain of any length is computed directly.
   * `real`: keccak of the RLP header with real roots, computed in sequence from `realFrom` on.
   * Blooms are real in both.
   */
  hashes: 'cheap' | 'real'
  /** The first block with a real hash, in real mode; blocks below it have drawn ones. */
  realFrom: number
  /** Transactions of wallets in each block; deployments and fundings come on top. */
  transactionsPerBlock: number
  /** Mean number of logs of a transaction that calls a contract. */
  logsPerCall: number
  contracts: number
  /** Exponent of the popularity of contracts. */
  zipf: number
  erc20Contracts: number
  /** Generated contracts are deployed within the first so many blocks, the most popular one in block 1. */
  deploymentSpan: number
  addedContracts: readonly SimContractSpec[]
  /** Within one stretch of blocks only a few contracts are called, so that sparse contracts can be found fast. */
  stretchBlocks: number
  callsPerStretch: number
  /** Every so many blocks are empty; 0: none but genesis. */
  emptyEvery: number
  /** Every so many blocks the logs of each call are multiplied; 0: never. */
  denseEvery: number
  denseFactor: number
  /** Transactions that a wallet sends in its life; also the number of wallet lanes at most. */
  transactionsPerWallet: number
  genesisTime: number
  blockTimeSeconds: number
  /** The finalized block lies so far below the head, unless moved by hand. */
  finalityDepth: number
  /**
   * Polygon's state-sync transactions in every 64th block: logs outside the bloom and the receipts root. `listed` says
   * whether blocks and receipts list the transaction; logs always show it. `own-index`: listed, with an index of its own.
   */
  stateSync: 'none' | 'listed' | 'own-index' | 'unlisted'
  /** The types of transactions that wallets send, lane by lane. */
  types: readonly TransactionType[]
  /** Blocks below this one have a difficulty: they are from before the merge. */
  mergedAt: number
  /** Whether wallets have keys and sign; otherwise their transactions have a signature that nobody can have made. */
  signed: boolean
  /** Whether logs carry `blockTimestamp`, as newer nodes do. */
  logTimestamps: boolean
  /** Lowest first. */
  forks: readonly SimFork[]
  /** Contracts and transactions that are told and not drawn, on the trunk only; undefined: none. */
  scenario: SimScenario | undefined
}

/** Enough to tell right from wrong; what a block costs is measured on fuller ones. */
export const lightBlocks = { transactionsPerBlock: 5, logsPerCall: 2 } satisfies Partial<SimChainOptions>

export const defaultSimChainOptions: SimChainOptions = {
  seed: 1,
  chainId: 1,
  height: 200,
  hashes: 'cheap',
  realFrom: 0,
  transactionsPerBlock: 8,
  logsPerCall: 3,
  contracts: 24,
  zipf: 1,
  erc20Contracts: 4,
  deploymentSpan: 100,
  addedContracts: [],
  stretchBlocks: 16,
  callsPerStretch: 16,
  emptyEvery: 0,
  denseEvery: 0,
  denseFactor: 10,
  transactionsPerWallet: 64,
  genesisTime: 1_600_000_000,
  blockTimeSeconds: 12,
  finalityDepth: 64,
  stateSync: 'none',
  types: [2, 0],
  mergedAt: 0,
  signed: false,
  logTimestamps: false,
  forks: [],
  scenario: undefined,
}
