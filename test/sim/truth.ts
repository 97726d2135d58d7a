// What an index must hold for a range of the canonical branch, from the generator alone: nothing of src decodes here.
import type { ActivityRow, Address, Hash, Interval, Position, TransactionRef, TransferFacts } from '../../src/model.ts'
import type { SimBlock } from './block.ts'
import type { SimChain } from './chain.ts'
import { movementsOf, partiesOf, zero } from './events.ts'
import type { Wallet } from './wallets.ts'

export type ExpectedTransfer = Position & TransferFacts & { contract: Address; blockHash: Hash; timestamp: number }

/** Every transfer of the range in ascending order of position; of one contract where one is given. */
export function expectedTransfers(chain: SimChain, range: Interval & { contract?: string }): ExpectedTransfer[] {
  const expected: ExpectedTransfer[] = []
  for (let number = Math.max(0, range.from); number <= Math.min(range.to, chain.head); number++) {
    if (range.contract !== undefined && !chain.mayHaveLogs(range.contract, number)) {
      number = Math.max(number, Math.min(chain.silentUntil(range.contract, number + 1), range.to))
      continue
    }
    for (const transfer of transfersOfBlock(chain.block(number))) {
      if (range.contract === undefined || transfer.contract === range.contract) expected.push(transfer)
    }
  }
  return expected
}

/** Of one block, on whichever branch it is. */
export function transfersOfBlock(block: SimBlock): ExpectedTransfer[] {
  return block.transactions.flatMap(transaction =>
    transaction.events.flatMap((event, at) =>
      movementsOf(event).map((movement, batchIndex) => ({
        ...movement,
        block: block.number,
        transactionIndex: transaction.index,
        logIndex: transaction.firstLogIndex + at,
        batchIndex,
        contract: event.contract as Address,
        value: transaction.value,
        transactionHash: transaction.hash as Hash,
        blockHash: block.hash as Hash,
        timestamp: block.timestamp,
        ...sentBy(transaction.from, movement),
      })),
    ),
  )
}

/** Nobody sends a state-sync transaction. */
function sentBy(sender: string, { from, to }: { from: string; to: string }): Pick<TransferFacts, 'sentBy'> {
  if (sender === zero) return {}
  return { sentBy: sender === to ? 'recipient' : sender === from ? 'giver' : 'other' }
}

/** The first and last transaction of every address that is active in the range. */
export function expectedActivity(chain: SimChain, range: Interval): Map<Address, ActivityRow> {
  const expected = new Map<Address, ActivityRow>()
  for (let number = Math.max(0, range.from); number <= Math.min(range.to, chain.head); number++) {
    const block = chain.block(number)
    for (const transaction of block.transactions) {
      const ref: TransactionRef = {
        block: number,
        transactionIndex: transaction.index,
        hash: transaction.hash as Hash,
        timestamp: block.timestamp,
      }
      for (const address of partiesOfTransaction(transaction)) {
        const row = expected.get(address)
        if (row === undefined) expected.set(address, { address, first: ref, last: ref })
        else row.last = ref
      }
    }
  }
  return expected
}

/** The first and last transaction that a wallet sent up to the head, without looking at the blocks between. */
export function expectedSent(
  chain: SimChain,
  address: string,
): { first: TransactionRef; last: TransactionRef } | undefined {
  const wallet = chain.walletOf(address)
  if (wallet?.kind !== 'sender') return undefined
  const nonce = chain.nonceAt(address, chain.head)
  if (nonce === 0) return undefined
  return { first: sentRef(chain, wallet, 0), last: sentRef(chain, wallet, nonce - 1) }
}

function sentRef(chain: SimChain, wallet: Wallet, nonce: number): TransactionRef {
  const block = chain.block(chain.blockOfNonce(wallet, nonce))
  const from = chain.wallets.address(wallet)
  const sent = block.transactions.find(t => t.from === from && t.nonce === nonce)
  if (sent === undefined) throw new Error(`no transaction ${nonce} of ${from} in block ${block.number}`)
  const { index: transactionIndex, hash } = sent
  return { block: block.number, transactionIndex, hash: hash as Hash, timestamp: block.timestamp }
}

function partiesOfTransaction(transaction: ReturnType<SimChain['block']>['transactions'][number]): Set<Address> {
  const { from, to, created, events } = transaction
  const parties = [from, to, created, ...events.flatMap(partiesOf)].filter(party => party !== null)
  return new Set(parties as Address[])
}
