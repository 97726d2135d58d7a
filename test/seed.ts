// A small world for tests, put in through the store's write side: collections of every kind, wallets on several chains
// and a Solana account. It says what was put in, in the order of answers, and reads nothing back.
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { builtInChains } from '../src/chains.ts'
import type {
  ActivityRow,
  Address,
  Block,
  ChainId,
  Hash,
  Position,
  TransactionRef,
  TransferFacts,
  TransferRow,
} from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { packActivity } from '../src/store/packed-activity.ts'
import type { Holding, MintUpdate } from '../src/store/solana-store.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'

/** A row as an answer shows it: an ERC-2309 range stands here as one row for each of its ids. */
export type SeededTransfer = Position & Omit<TransferFacts, 'idCount'> & { contract: Address; blockHash: Hash }

const chainIdOf = (name: string): ChainId => builtInChains.find(chain => chain.name === name)!.id
const eth = chainIdOf('eth')
const polygon = chainIdOf('polygon')
const arbitrum = chainIdOf('arbitrum')

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
export const seededAddress = (name: string): Address => `0x${digest(name).toString('hex', 0, 20)}` as Address
const hashOf = (name: string): Hash => `0x${digest(name).toString('hex')}` as Hash
const keyOf = (name: string): Uint8Array => new Uint8Array(digest(name))

const secondsPerBlock = 12
const genesisTime = 1_600_000_000
export const seededBlock = (chain: ChainId, number: number): Block => ({
  number,
  hash: hashOf(`block ${chain} ${number}`),
  timestamp: genesisTime + number * secondsPerBlock,
})

const headNumber = 20_000
/** The last three blocks are not final. */
const finalNumber = headNumber - 3

export const seeded = {
  chains: { eth, polygon, arbitrum },
  head: headNumber,
  finalized: finalNumber,
  /** ERC-721 on eth: mints, transfers, burns, and three rows in blocks that are not final. */
  collection: seededAddress('collection'),
  /** ERC-1155 on eth: single transfers and batches, ids and amounts up to 2^256 - 1. */
  editions: seededAddress('editions'),
  /** ERC-721 on eth whose tokens were minted by one ERC-2309 event. */
  range: seededAddress('range'),
  /** ERC-721 on polygon, indexed from `deedsFrom` on only. */
  deeds: seededAddress('deeds'),
  deedsFrom: 500,
  /** Covered on eth, and without any transfer. */
  silent: seededAddress('silent'),
  /** What was read of the collection. */
  reading: { interfaces: ['erc721', 'erc721-metadata'], readAtMs: 1_700_000_000_123 },
  alice: seededAddress('alice'),
  bob: seededAddress('bob'),
  carol: seededAddress('carol'),
  aliceLabel: 'Alice: "main" wallet ✓',
  solanaOwner: base58.encode(keyOf('solana owner')),
  solanaLamports: 5_999_980_000n,
  solanaSlot: 250_000_000,
} as const

const { alice, bob, carol } = seeded

/** Everything that was transferred with one contract, newest first. */
export function seededTransfers(contract: Address): SeededTransfer[] {
  const rows = contractRows.get(contract) ?? []
  const shown = rows.flatMap(({ idCount, ...row }) =>
    Array.from({ length: idCount }, (_, index) => ({
      ...row,
      batchIndex: row.batchIndex + index,
      tokenId: row.tokenId + BigInt(index),
    })),
  )
  return shown.sort(newestFirst)
}

/** Fills an empty store. */
export async function seed(store: Store): Promise<void> {
  await seedEth(store)
  await seedOtherChains(store)
  await seedAnnotations(store)
  await seedSolana(store)
}

type PlannedRow = SeededTransfer & { idCount: number; chain: ChainId }

