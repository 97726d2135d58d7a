// Reads one block of a file from the bytes of its records and checks them: what the header hashes to, the transactions
// root and the receipts root. From bytes to bytes: roots are computed over the records as they are, without the hex
// text that nodes write, and text is made of the logs of token transfers alone, which are what is decoded.
import { hexOf } from '../../hex.ts'
import type { Hash } from '../../model.ts'
import { keccakDigits } from '../proof/block-hash.ts'
import { type BlockReceipts, readReceiptList } from '../proof/receipt-bytes.ts'
import { rlpList } from '../proof/rlp-cursor.ts'
import { listRoot } from '../proof/trie.ts'
import type { Header } from '../source/chain-source.ts'
import { UnreadableFile } from './e2store.ts'
import { type FileTransaction, readTransactions } from './file-transactions.ts'

export type FileHeader = Header & {
  transactionsRoot: Uint8Array
  receiptsRoot: Uint8Array
  /** It has a difficulty. */
  isBeforeMerge: boolean
}

export type FileBlock = BlockReceipts & { header: FileHeader; transactions: readonly FileTransaction[] }

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
  /** See `ReceiptReader`. */
  listed?: ReadonlySet<number> | undefined
}

export function readBlock({ header, body, receipts: given, areSlim, chainId, listed }: BlockRecords): FileBlock {
  const parts = rlpList(body)
  const { transactions, encoded } = readTransactions(parts.list(), chainId)
  requireRoot('transactions', listRoot(encoded), header.transactionsRoot, encoded.length)
  const receipts = readReceiptList(rlpList(given), areSlim, listed)
  if (receipts.encoded.length !== transactions.length)
    throw new UnreadableFile(`has ${transactions.length} transactions and ${receipts.encoded.length} receipts`)
  requireRoot('receipts', listRoot(receipts.encoded), header.receiptsRoot, receipts.encoded.length)
  const { number, hash } = header
  return { header, transactions, ...receipts.of({ number, hash, transactions }) }
}

function requireRoot(what: string, computed: Uint8Array, root: Uint8Array, count: number): void {
  if (Buffer.compare(computed, root) !== 0)
    throw new UnreadableFile(`has ${count} ${what} that hash to ${hexOf(computed)}, its header says ${hexOf(root)}`)
}
