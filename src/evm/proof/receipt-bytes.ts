// Reads the receipts of a block from the bytes that the receipts root holds, or from slimmed ones, whose bloom it puts
// back: those of nodes and of history files alike. It spells out the logs that NFT transfers are decoded from, makes no
// object for any other, and trusts nothing: its caller compares the root.
import { quantityHex } from '../../hex.ts'
import type { Hash } from '../../model.ts'
import type { TokenParties } from '../decode/activity.ts'
import type { LogSequence } from '../decode/log-sequence.ts'
import { topics, transferTopics } from '../decode/token-events.ts'
import type { RpcLog } from '../rpc/port.ts'
import { addBytesToBloom, bloomBytes } from './bloom.ts'
import { putRlpPrefix, rlpPrefixLength } from './rlp.ts'
import { RlpCursor, UnreadableBytes } from './rlp-cursor.ts'

/** What a log says of its place follows from these. */
type PlacedBlock = { number: number; hash: Hash; transactions: readonly { hash: string }[] }

/** What was read of one block. */
export type BlockReceipts = {
  /** The logs to decode, numbered among all logs of the block. */
  logs: LogSequence
  /** How many logs the block has. */
  logCount: number
  parties: TokenParties
}

/** Reads the receipts of one block, one after another. */
export class ReceiptReader {
  /** As the root holds them: the type, unless it is 0, then the RLP. */
  readonly encoded: Uint8Array[] = []
  readonly #bytes: Buffer
  /** First bytes of contracts whose transfers with three topics may be of NFTs; undefined: of all. */
  readonly #listed: ReadonlySet<number> | undefined
  readonly #logs: SpelledLog[] = []
  readonly #parties: number[] = []
  #logCount = 0

  /** `bytes` hold all receipts of the block. */
  constructor(bytes: Buffer, listed?: ReadonlySet<number>) {
    this.#bytes = bytes
    this.#listed = listed
  }