function planRow(
  chain: ChainId,
  contract: Address,
  position: Omit<Position, 'batchIndex'> & { batchIndex?: number },
  facts: Pick<TransferFacts, 'from' | 'to' | 'tokenId'> & Partial<TransferFacts>,
): PlannedRow {
  return {
    chain,
    contract,
    batchIndex: 0,
    ...position,
    blockHash: seededBlock(chain, position.block).hash,
    transactionHash: hashOf(`transaction ${chain} ${position.block} ${position.transactionIndex}`),
    standard: 'ERC721',
    batch: false,
    operator: undefined,
    amount: 1n,
    value: 0n,
    idCount: 1,
    ...facts,
  }
}

function planCollection(): PlannedRow[] {
  const row = planRow.bind(undefined, eth, seeded.collection)
  const mints = Array.from({ length: 100 }, (_, id) =>
    row(
      { block: 1_000 + Math.floor(id / 10), transactionIndex: 3, logIndex: id % 10 },
      { from: zeroAddress, to: alice, tokenId: BigInt(id) },
    ),
  )
  // Two rows in each block, mostly of one transaction, so that no order but the full one is right.
  const moves = Array.from({ length: 140 }, (_, index) =>
    row(
      { block: 2_000 + 7 * Math.floor(index / 2), transactionIndex: index % 10 === 9 ? 11 : 9, logIndex: 90 + index },
      {
        from: index % 2 === 0 ? alice : bob,
        to: index % 2 === 0 ? bob : carol,
        tokenId: BigInt(index % 100),
        value: BigInt(Math.floor(index / 2)) * 10n ** 16n,
      },
    ),
  )
  const burns = Array.from({ length: 10 }, (_, id) =>
    row({ block: 5_000 + id, transactionIndex: 0, logIndex: 0 }, { from: carol, to: zeroAddress, tokenId: BigInt(id) }),
  )
  const hot = Array.from({ length: 3 }, (_, id) =>
    row(
      { block: finalNumber + 1 + id, transactionIndex: 1, logIndex: 5 },
      { from: bob, to: alice, tokenId: BigInt(50 + id), value: 10n ** 18n },
    ),
  )
  return [...mints, ...moves, ...burns, ...hot]
}

function planEditions(): PlannedRow[] {
  const row = planRow.bind(undefined, eth, seeded.editions)
  const idMax = 2n ** 256n - 1n
  const singles = Array.from({ length: 30 }, (_, index) =>
    row(
      { block: 6_000 + index, transactionIndex: 2, logIndex: 40 },
      {
        standard: 'ERC1155',
        from: index < 5 ? zeroAddress : alice,
        to: index < 5 ? alice : bob,
        operator: index % 2 === 0 ? alice : carol,
        tokenId: idMax - BigInt(index),
        amount: index === 29 ? idMax : BigInt(index) * 1_000n,
      },
    ),
  )
  const batches = Array.from({ length: 50 }, (_, index) =>
    row(
      { block: 7_000 + Math.floor(index / 5), transactionIndex: 4, logIndex: 17, batchIndex: index % 5 },
      {
        standard: 'ERC1155',
        batch: true,
        from: bob,
        to: carol,
        operator: alice,
        tokenId: BigInt(index),
        amount: BigInt(index + 2),
        value: 7n,
      },
    ),
  )
  return [...singles, ...batches]
}

function planRange(): PlannedRow[] {
  const row = planRow.bind(undefined, eth, seeded.range)
  return [
    row(
      { block: 3_000, transactionIndex: 0, logIndex: 1 },
      { from: zeroAddress, to: alice, tokenId: 1n, idCount: 130, value: 3n },
    ),
    ...Array.from({ length: 5 }, (_, index) =>
      row(
        { block: 4_000 + index, transactionIndex: 6, logIndex: 2 },
        { from: alice, to: bob, tokenId: BigInt(1 + index) },
      ),
    ),
  ]
}

function planDeeds(): PlannedRow[] {
  const row = planRow.bind(undefined, polygon, seeded.deeds)
  return Array.from({ length: 12 }, (_, id) =>
    row(
      { block: 600 + 100 * id, transactionIndex: id, logIndex: 3 * id },
      { from: zeroAddress, to: alice, tokenId: BigInt(id) },
    ),
  )
}

