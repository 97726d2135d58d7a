// A chain with transfers of three contracts, for the lists of transfers: final blocks, and two that are not.
import type { Address, TransferFacts, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { alice, apes, art, blockOf, bob, carol, chain, coins, plainFacts } from './plain-rows.ts'

type Place = [block: number, transaction: number, log: number, batch?: number]
type Row = TransferRow & { facts: TransferFacts }
export const row = (contract: Address, at: Place, facts: Partial<TransferFacts>): Row => {
  const [block, transactionIndex, logIndex, batchIndex = 0] = at
  const whole = { ...plainFacts, ...facts }
  return { contract, block, transactionIndex, logIndex, batchIndex, facts: whole, payload: packTransfer(whole) }
}

const erc1155 = { standard: 'ERC1155', batch: true, operator: carol } as const
/** A range of 6 ids in a final block, a batch with a repeated id, a self transfer, a burn, and two hot blocks. */
export const final: Row[] = [
  row(apes, [10, 0, 0], { tokenId: 1n, to: alice }),
  row(art, [11, 2, 5], { tokenId: 100n, idCount: 6, to: bob }),
  row(apes, [12, 1, 3], { tokenId: 1n, from: alice, to: bob }),
  row(coins, [12, 4, 9, 0], { ...erc1155, tokenId: 5n, amount: 3n, to: alice }),
  row(coins, [12, 4, 9, 1], { ...erc1155, tokenId: 6n, amount: 4n, to: alice }),
  row(coins, [12, 4, 9, 2], { ...erc1155, tokenId: 5n, amount: 2n, to: alice }),
  row(art, [13, 0, 0], { tokenId: 103n, from: bob, to: alice }),
  row(apes, [14, 0, 1], { tokenId: 1n, from: bob, to: bob }),
  row(apes, [15, 0, 1], { tokenId: 2n ** 256n - 1n, to: carol }),
]
export const hot: Row[] = [
  row(art, [20, 0, 0], { tokenId: 200n, idCount: 4, to: alice }),
  row(apes, [21, 0, 0], { tokenId: 1n, from: bob, to: zeroAddress }),
]

export async function fillListed(store: Store): Promise<void> {
  const evidence = 'receipts-root' as const
  await store.commitCold({
    ...{ chain, transfers: final, activity: noActivity },
    covered: [{ scope: 'transfers', from: 0, to: 19, evidence }],
    blocks: [0, 10, 11, 12, 13, 14, 15, 19].map(blockOf),
  })
  const blocks = [20, 21].map(number => ({
    ...{ ...blockOf(number), activity: noActivity },
    transfers: hot.filter(({ block }) => block === number),
  }))
  const covered = { scope: 'transfers', from: 20, evidence } as const
  await store.commitHot({ chain, ancestor: 19, blocks, covered, head: blockOf(21) })
  await store.annotate({ facts: [{ chain, contract: apes, name: 'Apes', symbol: 'APE', possibleSpam: false }] })
  await store.annotate({
    marks: [
      { chain, contract: coins, source: 'test', rank: 'operator', verified: undefined, spam: true, updatedAt: 1 },
    ],
  })
  const label = {
    address: bob,
    chain: undefined,
    label: 'Bob',
    source: 'test',
    rank: 'operator',
    updatedAt: 1,
  } as const
  await store.annotate({ labels: [label] })
}
