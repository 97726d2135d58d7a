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
  if (!areSlim) for (let index = 0; !list.isAtEnd; index++) readFull(list, index, read)
  else {
    const items: RlpCursor[] = []
    while (!list.isAtEnd) items.push(list.list())
    // One for all of them, each with a bloom and a prefix that may be longer.
    const room = { bytes: Buffer.allocUnsafeSlow(list.bytes.length + items.length * (bloomBytes + 12)), end: 0 }
    for (const [index, fields] of items.entries()) readSlim(fields, index, read, room)
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

const bloom = new Uint8Array(bloomBytes)

/** Type, state root or status, gas, logs. The bloom stands between gas and logs. */
function readSlim(fields: RlpCursor, index: number, read: ReadReceipts, room: { bytes: Buffer; end: number }): void {
  const type = fields.number()
  if (type > 0x7f) throw new UnreadableFile(`has a receipt of the unknown type ${type}`)
  const from = fields.string().start
  const to = fields.string().to
  bloom.fill(0)
  readLogs(fields.list(), index, read, bloom)
  const { start: logsFrom, to: logsTo, bytes } = fields
  fields.end()
  const length = to - from + bloomPrefixBytes + bloomBytes + logsTo - logsFrom
  const out = room.bytes
  const first = room.end
  let at = first
  if (type > 0) out[at++] = type
  at = putRlpPrefix(out, at, 0xc0, length)
  at += bytes.copy(out, at, from, to)
  at = putRlpPrefix(out, at, 0x80, bloomBytes)
  out.set(bloom, at)
  at += bloomBytes
  at += bytes.copy(out, at, logsFrom, logsTo)
  room.end = at
  read.encoded.push(new Uint8Array(out.buffer, out.byteOffset + first, at - first))
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
