// A chain of ten final blocks and a head in memory, with the transfers of one contract.
import { type Address, type ChainId, type Hash, type TransferFacts, zeroAddress } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { MemoryStore } from './memory-store.ts'
import { packTransfer } from './pack-transfer.ts'

export const chain = 1 as ChainId
export const [contract, other] = ['a', 'c'].map(digit => `0x${digit.repeat(40)}` as Address) as [Address, Address]
export const [alice, bob] = ['1', '2'].map(digit => `0x${digit.repeat(40)}` as Address) as [Address, Address]

export const blockOf = (number: number) => ({ number, hash: `0x${'0'.repeat(64)}` as Hash, timestamp: number })

export function rowOf(block: number, facts: Partial<TransferFacts>) {
  const payload = packTransfer({
    ...{ standard: 'ERC721', batch: false, from: zeroAddress, to: alice, operator: undefined, tokenId: 1n, amount: 1n },
    ...{ value: 0n, transactionHash: `0x${'0'.repeat(64)}` as Hash, idCount: 1, sentBy: 'recipient', ...facts },
  })
  return { contract, block, transactionIndex: 0, logIndex: 0, batchIndex: 0, payload }
}

/** Final blocks 0 to 9 with these rows, and a head of 10. */
export function storeOf(rows: readonly ReturnType<typeof rowOf>[], from = 0): MemoryStore {
  const store = new MemoryStore()
  const blocks = Array.from({ length: 10 }, (_, number) => blockOf(number))
  const covered = [{ scope: contract, from, to: 9, evidence: 'bloom' } as const]
  store.commitCold({ chain, covered, blocks, transfers: rows, activity: noActivity })
  const hot = [{ ...blockOf(10), transfers: [], activity: noActivity }]
  const claim = { scope: contract, from: 10, evidence: 'bloom' } as const
  store.commitHot({ chain, ancestor: 9, blocks: hot, covered: claim, head: blockOf(10) })
  return store
}
