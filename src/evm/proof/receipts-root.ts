// The receipts root of a block, recomputed from its receipts: the proof that not one log was dropped, added or altered.
// It says nothing where a chain hashes its receipts in another way (`foreignReceiptsRoot`).
import { bytesOfHex, quantityBytes, quantityOf } from '../hex.ts'
import type { RpcLog, RpcReceipt } from '../rpc/types.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'
import { listRoot } from './trie.ts'

/** `0x` and 64 digits; undefined where a receipt cannot be read. Receipts in the order of their transactions. */
export function receiptsRoot(receipts: readonly RpcReceipt[]): string | undefined {
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    const bytes = encodeReceipt(receipt)
    if (bytes === undefined) return undefined
    encoded.push(bytes)
  }
  return `0x${Buffer.from(listRoot(encoded)).toString('hex')}`
}

/** What is hashed for one receipt: its RLP, behind its type where that is not the first one. */
export function encodeReceipt(receipt: RpcReceipt): Uint8Array | undefined {
  if (typeof receipt !== 'object' || receipt === null || !Array.isArray(receipt.logs)) return undefined
  const outcome = isSet(receipt.root) ? bytesOfHex(receipt.root) : quantityBytes(receipt.status)
  const gas = quantityBytes(receipt.cumulativeGasUsed)
  const bloom = bytesOfHex(receipt.logsBloom)
  const type = receipt.type === undefined || receipt.type === null ? 0 : quantityOf(receipt.type, 0x7f)
  if (outcome === undefined || gas === undefined || bloom === undefined || type < 0) return undefined
  const logs: RlpItem[] = []
  for (const log of receipt.logs as readonly RpcLog[]) {
    const item = logItem(log)
    if (item === undefined) return undefined
    logs.push(item)
  }
  const fields: RlpItem[] = [outcome, gas, bloom, logs]
  if (isSet(receipt.depositReceiptVersion)) {
    const nonce = quantityBytes(receipt.depositNonce)
    const version = quantityBytes(receipt.depositReceiptVersion)
    if (nonce === undefined || version === undefined) return undefined
    fields.push(nonce, version)
  }
  const encoded = encodeRlp(fields)
  return type === 0 ? encoded : Buffer.concat([Uint8Array.of(type), encoded])
}

function logItem(log: RpcLog): RlpItem | undefined {
  if (typeof log !== 'object' || log === null || !Array.isArray(log.topics)) return undefined
  const address = bytesOfHex(log.address)
  const data = bytesOfHex(log.data)
  const topics: Uint8Array[] = []
  for (const topic of log.topics) {
    const bytes = bytesOfHex(topic)
    if (bytes === undefined) return undefined
    topics.push(bytes)
  }
  return address === undefined || data === undefined ? undefined : [address, topics, data]
}

/** Some nodes write the fields that do not apply as null or as empty bytes. */
function isSet(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== '0x'
}
