// Transfers of three contracts among three wallets, plain but for what a test says of them, and a chain that has them in
// final blocks: what the tests of lists over HTTP begin with.
import { builtInChains } from '../src/chains.ts'
import type { Address, Hash, TransferFacts, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { seededAddress } from './seed.ts'

export const chain = builtInChains[0]!.id
export const [apes, coins, art] = ['apes', 'coins', 'art'].map(seededAddress) as [Address, Address, Address]
export const [alice, bob, carol] = ['alice', 'bob', 'carol'].map(seededAddress) as [Address, Address, Address]
export const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash
export const blockOf = (number: number) => ({ number, hash: hashOf(number), timestamp: 1_600_000_000 + number * 12 })

/** A mint of one ERC-721 token to Alice. */
export const plainFacts: TransferFacts = {
  ...{ standard: 'ERC721', batch: false, operator: undefined, amount: 1n, value: 7n, idCount: 1, tokenId: 0n },
  ...{ from: zeroAddress, to: alice, transactionHash: hashOf(99) },
}

export const plainRow = (
  contract: Address,
  block: number,
  facts: Partial<TransferFacts>,
  logIndex = 0,
): TransferRow => ({
  ...{ contract, block, transactionIndex: 0, logIndex, batchIndex: 0 },
  payload: packTransfer({ ...plainFacts, ...facts }),
})

/** Blocks 0 to 19 with these rows, all of them final. */
export async function fillFinal(store: Store, rows: readonly TransferRow[]): Promise<void> {
  await store.commitCold({
    ...{ chain, transfers: rows, activity: noActivity },
    covered: [{ scope: 'transfers', from: 0, to: 19, evidence: 'receipts-root' }],
    blocks: [0, ...new Set(rows.map(({ block }) => block)), 19].map(blockOf),
  })
  await store.putChainState(chain, { head: blockOf(19) })
}
