// An ERC-20 token beside the small world of `seed.ts`: made once and moved twice, on eth.
import { ledgerId } from '../src/ledgers.ts'
import { type Address, type Hash, zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { seeded, seededAddress, seededBlock } from './seed.ts'

const { alice, bob, carol, head } = seeded
const eth = seeded.chains.eth
const unit = 10n ** 18n

export const seededCoin = {
  address: seededAddress('coin'),
  name: 'Coin of the realm',
  symbol: 'REALM',
  /** The largest first. */
  holders: [
    { owner: alice, amount: 750n * unit },
    { owner: bob, amount: 249n * unit },
    { owner: carol, amount: unit },
  ],
  /** Newest first. */
  transfers: [
    { block: 3_000, from: bob, to: carol, amount: unit },
    { block: 2_000, from: alice, to: bob, amount: 250n * unit },
    { block: 1_000, from: zeroAddress, to: alice, amount: 1_000n * unit },
  ],
} as const

/** `from`: the first block that is indexed of it. */
export async function seedTokens(store: Store, from = 0): Promise<void> {
  const ledger = ledgerId(eth, 'erc20')
  const { address, name, symbol, transfers } = seededCoin
  await store.commitCold({
    ...{ chain: ledger, activity: noActivity },
    covered: [{ scope: address, from, to: head, evidence: 'receipts-root' }],
    blocks: [...transfers.map(({ block }) => block), 0, head].map(number => seededBlock(eth, number)),
    transfers: transfers.map(transferRow),
  })
  await store.putChainState(ledger, { head: seededBlock(eth, head) })
  const reading = { interfaces: [], decimals: 18, readAtMs: 1_700_000_000_123 }
  await store.annotate({
    facts: [{ chain: ledger, contract: address, name, symbol, possibleSpam: false, reading }],
  })
}

type Moved = { block: number; from: Address; to: Address; amount: bigint }

function transferRow({ block, from, to, amount }: Moved) {
  const payload = packTransfer({
    ...{ standard: 'ERC1155', batch: false, from, to, operator: undefined, tokenId: 0n, amount, value: 0n },
    ...{ transactionHash: `0x${block.toString(16).padStart(64, '0')}` as Hash, idCount: 1 },
  })
  return { block, transactionIndex: 1, logIndex: 2, batchIndex: 0, contract: seededCoin.address, payload }
}
