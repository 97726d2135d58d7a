// Checks and reads the receipts of a block as `debug_getRawReceipts` gives them: the very bytes that the receipts root
// holds, in hex. Whether an endpoint gives them is up to `rpc/raw-receipts.ts`.
import type { Chain } from '../../chains.ts'
import { hexOf, quantityOf } from '../../hex.ts'
import type { Hash } from '../../model.ts'
import type { RpcBlock, RpcTransaction } from '../rpc/port.ts'
import { type Failure, failure, shown } from './failure.ts'
import { type BlockReceipts, ReceiptReader } from './receipt-bytes.ts'
import { ownBytesOfDigits } from './rlp-digits.ts'
import { listRoot } from './trie.ts'

/** Whether receipts in bytes say all of a block: not where logs are outside of the root, or it is of another form. */
export function takesRawReceipts({ quirks }: Chain): boolean {
  const { stateSyncTransactions, receiptsMayBeMissing, foreignReceiptsRoot } = quirks
  return !(stateSyncTransactions === true || receiptsMayBeMissing === true || foreignReceiptsRoot === true)
}

/** Whether a list of receipts came in bytes that can be proven. An empty one is the same in both forms. */
export function areRawReceipts(chain: Chain, receipts: unknown): receipts is readonly string[] {
  return takesRawReceipts(chain) && Array.isArray(receipts) && typeof receipts[0] === 'string'
}

/** Of a block whose transactions passed their check. `listed`: see `ReceiptReader`. */
export function readRawReceipts(
  block: RpcBlock,
  receipts: readonly string[],
  listed?: ReadonlySet<number>,
): BlockReceipts | { failure: Failure } {
  const number = quantityOf(block.number, Number.MAX_SAFE_INTEGER)
  const wrong = (said: string) => ({ failure: failure('raw-receipts', number, `block ${number}: ${said}`) })
  const count = block.transactions.length
  if (receipts.length !== count) return wrong(`${receipts.length} raw receipts came for ${count} transactions`)
  const isHex = (text: unknown): boolean => typeof text === 'string' && text.startsWith('0x') && text.length > 2
  const encoded = receipts.every(isHex) ? ownBytesOfDigits(receipts.map(text => text.slice(2))) : undefined
  if (encoded?.[0] === undefined) return wrong('a raw receipt is not bytes in hex')
  const root = hexOf(listRoot(encoded))
  if (root !== block.receiptsRoot)
    return wrong(`the ${count} raw receipts hash to ${root}, the header says ${shown(block.receiptsRoot)}`)
  const reader = new ReceiptReader(Buffer.from(encoded[0].buffer as ArrayBuffer), listed)
  try {
    for (const { byteOffset, length } of encoded) reader.addFull(byteOffset, byteOffset + length)
  } catch (error) {
    return wrong(`a raw receipt ${(error as Error).message}`)
  }
  const transactions = block.transactions as readonly RpcTransaction[]
  return reader.of({ number, hash: String(block.hash).toLowerCase() as Hash, transactions })
}