const contractRows = new Map<Address, PlannedRow[]>([
  [seeded.collection, planCollection()],
  [seeded.editions, planEditions()],
  [seeded.range, planRange()],
  [seeded.deeds, planDeeds()],
])

function newestFirst(a: Position, b: Position): number {
  return (
    b.block - a.block ||
    b.transactionIndex - a.transactionIndex ||
    b.logIndex - a.logIndex ||
    b.batchIndex - a.batchIndex
  )
}

function rowsOf(chain: ChainId, from: number, to: number): TransferRow[] {
  return [...contractRows.values()]
    .flat()
    .filter(row => row.chain === chain && row.block >= from && row.block <= to)
    .map(({ contract, block, transactionIndex, logIndex, batchIndex, ...facts }) => ({
      contract,
      block,
      transactionIndex,
      logIndex,
      batchIndex,
      payload: packTransfer(facts),
    }))
}

function blocksOf(chain: ChainId, rows: readonly TransferRow[], ends: readonly number[]): Block[] {
  const numbers = new Set([...rows.map(row => row.block), ...ends])
  return [...numbers].sort((a, b) => a - b).map(number => seededBlock(chain, number))
}

async function seedEth(store: Store): Promise<void> {
  const cold = rowsOf(eth, 0, finalNumber)
  await store.commitCold({
    chain: eth,
    covered: [{ scope: 'full', from: 0, to: finalNumber, evidence: 'receipts-root' }],
    blocks: blocksOf(eth, cold, [0, finalNumber]),
    transfers: cold,
    activity: packActivity([
      activity(alice, seededTransaction(eth, 302, 1), seededTransaction(eth, 7_009, 4)),
      activity(bob, seededTransaction(eth, 2_000, 9), seededTransaction(eth, 7_009, 4)),
      activity(carol, seededTransaction(eth, 2_000, 9), seededTransaction(eth, 5_009, 0)),
    ]),
  })
  await store.commitHot({
    chain: eth,
    ancestor: finalNumber,
    blocks: [1, 2, 3].map(step => ({
      ...seededBlock(eth, finalNumber + step),
      transfers: rowsOf(eth, finalNumber + step, finalNumber + step),
      activity: packActivity(
        [alice, bob].map(address => {
          const transaction = seededTransaction(eth, finalNumber + step, 1)
          return activity(address, transaction, transaction)
        }),
      ),
    })),
    covered: { scope: 'full', from: finalNumber + 1, evidence: 'bloom' },
    head: seededBlock(eth, headNumber),
  })
  await store.putChainState(eth, { finalized: finalNumber })
}

async function seedOtherChains(store: Store): Promise<void> {
  const deeds = rowsOf(polygon, 0, headNumber)
  await store.commitCold({
    chain: polygon,
    covered: [{ scope: seeded.deeds, from: seeded.deedsFrom, to: headNumber, evidence: 'two-endpoints' }],
    blocks: blocksOf(polygon, deeds, [seeded.deedsFrom, headNumber]),
    transfers: deeds,
    activity: packActivity([
      activity(alice, seededTransaction(polygon, 600, 0), seededTransaction(polygon, 1_700, 11)),
    ]),
  })
  await store.putChainState(polygon, { head: seededBlock(polygon, headNumber) })
  await store.commitCold({
    chain: arbitrum,
    covered: [{ scope: 'full', from: 0, to: headNumber, evidence: 'receipts-root' }],
    blocks: blocksOf(arbitrum, [], [0, 42, headNumber]),
    transfers: [],
    activity: packActivity([activity(alice, seededTransaction(arbitrum, 42, 0), seededTransaction(arbitrum, 42, 0))]),
  })
  await store.putChainState(arbitrum, { head: seededBlock(arbitrum, headNumber) })
}

/** The transaction at a place of a chain, with the hash that the transfers there carry. */
export function seededTransaction(chain: ChainId, block: number, transactionIndex: number): TransactionRef {
  return {
    block,
    transactionIndex,
    hash: hashOf(`transaction ${chain} ${block} ${transactionIndex}`),
    timestamp: seededBlock(chain, block).timestamp,
  }
}