  /** State root or status, gas, bloom, logs; deposits of OP chains have more. */
  addFull(from: number, to: number): void {
    const bytes = this.#bytes
    const transactionAt = this.encoded.push(new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from)) - 1
    const whole = new RlpCursor(bytes, bytes[from]! >= 0xc0 ? from : from + 1, to)
    const fields = whole.list()
    whole.end()
    fields.string()
    fields.string()
    fields.string(bloomBytes)
    this.#readLogs(fields.list(), transactionAt, undefined)
    while (!fields.isAtEnd) fields.string()
  }

  /** Type, state root or status, gas, logs. The bloom stands between gas and logs. */
  addSlim(fields: RlpCursor, room: { bytes: Buffer; end: number }): void {
    const type = fields.number()
    if (type > 0x7f) throw new UnreadableBytes(`has a receipt of the unknown type ${type}`)
    const from = fields.string().start
    const to = fields.string().to
    bloom.fill(0)
    this.#readLogs(fields.list(), this.encoded.length, bloom)
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
    this.encoded.push(new Uint8Array(out.buffer, out.byteOffset + first, at - first))
  }

  /** There is a transaction for each receipt. */
  of(block: PlacedBlock): BlockReceipts {
    const length = this.#logs.length
    const transactionIndexes = new Uint32Array(length)
    const logIndexes = new Uint32Array(length)
    for (const [at, log] of this.#logs.entries()) {
      log.block = block
      transactionIndexes[at] = log.transactionAt
      logIndexes[at] = log.logAt
    }
    const blocks = new Float64Array(length).fill(block.number)
    const counts = { renumbered: noBlocks, unplaced: 0, removed: 0, repeated: 0 }
    const logs = { length, logs: this.#logs, blocks, transactionIndexes, logIndexes, ...counts }
    return { logs, logCount: this.#logCount, parties: { bytes: this.#bytes, places: this.#parties } }
  }

  #readLogs(list: RlpCursor, transactionAt: number, bloom: Uint8Array | undefined): void {
    const bytes = this.#bytes
    while (!list.isAtEnd) {
      const fields = list.listInto(logCursor)
      const address = fields.string(20).from
      if (bloom !== undefined) addBytesToBloom(bloom, bytes, address, address + 20)
      const words = fields.listInto(topicsCursor)
      const first = words.isAtEnd ? -1 : words.string(32).from
      let count = 0
      for (let topic = first; topic >= 0; topic = words.isAtEnd ? -1 : words.string(32).from) {
        if (bloom !== undefined) addBytesToBloom(bloom, bytes, topic, topic + 32)
        count++
      }
      fields.string()
      const logAt = this.#logCount++
      const topic = first >= 0 ? transferTopicAt(bytes, first) : undefined
      if (topic !== undefined) {
        // Half of all logs: transfers of fungible tokens, of which the parties alone are needed.
        if (topic === fungible && count === 3 && this.#listed?.has(bytes[address]!) === false)
          this.#parties.push(transactionAt, first + 33 + 12, first + 66 + 12)
        else this.#logs.push(new SpelledLog({ bytes, address, first, count, transactionAt, logAt }, fields.hex()))
      }
      fields.end()
    }
  }
}

/** The receipts of a block in a file, with their bloom (era1) or without (ere). */
export function readReceiptList(list: RlpCursor, areSlim: boolean, listed?: ReadonlySet<number>): ReceiptReader {
  const reader = new ReceiptReader(list.bytes, listed)
  if (!areSlim) {
    while (!list.isAtEnd) reader.addFull(list.next().isList ? list.start : list.from, list.to)
    return reader
  }
  const items: RlpCursor[] = []
  while (!list.isAtEnd) items.push(list.list())
  // One for all of them, each with a bloom and a prefix that may be longer.
  const room = { bytes: Buffer.allocUnsafeSlow(list.bytes.length + items.length * (bloomBytes + 12)), end: 0 }
  for (const fields of items) reader.addSlim(fields, room)
  return reader
}

/** One log in the form in which nodes write it. Its place is made text when it is asked for. */
class SpelledLog implements RpcLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly transactionAt: number
  readonly logAt: number
  block: PlacedBlock | undefined

  constructor(
    { bytes, address, first, count, transactionAt, logAt }: { bytes: Buffer } & Record<LogPlace, number>,
    data: string,
  ) {
    const words: string[] = []
    for (let at = first; words.length < count; at += 33) words.push(`0x${bytes.toString('hex', at, at + 32)}`)
    this.address = `0x${bytes.toString('hex', address, address + 20)}`
    this.topics = words
    this.data = data
    this.transactionAt = transactionAt
    this.logAt = logAt
  }

  get blockNumber(): string {
    return quantityHex(this.block!.number)
  }

  get blockHash(): string {
    return this.block!.hash
  }

  get transactionHash(): string {
    return this.block!.transactions[this.transactionAt]!.hash
  }

  get transactionIndex(): string {
    return quantityHex(this.transactionAt)
  }

  get logIndex(): string {
    return quantityHex(this.logAt)
  }
}

type LogPlace = 'address' | 'first' | 'count' | 'transactionAt' | 'logAt'

// One of each for all logs, and for all receipts.
const logCursor = new RlpCursor(Buffer.alloc(0))
const topicsCursor = new RlpCursor(Buffer.alloc(0))
const bloom = new Uint8Array(bloomBytes)
const bloomPrefixBytes = rlpPrefixLength(bloomBytes)

// The first byte of a topic tells most other events apart; no two of these share theirs.
const topicByFirstByte = new Array<Buffer | undefined>(256)
for (const topic of transferTopics) {
  const bytes = Buffer.from(topic.slice(2), 'hex')
  topicByFirstByte[bytes[0]!] = bytes
}
const fungible = topicByFirstByte[Number.parseInt(topics.transfer.slice(2, 4), 16)]!

function transferTopicAt(bytes: Buffer, at: number): Buffer | undefined {
  const topic = topicByFirstByte[bytes[at]!]
  if (topic === undefined) return undefined
  for (let byte = 1; byte < 32; byte++) if (topic[byte] !== bytes[at + byte]) return undefined
  return topic
}

const noBlocks: ReadonlySet<number> = new Set()
