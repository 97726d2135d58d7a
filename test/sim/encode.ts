// What headers, transactions and receipts of a simulated chain are as bytes: those that are hashed, and those of files.
// Independent of src on purpose.
import type { EncodedLog } from './events.ts'
import { type Signature, sign } from './keys.ts'
import { drawHex, streams } from './random.ts'
import { addToBloom, bytesOfHex, integerBytes, keccak, type RlpItem, rlp } from './rlp.ts'
import type { SimTransaction } from './transactions.ts'

export type Header = {
  number: number
  parentHash: string
  timestamp: number
  bloom: Buffer
  difficulty: number
  gasUsed: number
  transactionsRoot: string
  receiptsRoot: string
  stateRoot: string
  /** After the base fee, as nodes write them. */
  added: readonly AddedField[]
}

export type AddedField = { name: string; kind: 'hash' | 'quantity'; text: string }

export const headerConstants = {
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: '0x4838b106fce9647bdf1e7877bf73ce8b0bad5f97',
  gasLimit: 30_000_000,
  extraData: '0x73696d',
  mixHash: `0x${'00'.repeat(32)}`,
  nonce: '0x0000000000000000',
  baseFeePerGas: 7,
} as const

export function headerBytes(header: Header): Buffer {
  const { sha3Uncles, miner, gasLimit, extraData, mixHash, nonce, baseFeePerGas } = headerConstants
  return rlp([
    ...[header.parentHash, sha3Uncles, miner].map(bytesOfHex),
    ...[header.stateRoot, header.transactionsRoot, header.receiptsRoot].map(bytesOfHex),
    header.bloom,
    ...[header.difficulty, header.number, gasLimit, header.gasUsed, header.timestamp].map(integerBytes),
    ...[extraData, mixHash, nonce].map(bytesOfHex),
    integerBytes(baseFeePerGas),
    ...header.added.map(({ kind, text }) => (kind === 'hash' ? bytesOfHex(text) : integerBytes(BigInt(text)))),
  ])
}

export function bloomOf(logs: Iterable<EncodedLog>): Buffer {
  const bloom = Buffer.alloc(256)
  for (const log of logs) {
    addToBloom(bloom, log.address)
    for (const topic of log.topics) addToBloom(bloom, topic)
  }
  return bloom
}

/** Without a key r is drawn from the identity, which makes every transaction's hash its own, and s is zero. */
export function signatureOf(chainId: number, transaction: SimTransaction): Signature {
  const { lane, slot, variant, key } = transaction
  if (key !== undefined) return sign(keccak(unsignedBytes(chainId, transaction)), key)
  return { r: `0x7${drawHex(8, 1, streams.signature, slot, lane | (variant << 16)).slice(1)}`, s: '0x0', parity: 0 }
}

const bytesOf = new WeakMap<SimTransaction, Buffer>()

/** As the transactions root holds it: the type, unless it is 0, then the RLP. Made once: nobody changes them. */
export function transactionBytes(chainId: number, transaction: SimTransaction): Buffer {
  const known = bytesOf.get(transaction)
  if (known !== undefined) return known
  const made = makeTransactionBytes(chainId, transaction)
  bytesOf.set(transaction, made)
  return made
}

/** The same transaction, at its place in a block. */
export function placedAs<Placed extends SimTransaction>(transaction: SimTransaction, placed: Placed): Placed {
  const known = bytesOf.get(transaction)
  if (known !== undefined) bytesOf.set(placed, known)
  return placed
}

function makeTransactionBytes(chainId: number, transaction: SimTransaction): Buffer {
  const { r, s, parity } = signatureOf(chainId, transaction)
  const v = transaction.type === 0 ? chainId * 2 + 35 + parity : parity
  const signature = [v, BigInt(r), BigInt(s)].map(integerBytes)
  return typed(transaction, rlp([...callFields(chainId, transaction), ...signature]))
}

function unsignedBytes(chainId: number, transaction: SimTransaction): Buffer {
  const end = transaction.type === 0 ? [chainId, 0, 0].map(integerBytes) : []
  return typed(transaction, rlp([...callFields(chainId, transaction), ...end]))
}

function typed({ type }: SimTransaction, body: Buffer): Buffer {
  return type === 0 ? body : Buffer.concat([Buffer.of(type), body])
}

function callFields(chainId: number, transaction: SimTransaction): RlpItem[] {
  const { type } = transaction
  const to = transaction.to === null ? Buffer.alloc(0) : bytesOfHex(transaction.to)
  const payload = [to, integerBytes(transaction.value), bytesOfHex(transaction.input)]
  const gas = integerBytes(transaction.gasUsed)
  const nonce = integerBytes(transaction.nonce)
  const gasPrice = integerBytes(transaction.gasPrice)
  if (type === 0) return [nonce, gasPrice, gas, ...payload]
  const fees = type === 1 ? [gasPrice] : [gasPrice, gasPrice]
  const { accessList, blobHashes, authorizations } = listsOf(chainId, transaction)
  const accesses = accessList.map(each => [bytesOfHex(each.address), each.storageKeys.map(bytesOfHex)])
  const call = [integerBytes(chainId), nonce, ...fees, gas, ...payload, accesses]
  if (type === 3) return [...call, gasPrice, blobHashes.map(bytesOfHex)]
  if (type === 4) return [...call, authorizations.map(authorizationFields)]
  return call
}

function authorizationFields(given: Authorization): RlpItem[] {
  const { chainId, address, nonce, parity, r, s } = given
  return [integerBytes(chainId), bytesOfHex(address), ...[nonce, parity, BigInt(r), BigInt(s)].map(integerBytes)]
}

type Authorization = Signature & { chainId: number; address: string; nonce: number }

/** What transactions of the types 1, 3 and 4 have beside those of type 2: short lists that follow from the rest. */
export function listsOf(
  chainId: number,
  { type, to, lane, slot, nonce }: SimTransaction,
): {
  accessList: { address: string; storageKeys: string[] }[]
  blobHashes: string[]
  authorizations: Authorization[]
} {
  const word = (salt: number): string => `0x01${drawHex(8, salt, streams.signature, slot, lane).slice(2)}`
  const address = to ?? `0x${'00'.repeat(20)}`
  return {
    accessList: type === 1 ? [{ address, storageKeys: [word(2), word(3)] }] : [],
    blobHashes: type === 3 ? [word(4)] : [],
    authorizations: type === 4 ? [{ chainId, address, nonce, parity: 1, r: word(5), s: word(6) }] : [],
  }
}

type Receipt = SimTransaction & { logs: readonly EncodedLog[]; cumulativeGas: number }

/** As the receipts root holds it. */
export function receiptBytes(transaction: Receipt): Buffer {
  const { status, gas, logs } = outcomeOf(transaction)
  return typed(transaction, rlp([status, gas, bloomOf(transaction.logs), logs]))
}

/** Without its bloom, which follows from the logs. */
export function slimReceiptBytes(transaction: Receipt): Buffer {
  const { status, gas, logs } = outcomeOf(transaction)
  return rlp([integerBytes(transaction.type), status, gas, logs])
}

function outcomeOf(transaction: Receipt): { status: Buffer; gas: Buffer; logs: RlpItem[] } {
  return {
    status: integerBytes(transaction.succeeded ? 1 : 0),
    gas: integerBytes(transaction.cumulativeGas),
    logs: transaction.logs.map(log => [bytesOfHex(log.address), log.topics.map(bytesOfHex), bytesOfHex(log.data)]),
  }
}
