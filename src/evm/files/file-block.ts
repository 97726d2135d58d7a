// Reads one block of a file from the bytes of its records and checks them: what the header hashes to, the transactions
// root and the receipts root. From bytes to bytes: roots are computed over the records as they are, without the hex
// text that nodes write, and text is made of the logs of token transfers alone, which are what is decoded.
import { hexOf, quantityHex } from '../../hex.ts'
import type { Hash } from '../../model.ts'
import type { LogSequence } from '../decode/log-sequence.ts'
import { keccakDigits } from '../proof/block-hash.ts'
import { listRoot } from '../proof/trie.ts'
import type { RpcLog } from '../rpc/port.ts'
import type { Header } from '../source/chain-source.ts'
import { UnreadableFile } from './e2store.ts'
import { type PlacedLog, readReceipts } from './file-receipts.ts'
import { type FileTransaction, readTransactions } from './file-transactions.ts'
import { rlpList } from './rlp-cursor.ts'

export type FileHeader = Header & {
  transactionsRoot: Uint8Array
  receiptsRoot: Uint8Array
  /** It has a difficulty. */
  isBeforeMerge: boolean
}

export type FileBlock = {
  header: FileHeader
  transactions: readonly FileTransaction[]
  /** The logs that begin with a topic of token transfers, numbered among all logs of the block. */
  logs: LogSequence
  /** How many logs the block has. */
  logCount: number
}

/** Fields of every header since the first block; later forks added some at the end. */
const headerFieldsMin = 15
const [rootBytes, addressBytes, bloomBytes] = [32, 20, 256]

export function readHeader(bytes: Buffer): FileHeader {
  const fields = rlpList(bytes)
  const parentHash = fields.string(rootBytes).hex() as Hash
  fields.string(rootBytes).string(addressBytes).string(rootBytes)
  const transactionsRoot = fields.string(rootBytes).content()
  const receiptsRoot = fields.string(rootBytes).content()
  fields.string(bloomBytes)
  const isBeforeMerge = fields.string().to > fields.from
  const number = fields.number()
  const timestamp = fields.skip(2).number()
  let count = 12
  for (; !fields.isAtEnd; count++) fields.string()
  if (count < headerFieldsMin) throw new UnreadableFile(`has a header of ${count} fields`)
  const hash = `0x${keccakDigits(bytes)}` as Hash
  return { number, hash, parentHash, timestamp, transactionsRoot, receiptsRoot, isBeforeMerge }
}

export type BlockRecords = {
  header: FileHeader
  body: Buffer
  receipts: Buffer
  /** Receipts are without their bloom, as in ere. */
  areSlim: boolean
  /** The chain that signed transactions must be for; undefined: not known. */
  chainId?: number | undefined
}

export function readBlock({ header, body, receipts: given, areSlim, chainId }: BlockRecords): FileBlock {
  const parts = rlpList(body)
  const { transactions, encoded } = readTransactions(parts.list(), chainId)
  requireRoot('transactions', listRoot(encoded), header.transactionsRoot, encoded.length)
  const receipts = readReceipts(rlpList(given), areSlim)
  if (receipts.encoded.length !== transactions.length)
    throw new UnreadableFile(`has ${transactions.length} transactions and ${receipts.encoded.length} receipts`)
  requireRoot('receipts', listRoot(receipts.encoded), header.receiptsRoot, receipts.encoded.length)
  const { logs, logCount } = receipts
  return { header, transactions, logs: sequenceOf(header, transactions, logs), logCount }
}

function requireRoot(what: string, computed: Uint8Array, root: Uint8Array, count: number): void {
  if (Buffer.compare(computed, root) !== 0)
    throw new UnreadableFile(`has ${count} ${what} that hash to ${hexOf(computed)}, its header says ${hexOf(root)}`)
}

/** In the form in which the logs of nodes are decoded. */
function sequenceOf(header: FileHeader, transactions: readonly FileTransaction[], placed: PlacedLog[]): LogSequence {
  const transactionIndexes = new Uint32Array(placed.length)
  const logIndexes = new Uint32Array(placed.length)
  const logs = placed.map((log, at) => {
    transactionIndexes[at] = log.transactionIndex
    logIndexes[at] = log.logIndex
    return new FileLog(log, header, transactions[log.transactionIndex]!)
  })
  return {
    ...{ length: logs.length, logs, blocks: new Float64Array(logs.length).fill(header.number) },
    ...{ transactionIndexes, logIndexes, renumbered: noBlocks, unplaced: 0, removed: 0, repeated: 0 },
  }
}

/** Its place is made text when it is asked for, which is of few: half of the logs are of fungible tokens. */
class FileLog implements RpcLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly #placed: PlacedLog
  readonly #header: FileHeader
  readonly #transaction: FileTransaction

  constructor(placed: PlacedLog, header: FileHeader, transaction: FileTransaction) {
    this.address = placed.address
    this.topics = placed.topics
    this.data = placed.data
    this.#placed = placed
    this.#header = header
    this.#transaction = transaction
  }

  get blockNumber(): string {
    return quantityHex(this.#header.number)
  }

  get blockHash(): string {
    return this.#header.hash
  }

  get transactionHash(): string {
    return this.#transaction.hash
  }

  get transactionIndex(): string {
    return quantityHex(this.#placed.transactionIndex)
  }

  get logIndex(): string {
    return quantityHex(this.#placed.logIndex)
  }
}

const noBlocks: ReadonlySet<number> = new Set()
