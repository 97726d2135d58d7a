// Reads the receipts of a block from RLP, with their bloom (era1) or without (ere): the bytes that the receipts root
// holds, and the logs that token transfers are decoded from.
import { transferTopics } from '../decode/token-events.ts'
import { addBytesToBloom, bloomBytes } from '../proof/bloom.ts'
import { putRlpPrefix, rlpPrefixLength } from '../proof/rlp.ts'
import { UnreadableFile } from './e2store.ts'
import { RlpCursor } from './rlp-cursor.ts'

/** A log with its place in the block. */
export type PlacedLog = { address: string; topics: string[]; data: string; transactionIndex: number; logIndex: number }

type ReadReceipts = {
  /** As the root holds them: the type, unless it is 0, then the RLP. */
  encoded: Uint8Array[]
  /** Those that begin with a topic of token transfers. */
  logs: PlacedLog[]
  /** How many logs all receipts have. */
  logCount: number
}

export function readReceipts(list: RlpCursor, areSlim: boolean): ReadReceipts {
  const read: ReadReceipts = { encoded: [], logs: [], logCount: 0 }
  for (let index = 0; !list.isAtEnd; index++) {
    if (areSlim) readSlim(list.list(), index, read)
    else readFull(list, index, read)
  }
  return read
}

/** State root or status, gas, bloom, logs: a list, or bytes that hold a type and a list. */
function readFull(list: RlpCursor, index: number, read: ReadReceipts): void {
  list.next()
  read.encoded.push(list.isList ? list.encoded() : list.content())
  const whole = new RlpCursor(list.bytes, list.isList ? list.start : list.from + 1, list.to)
  const fields = whole.list()
  whole.end()
  fields.string()
  fields.string()
  fields.string(bloomBytes)
  readLogs(fields.list(), index, read, undefined)
  fields.end()
}

/** Type, state root or status, gas, logs. */
function readSlim(fields: RlpCursor, index: number, read: ReadReceipts): void {
  const type = fields.number()
  if (type > 0x7f) throw new UnreadableFile(`has a receipt of the unknown type ${type}`)
  const from = fields.string().start
  const to = fields.string().to
  const bloom = new Uint8Array(bloomBytes)
  readLogs(fields.list(), index, read, bloom)
  const logs = fields.encoded()
  fields.end()
  // The bloom stands between gas and logs.
  const length = to - from + bloomPrefixBytes + bloomBytes + logs.length
  const lead = type === 0 ? 0 : 1
  const encoded = Buffer.allocUnsafe(lead + rlpPrefixLength(length) + length)
  encoded[0] = type
  let at = putRlpPrefix(encoded, lead, 0xc0, length)
  at += fields.bytes.copy(encoded, at, from, to)
  at = putRlpPrefix(encoded, at, 0x80, bloomBytes)
  encoded.set(bloom, at)
  encoded.set(logs, at + bloomBytes)
  read.encoded.push(encoded)
}

const bloomPrefixBytes = rlpPrefixLength(bloomBytes)

// The first byte of a topic tells most other events apart; no two of these share theirs.
const topicByFirstByte = new Array<Buffer | undefined>(256)
for (const topic of transferTopics) {
  const bytes = Buffer.from(topic.slice(2), 'hex')
  topicByFirstByte[bytes[0]!] = bytes
}

function readLogs(list: RlpCursor, transactionIndex: number, read: ReadReceipts, bloom: Uint8Array | undefined): void {
  const { bytes } = list
  while (!list.isAtEnd) {
    const fields = list.list()
    const address = fields.string(20).from
    if (bloom !== undefined) addBytesToBloom(bloom, bytes, address, address + 20)
    const topics = fields.list()
    const first = topics.isAtEnd ? -1 : topics.string(32).from
    for (let topic = first; topic >= 0; topic = topics.isAtEnd ? -1 : topics.string(32).from)
      if (bloom !== undefined) addBytesToBloom(bloom, bytes, topic, topic + 32)
    fields.string()
    const logIndex = read.logCount++
    if (first >= 0 && isTransfer(bytes, first)) {
      const data = fields.hex()
      const words: string[] = []
      for (let at = first; at < topics.to; at += 33) words.push(`0x${bytes.toString('hex', at, at + 32)}`)
      const place = { transactionIndex, logIndex }
      read.logs.push({ address: `0x${bytes.toString('hex', address, address + 20)}`, topics: words, data, ...place })
    }
    fields.end()
  }
}

function isTransfer(bytes: Buffer, at: number): boolean {
  const topic = topicByFirstByte[bytes[at]!]
  return topic !== undefined && bytes.compare(topic, 0, 32, at, at + 32) === 0
}
