// A chain with few transfers in a store, to be told of: blocks 0 to 9 are final, 10 and 11 are not, and from 8 on each
// has one transfer, of the token of its number.
import type { Address, Block, ChainId, Hash } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { HotBlock, Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'

export const eth = 1 as ChainId
export const [contract, wallet, other] = ['c', '1', '2'].map(digit => `0x${digit.repeat(40)}`) as [
  Address,
  Address,
  Address,
]
const evidence = 'receipts-root'

export function block(number: number, branch = 0): Block {
  return { number, hash: `0x${`${number}0${branch}`.padStart(64, '0')}` as Hash, timestamp: 1_600_000_000 + number }
}

export function withRow(number: number, branch = 0): HotBlock {
  const payload = packTransfer({
    ...{ standard: 'ERC721', batch: false, from: wallet, to: other, operator: undefined, amount: 1n, value: 0n },
    ...{ tokenId: BigInt(number), transactionHash: block(number, branch).hash, idCount: 1 },
  })
  const row = { block: number, transactionIndex: 0, logIndex: 3, batchIndex: 0, contract, payload }
  return { ...block(number, branch), transfers: [row], activity: noActivity }
}

export async function fillChain(store: Store, chain = eth): Promise<void> {
  await store.commitCold({
    ...{ chain, blocks: [8, 9].map(number => block(number)), activity: noActivity },
    covered: [{ scope: 'full', from: 0, to: 9, evidence }],
    ranges: [{ from: 0, to: 9, hash: block(9).hash }],
    transfers: [8, 9].flatMap(number => withRow(number).transfers),
  })
  await addBlocks(store, 9, [withRow(10), withRow(11)], chain)
}

/** Those above the ancestor are replaced. */
export async function addBlocks(store: Store, ancestor: number, blocks: HotBlock[], chain = eth): Promise<void> {
  const { number, hash, timestamp } = blocks.at(-1)!
  const covered = { scope: 'full', from: ancestor + 1, evidence } as const
  await store.commitHot({ chain, ancestor, blocks, covered, head: { number, hash, timestamp } })
}
