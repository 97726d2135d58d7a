// One block of a simulated chain: its transactions in order, its header, and its hash, drawn or real.
import { type EncodedLog, encodeEvent, zero } from './events.ts'
import { type Signature, sign } from './keys.ts'
import type { SimChainOptions } from './options.ts'
import { draw, drawHex, hex8, streams } from './random.ts'
import { addToBloom, bytesOfHex, hexOfBytes, integerBytes, keccak, orderedRoot, type RlpItem, rlp } from './rlp.ts'
import type { SimTransaction } from './transactions.ts'

export type PlacedTransaction = SimTransaction & {
  hash: string
  index: number
  /** Index within the block of its first log. */
  firstLogIndex: number
  logs: readonly EncodedLog[]
  cumulativeGas: number
  /** Outside the transaction list, the bloom and the roots. */
  stateSync: boolean
}

export type Header = {
  number: number
  parentHash: string
  timestamp: number
  bloom: Buffer
  gasUsed: number
  transactionsRoot: string
  receiptsRoot: string
  stateRoot: string
}

export type SimBlock = {
  number: number
  branch: number
  hash: string
  timestamp: number
  transactions: readonly PlacedTransaction[]
  /** Its hash is drawn, and nothing hashes to it. */
  drawn?: true
  /** Made when first asked for: the bloom costs more than all the rest of a block. */
  readonly header: Header
}

const gasLimit = 30_000_000
export const headerConstants = {
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: '0x4838b106fce9647bdf1e7877bf73ce8b0bad5f97',
  difficulty: 0,
  gasLimit,
  extraData: '0x73696d',
  mixHash: `0x${'00'.repeat(32)}`,
  nonce: '0x0000000000000000',
  baseFeePerGas: 7,
} as const

/** Numbers the transactions and their logs. `hashOf` gives a hash, drawn or real. */
export function placeTransactions(
  transactions: readonly SimTransaction[],
  hashOf: (transaction: SimTransaction) => string,
): PlacedTransaction[] {
  let firstLogIndex = 0
  let cumulativeGas = 0
  return transactions.map((transaction, index) => {
    cumulativeGas += transaction.gasUsed
    const placed = {
      ...transaction,
      hash: hashOf(transaction),
      index,
      firstLogIndex,
      logs: transaction.events.map(encodeEvent),
      cumulativeGas,
      stateSync: transaction.from === zero,
    }
    firstLogIndex += placed.logs.length
    return placed
  })
}

export function bloomOf(logs: Iterable<EncodedLog>): Buffer {
  const bloom = Buffer.alloc(256)
  for (const log of logs) {
    addToBloom(bloom, log.address)
    for (const topic of log.topics) addToBloom(bloom, topic)
  }
  return bloom
}

/** A drawn hash with branch and number in its last bytes, so that a block is found by hash without a table. */
export function cheapBlockHash(seed: number, branch: number, number: number): string {
  return `0x${drawHex(6, seed, streams.blockHash, number, branch)}${hex8(branch)}${hex8(number)}`
}

export function identityOfCheapBlockHash(hash: string): { branch: number; number: number } {
  return { branch: Number.parseInt(hash.slice(50, 58), 16), number: Number.parseInt(hash.slice(58), 16) }
}

export function assembleHeader(
  options: SimChainOptions,
  place: { number: number; branch: number; parentHash: string },
  transactions: readonly PlacedTransaction[],
): Header {
  const { number, branch, parentHash } = place
  const proven = transactions.filter(transaction => !transaction.stateSync)
  const real = options.hashes === 'real'
  const drawnRoot = (salt: number): string =>
    `0x${drawHex(8, options.seed, streams.blockHash, number, draw(branch, salt))}`
  return {
    number,
    parentHash,
    timestamp: timestampOf(options, number),
    bloom: bloomOf(proven.flatMap(transaction => transaction.logs)),
    gasUsed: proven.at(-1)?.cumulativeGas ?? 0,
    transactionsRoot: real ? orderedRoot(proven.map(t => transactionBytes(options.chainId, t))) : drawnRoot(1),
    receiptsRoot: real ? orderedRoot(proven.map(receiptBytes)) : drawnRoot(2),
    stateRoot: drawnRoot(3),
  }
}

export function timestampOf({ genesisTime, blockTimeSeconds }: SimChainOptions, number: number): number {
  return Math.floor(genesisTime + number * blockTimeSeconds)
}

export function realBlockHash(header: Header): string {
  const fields: RlpItem[] = [
    ...[header.parentHash, headerConstants.sha3Uncles, headerConstants.miner].map(bytesOfHex),
    ...[header.stateRoot, header.transactionsRoot, header.receiptsRoot].map(bytesOfHex),
    header.bloom,
    ...[headerConstants.difficulty, header.number, gasLimit, header.gasUsed, header.timestamp].map(integerBytes),
    ...[headerConstants.extraData, headerConstants.mixHash, headerConstants.nonce].map(bytesOfHex),
    integerBytes(headerConstants.baseFeePerGas),
  ]
  return hexOfBytes(keccak(rlp(fields)))
}

export function realTransactionHash(chainId: number, transaction: SimTransaction): string {
  return hexOfBytes(keccak(transactionBytes(chainId, transaction)))
}

/** Without a key r is drawn from the identity, which makes every transaction's hash its own, and s is zero. */
export function signatureOf(chainId: number, transaction: SimTransaction): Signature {
  const { lane, slot, variant, key } = transaction
  if (key !== undefined) return sign(keccak(unsignedBytes(chainId, transaction)), key)
  return { r: `0x7${drawHex(8, 1, streams.signature, slot, lane | (variant << 16)).slice(1)}`, s: '0x0', parity: 0 }
}

function transactionBytes(chainId: number, transaction: SimTransaction): Buffer {
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
  const to = transaction.to === null ? Buffer.alloc(0) : bytesOfHex(transaction.to)
  const payload = [to, integerBytes(transaction.value), bytesOfHex(transaction.input)]
  const gas = integerBytes(transaction.gasUsed)
  const nonce = integerBytes(transaction.nonce)
  const gasPrice = integerBytes(transaction.gasPrice)
  if (transaction.type === 0) return [nonce, gasPrice, gas, ...payload]
  return [integerBytes(chainId), nonce, gasPrice, gasPrice, gas, ...payload, []]
}

function receiptBytes(transaction: PlacedTransaction): Buffer {
  const logs = transaction.logs.map(log => [bytesOfHex(log.address), log.topics.map(bytesOfHex), bytesOfHex(log.data)])
  const status = integerBytes(transaction.succeeded ? 1 : 0)
  const body = rlp([status, integerBytes(transaction.cumulativeGas), bloomOf(transaction.logs), logs])
  return transaction.type === 0 ? body : Buffer.concat([Buffer.of(transaction.type), body])
}
