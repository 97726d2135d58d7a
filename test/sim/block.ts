// One block of a simulated chain: its transactions in order, its header, and its hash, drawn or real.
import { bloomOf, type Header, headerBytes, placedAs, receiptBytes, transactionBytes } from './encode.ts'
import { type EncodedLog, encodeEvent, zero } from './events.ts'
import type { SimChainOptions, SimFork } from './options.ts'
import { draw, drawHex, hex8, streams } from './random.ts'
import { hexOfBytes, keccak, orderedRoot } from './rlp.ts'
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

/** Numbers the transactions and their logs. `hashOf` gives a hash, drawn or real. */
export function placeTransactions(
  transactions: readonly SimTransaction[],
  hashOf: (transaction: SimTransaction) => string,
): PlacedTransaction[] {
  let firstLogIndex = 0
  let cumulativeGas = 0
  return transactions.map((transaction, index) => {
    cumulativeGas += transaction.gasUsed
    const hash = hashOf(transaction)
    const placed = placedAs(transaction, {
      ...transaction,
      hash,
      index,
      firstLogIndex,
      logs: transaction.events.map(encodeEvent),
      cumulativeGas,
      stateSync: transaction.from === zero,
    })
    firstLogIndex += placed.logs.length
    return placed
  })
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
    difficulty: number < options.mergedAt ? 1 : 0,
    gasUsed: proven.at(-1)?.cumulativeGas ?? 0,
    transactionsRoot: real ? orderedRoot(proven.map(t => transactionBytes(options.chainId, t))) : drawnRoot(1),
    receiptsRoot: real ? orderedRoot(proven.map(receiptBytes)) : drawnRoot(2),
    stateRoot: drawnRoot(3),
    added: (forkAt(options, number)?.fields ?? []).map(([name, kind], at) => ({
      ...{ name, kind },
      // No blobs: zero is what quantities of headers often are.
      text: kind === 'hash' ? drawnRoot(4 + at) : `0x${(name === 'blobGasUsed' ? 0 : 1_000_000 + number).toString(16)}`,
    })),
  }
}

export function forkAt({ forks }: SimChainOptions, number: number): SimFork | undefined {
  return forks.findLast(({ from }) => from <= number)
}

/** From the fork on, value that a transaction moves has a log, the first of its transaction. */
export function withEtherLog(transaction: SimTransaction): SimTransaction {
  const { from, value, succeeded, events } = transaction
  const to = transaction.to ?? transaction.created
  if (value === 0n || !succeeded || to === null || to === from) return transaction
  return { ...transaction, events: [{ type: 'erc20', contract: etherLogs, from, to, amount: value }, ...events] }
}

/** The address that EIP-7708 gives to the logs of ether. */
export const etherLogs = '0xfffffffffffffffffffffffffffffffffffffffe'

export function timestampOf({ genesisTime, blockTimeSeconds }: SimChainOptions, number: number): number {
  return Math.floor(genesisTime + number * blockTimeSeconds)
}

export function realBlockHash(header: Header): string {
  return hexOfBytes(keccak(headerBytes(header)))
}

export function realTransactionHash(chainId: number, transaction: SimTransaction): string {
  return hexOfBytes(keccak(transactionBytes(chainId, transaction)))
}
