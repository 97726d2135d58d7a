// Recomputes the receipts root of a block from its receipts: the proof that no log was dropped, added or altered. It
// proves nothing on a chain that hashes receipts in another way (`foreignReceiptsRoot`).
import { quantityOf } from '../../hex.ts'
import type { RpcLog, RpcReceipt } from '../rpc/port.ts'
import { hexBytes, RlpWriter, rlpPrefixLength, rlpStringLength } from './rlp.ts'
import { listRoot } from './trie.ts'

// One for all blocks: encoded receipts do not outlive their root.
const writer = new RlpWriter()

/** `0x` and 64 digits; undefined if a receipt cannot be read. Receipts are in transaction order. */
export function receiptsRoot(receipts: readonly RpcReceipt[]): string | undefined {
  writer.reset()
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    const start = writer.at
    if (!writeReceipt(receipt)) return undefined
    encoded.push(writer.bytes.subarray(start, writer.at))
  }
  return `0x${Buffer.from(listRoot(encoded)).toString('hex')}`
}

/** Writes what is hashed of one receipt: its type unless that is 0, then its RLP. */
function writeReceipt(receipt: RpcReceipt): boolean {
  if (typeof receipt !== 'object' || receipt === null || !Array.isArray(receipt.logs)) return false
  const outcome = isSet(receipt.root) ? receipt.root : minimal(receipt.status)
  const deposit = isSet(receipt.depositReceiptVersion)
  const before = [outcome, minimal(receipt.cumulativeGasUsed), receipt.logsBloom]
  const after = deposit ? [minimal(receipt.depositNonce), minimal(receipt.depositReceiptVersion)] : []
  const type = receipt.type === undefined || receipt.type === null ? 0 : quantityOf(receipt.type, 0x7f)
  const logs = receipt.logs as readonly RpcLog[]
  const logLengths: number[] = []
  let logsLength = 0
  for (const log of logs) {
    const length = logLength(log)
    if (length < 0) return false
    logLengths.push(length)
    logsLength += rlpPrefixLength(length) + length
  }
  const fieldsLength = stringsLength(before, after)
  if (type < 0 || fieldsLength < 0) return false
  const length = fieldsLength + rlpPrefixLength(logsLength) + logsLength
  writer.reserve(length + 6)
  if (type > 0) writer.byte(type)
  writer.listPrefix(length)
  for (const field of before) writeString(field)
  writer.listPrefix(logsLength)
  for (const [at, log] of logs.entries()) writeLog(log, logLengths[at]!)
  for (const field of after) writeString(field)
  return writer.sound
}

/** The length of a log's list without its prefix; -1 if it cannot be read. */
function logLength(log: RpcLog): number {
  if (typeof log !== 'object' || log === null || !Array.isArray(log.topics)) return -1
  const topics = topicsLength(log.topics)
  const rest = stringsLength([log.address, log.data], [])
  return topics < 0 || rest < 0 ? -1 : rest + rlpPrefixLength(topics) + topics
}

function writeLog(log: RpcLog, length: number): void {
  writer.listPrefix(length)
  writeString(log.address)
  writer.listPrefix(topicsLength(log.topics))
  for (const topic of log.topics) writeString(topic)
  writeString(log.data)
}

function topicsLength(topics: readonly unknown[]): number {
  let length = 0
  for (const topic of topics) {
    const bytes = hexBytes(topic)
    if (bytes < 0) return -1
    length += rlpStringLength(topic as string, bytes)
  }
  return length
}

function stringsLength(before: readonly unknown[], after: readonly unknown[]): number {
  let length = 0
  for (const list of [before, after])
    for (const text of list) {
      const bytes = hexBytes(text)
      if (bytes < 0) return -1
      length += rlpStringLength(text as string, bytes)
    }
  return length
}

/** Of a text whose length was taken before. */
function writeString(text: unknown): void {
  writer.string(text as string, hexBytes(text))
}

/** A quantity in RLP: whole bytes without leading zeros, and none for zero. */
function minimal(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length < 3 || !text.startsWith('0x')) return undefined
  let start = 2
  while (start < text.length && text.charCodeAt(start) === 0x30) start++
  if (start === 2 && text.length % 2 === 0) return text
  const digits = text.slice(start)
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

/** Some nodes write fields that do not apply as null or as empty bytes. */
function isSet(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== '0x'
}