const activity = (address: Address, first: TransactionRef, last: TransactionRef): ActivityRow => ({
  address,
  first,
  last,
})

async function seedAnnotations(store: Store): Promise<void> {
  await store.annotate({
    labels: [
      { chain: undefined, address: alice, label: seeded.aliceLabel, source: 'seed', rank: 'operator', updatedAt: 0 },
    ],
  })
  await store.annotate({
    facts: [
      {
        chain: eth,
        contract: seeded.collection,
        name: 'Collection',
        symbol: 'COLL',
        possibleSpam: false,
        reading: seeded.reading,
      },
      {
        chain: eth,
        contract: seeded.editions,
        name: undefined,
        symbol: undefined,
        possibleSpam: true,
      },
    ],
  })
  const said = { chain: eth, source: 'seed', verified: undefined, spam: undefined, updatedAt: 0 }
  await store.annotate({ marks: [{ ...said, contract: seeded.collection, rank: 'imported', verified: true }] })
}

type SeededHolding = {
  name: string
  symbol: string
  decimals: number
  supply: bigint
  amount: bigint
  /** What the answer shows; undefined for a holding that is left out of it. */
  shown: { amount: string; list: 'tokens' | 'nfts' } | undefined
}

const u64Max = 2n ** 64n - 1n
const holdings: readonly SeededHolding[] = [
  { name: 'Dollar', symbol: 'USD', decimals: 6, supply: u64Max, amount: 1_234_500_000n, shown: token('1234.5') },
  {
    name: 'Everything',
    symbol: 'ALL',
    decimals: 9,
    supply: u64Max,
    amount: u64Max,
    shown: token('18446744073.709551615'),
  },
  { name: 'Points', symbol: '', decimals: 0, supply: 1_000n, amount: 2n, shown: token('2') },
  { name: 'Picture #1', symbol: 'PIC', decimals: 0, supply: 1n, amount: 1n, shown: { amount: '1', list: 'nfts' } },
  { name: 'Spent', symbol: 'NIL', decimals: 6, supply: u64Max, amount: 0n, shown: undefined },
]

function token(amount: string): SeededHolding['shown'] {
  return { amount, list: 'tokens' }
}

/** The entries of the Solana account's answer, in the order of their token accounts. */
export function seededHoldings(list: 'tokens' | 'nfts') {
  return holdings
    .filter(holding => holding.shown?.list === list)
    .map(holding => ({ holding, account: keyOf(`account ${holding.name}`) }))
    .sort((a, b) => Buffer.compare(a.account, b.account))
    .map(({ holding, account }) => ({
      associatedTokenAddress: base58.encode(account),
      mint: base58.encode(keyOf(`mint ${holding.name}`)),
      name: holding.name,
      symbol: holding.symbol,
      amount: holding.shown!.amount,
      amountRaw: holding.amount.toString(),
      decimals: holding.decimals,
    }))
}

async function seedSolana(store: Store): Promise<void> {
  const owner = keyOf('solana owner')
  const slot = seeded.solanaSlot
  const readAtMs = Date.now()
  await store.updateAccounts('mainnet', {
    mints: holdings.map(
      ({ name, symbol, decimals, supply }): MintUpdate => ({
        mint: keyOf(`mint ${name}`),
        slot,
        readAtMs,
        account: { program: 'token', decimals, supply, name: undefined, symbol: undefined, amountRule: undefined },
        metadata: { name, symbol, tokenStandard: undefined },
      }),
    ),
  })
  await store.updateAccounts('mainnet', {
    reading: {
      account: { owner, lamports: seeded.solanaLamports, slot, chainTime: Math.floor(readAtMs / 1_000), readAtMs },
      holdings: holdings.map(
        ({ name, amount }): Holding => ({
          account: keyOf(`account ${name}`),
          owner,
          mint: keyOf(`mint ${name}`),
          amount,
          program: 'token',
          slot,
          writeVersion: 0n,
        }),
      ),
    },
  })
}
