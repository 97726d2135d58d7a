// Rows in every part of a store, the same at every call: what the stores under `test/released` were filled with by the version
// that they are named after. It must not change while such a store is kept.
import type { Address, Block, ChainId, Hash, Position, TransferFacts } from '../src/model.ts'
import type { PackedActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'

/** Functions of the version that fills the store. */
type Packers = {
  packTransfer: (facts: TransferFacts) => Uint8Array
  packActivity: (rows: { address: Address; first: Transaction; last: Transaction }[]) => PackedActivity
}
type Transaction = { block: number; transactionIndex: number; hash: Hash; timestamp: number }

export const releasedChain = 1 as ChainId
export const releasedWallet = address('f7')
export const releasedContracts = [address('c1'), address('c2')] as const
export const releasedOther = 137 as ChainId
const day = '2026-01-01'

export async function fillReleased(store: Store, { packTransfer, packActivity }: Packers): Promise<void> {
  const [tokens, ranges] = releasedContracts
  const plain: TransferFacts = {
    ...{ standard: 'ERC721', batch: false, from: address('00'), to: releasedWallet, operator: undefined },
    ...{ tokenId: 1n, amount: 1n, value: 0n, transactionHash: hash('1a'), idCount: 1 },
  }
  const edition: TransferFacts = {
    ...{ standard: 'ERC1155', batch: true, from: releasedWallet, to: address('00'), operator: address('0b') },
    ...{ tokenId: 2n ** 255n, amount: 300n, value: 7n, transactionHash: hash('2b'), idCount: 1, sentBy: 'giver' },
  }
  const range: TransferFacts = { ...plain, from: address('0d'), tokenId: 0n, idCount: 70_000, sentBy: 'other' }
  const row = (contract: Address, block: number, facts: TransferFacts, place: Partial<Position> = {}) => ({
    ...{ contract, block, transactionIndex: 1, logIndex: 2, batchIndex: 0, ...place },
    payload: packTransfer(facts),
  })
  const first = { block: 7, transactionIndex: 0, hash: hash('1a'), timestamp: 1_700_000_000 }
  const last = { block: 9_000, transactionIndex: 1_048_575, hash: hash('2b'), timestamp: 8_589_934_591 }
  await store.commitCold({
    chain: releasedChain,
    covered: [
      { from: 0, to: 9_000, evidence: 'bloom', scope: 'full' },
      { from: 5, to: 7, evidence: 'receipts-root', scope: tokens },
    ],
    blocks: [block(0), block(7), block(9_000)],
    transfers: [
      row(tokens, 7, plain),
      row(tokens, 9_000, edition, { batchIndex: 1 }),
      row(tokens, 9_000, { ...edition, amount: 0n }),
      row(ranges, 7, range, { logIndex: 3 }),
    ],
    activity: packActivity([
      { address: releasedWallet, first, last },
      { address: tokens, first, last: first },
    ]),
  })
  const hot = { block: 9_001, transactionIndex: 3, hash: hash('3c'), timestamp: 8_589_934_592 }
  await store.commitHot({
    chain: releasedChain,
    ancestor: 9_000,
    blocks: [
      {
        ...block(9_001),
        transfers: [row(tokens, 9_001, { ...plain, sentBy: 'recipient' })],
        activity: packActivity([{ address: releasedWallet, first: hot, last: hot }]),
      },
    ],
    covered: { scope: 'full', from: 9_001, evidence: 'two-endpoints' },
    head: block(9_002),
  })
  await store.commitCold({
    ...{ chain: releasedOther, covered: [], blocks: [block(3)], transfers: [row(tokens, 3, plain)] },
    activity: packActivity([{ address: releasedWallet, first, last: first }]),
  })
  await store.watchContract(releasedChain, ranges, 12)
  await fillSolana(store)
  await store.putKey({
    ...{ id: 'k', name: 'key', hash: 'ab', scopes: ['a'], createdAt: 1, expiresAt: undefined, revokedAt: 2 },
    ...{ ratePerSecond: 1.5, quotaPerDay: 7, indexPerDay: 7, indexWaiting: undefined, replaces: undefined },
  })
  await store.addUse([{ keyId: 'k', day, operation: 'x', count: 3 }])
  await store.putLabels([
    {
      chain: undefined,
      address: releasedWallet,
      label: 'nul \0 and ✓',
      source: 'list',
      rank: 'imported',
      updatedAt: 5,
    },
    { chain: releasedOther, address: releasedWallet, label: 'pinned', source: 'me', rank: 'operator', updatedAt: 6 },
  ])
  await store.putMarks([
    {
      ...{ chain: releasedChain, contract: tokens, source: 'list', rank: 'imported' },
      ...{ verified: true, spam: undefined, updatedAt: 4 },
    },
  ])
  await store.putContractFacts([
    {
      ...{ chain: releasedChain, contract: tokens, name: 'Tokens', symbol: undefined, possibleSpam: true },
      reading: { interfaces: ['erc721'], readAtMs: 3 },
      verdict: { rulesVersion: 1, score: 2, reasons: [], basis: '3', judgedAtMs: 4 },
    },
  ])
  await store.putCheckpoint('feed', 'here')
}

async function fillSolana(store: Store): Promise<void> {
  const key = (n: number) => new Uint8Array(32).fill(n)
  await store.applyHoldings('devnet', [
    {
      ...{ account: key(1), owner: key(2), mint: key(3), amount: 2n ** 64n - 1n, program: 'token', slot: 5 },
      writeVersion: 2n ** 63n,
    },
    { account: key(4), closed: true, slot: 6, writeVersion: 9n },
  ])
  await store.putLamports('devnet', { owner: key(2), lamports: 7n, slot: 3, chainTime: 1, readAtMs: 2 })
  const metadata = { name: 'nul \0 and ✓', symbol: undefined, tokenStandard: 2 }
  await store.putMints('devnet', [{ mint: key(3), slot: 4, readAtMs: 1, metadata }])
}

function address(byte: string): Address {
  return `0x${byte.repeat(20)}` as Address
}

function hash(byte: string): Hash {
  return `0x${byte.repeat(32)}` as Hash
}

function block(number: number): Block {
  return { number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash, timestamp: 1_600_000_000 + number * 12 }
}
