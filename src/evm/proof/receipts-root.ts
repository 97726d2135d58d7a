// Recomputes the receipts root of a block from its receipts: the proof that no log was dropped, added or altered. It
// proves nothing on a chain that hashes receipts in another way (`foreignReceiptsRoot`).
import { hexOf, quantityOf } from '../../hex.ts'
import type { RpcLog, RpcReceipt } from '../rpc/port.ts'
import { byteDigits, bytesOfDigits, listDigits, quantityDigits, stringDigits, unreadable } from './rlp-digits.ts'
import { listRoot } from './trie.ts'

/** `0x` and 64 digits; undefined if a receipt cannot be read. Receipts are in transaction order. */
export function receiptsRoot(receipts: readonly RpcReceipt[]): string | undefined {
  const encoded = bytesOfDigits(receipts.map(receiptDigits))
  return encoded === undefined ? undefined : hexOf(listRoot(encoded))
}

/** What is hashed of one receipt: its type unless that is 0, then its RLP. */
function receiptDigits(receipt: RpcReceipt): string {
  if (typeof receipt !== 'object' || receipt === null || !Array.isArray(receipt.logs)) return unreadable
  const { root, status, cumulativeGasUsed, logsBloom, depositNonce, depositReceiptVersion } = receipt
  const type = receipt.type === undefined || receipt.type === null ? 0 : quantityOf(receipt.type, 0x7f)
  if (type < 0) return unreadable
  let logs = ''
  for (const log of receipt.logs as readonly RpcLog[]) logs += logDigits(log)
  const list = listDigits(
    (isSet(root) ? stringDigits(root) : quantityDigits(status)) +
      quantityDigits(cumulativeGasUsed) +
      stringDigits(logsBloom) +
      listDigits(logs) +
      (isSet(depositReceiptVersion) ? quantityDigits(depositNonce) + quantityDigits(depositReceiptVersion) : ''),
  )
  return type === 0 ? list : byteDigits[type]! + list
}

function logDigits(log: RpcLog): string {
  if (typeof log !== 'object' || log === null || !Array.isArray(log.topics)) return unreadable
  let topics = ''
  for (const topic of log.topics) topics += stringDigits(topic)
  return listDigits(stringDigits(log.address) + listDigits(topics) + stringDigits(log.data))
}

/** Some nodes write fields that do not apply as null or as empty bytes. */
function isSet(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== '0x'
}
