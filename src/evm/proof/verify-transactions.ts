// Checks the transactions of a block: whole, in their places, those of the header's root, and a sample of their
// senders.
import type { Chain } from '../../chains.ts'
import { isHexOf, quantityOf } from '../../hex.ts'
import { zeroAddress } from '../../model.ts'
import type { RpcBlock, RpcTransaction } from '../rpc/port.ts'
import { type Doubt, type Failure, failure, shown } from './failure.ts'
import { checkSender, sampleOf } from './senders.ts'
import { checkTransactionsRoot } from './transactions-root.ts'

/** Whole, in their places and with senders that are addresses. Undefined if they are. */
export function checkTransactionList(chain: Chain, block: RpcBlock, number: number): Failure | undefined {
  if (!Array.isArray(block.transactions)) {
    return failure('transactions', number, `block ${number} came without a list of transactions`)
  }
  let stateSyncFrom = Infinity
  for (const [index, transaction] of block.transactions.entries()) {
    if (typeof transaction !== 'object' || transaction === null) {
      const message = `transaction ${index} of block ${number} came as ${shown(transaction)}, not whole`
      return failure('transactions', number, message)
    }
    if (isStateSync(chain, block, index)) {
      // Some nodes give it an index of its own. It stands at the end of the block, outside of both roots.
      stateSyncFrom = Math.min(stateSyncFrom, index)
      continue
    }
    if (index > stateSyncFrom || quantityOf(transaction.transactionIndex, 2 ** 31) !== index) {
      const message = `transaction ${index} of block ${number} says that its index is ${shown(transaction.transactionIndex)}`
      return failure('transactions', number, message)
    }
    if (!isHexOf(transaction.from, 20)) {
      const message = `transaction ${index} of block ${number} came with the sender ${shown(transaction.from)}`
      return failure('sender', number, message)
    }
  }
  return undefined
}

/** Of a block whose header is proven and whose list passed. `oneIn`: how many senders to recover; 0: none. */
export function verifyTransactions(given: {
  chain: Chain
  block: RpcBlock
  oneIn: number
}): { failure: Failure } | { doubt: Doubt | undefined } {
  const { chain, block, oneIn } = given
  const number = quantityOf(block.number, Number.MAX_SAFE_INTEGER)
  const listed = block.transactions as readonly RpcTransaction[]
  const transactions =
    chain.quirks.stateSyncTransactions === true
      ? listed.filter((_, index) => !isStateSync(chain, block, index))
      : listed
  const verdict = checkTransactionsRoot(transactions, block.transactionsRoot)
  for (const index of sampleOf(transactions.length, oneIn)) {
    const wrong = checkSender(transactions[index]!)
    if (wrong !== undefined)
      return { failure: failure('sender', number, `transaction ${index} of block ${number}: ${wrong}`) }
  }
  if (verdict.is === 'proven') return { doubt: undefined }
  // After the fork that put state-sync transactions inside the root, their encoding is not known.
  const unsure = verdict.is === 'unknown' || (verdict.is === 'other-root' && transactions.length < listed.length)
  if (unsure) return { doubt: { reason: `block ${number}: ${verdict.why}`, elsewhere: true } }
  return { failure: failure('transactions-root', number, `block ${number}: ${verdict.why}`) }
}

/** On Polygon: from and to the zero address, or after the listed transactions. */
export function isStateSync(chain: Chain, block: RpcBlock, transactionIndex: number): boolean {
  if (chain.quirks.stateSyncTransactions !== true) return false
  const transaction = block.transactions[transactionIndex] as RpcTransaction | null | undefined
  return transaction === undefined || (transaction?.from === zeroAddress && transaction.to === zeroAddress)
}
