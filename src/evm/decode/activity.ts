// Collects the first and last transaction of every address that takes part in a run of blocks: senders, recipients,
// created contracts, and the parties of token transfers (ERC-20, 721, 1155 and early collections). Pure; it counts what
// it cannot read.
//
// Left out: miners and validators, withdrawals, authorities of type 4 transactions, operators of ERC-1155 transfers,
// internal calls. The zero address and precompiles count like any other. A failed transaction counts for its sender,
// its recipient and the contract that it would have created: a created contract must not depend on whether receipts are
// at hand.
import { addressDigits, isHexOf, parseHex, quantityBytes, quantityOf } from '../../hex.ts'
import type { Hash } from '../../model.ts'
import { ActivityPacker, mergePacked, type PackedActivity, transactionIndexMax } from '../../store/packed-activity.ts'
import { keccak256 } from '../proof/block-hash.ts'
import { encodeRlp } from '../proof/rlp.ts'
import type { RpcBlock, RpcLog, RpcTransaction } from '../rpc/port.ts'
import type { LogSequence } from './log-sequence.ts'
import { batchOf, type EarlyCollections, holdsWords, topics, transferTopic, wordAt, zeroWord } from './token-events.ts'

/** With whole transactions. */
export type ActivityBlock = Pick<RpcBlock, 'number' | 'timestamp'> & { transactions: readonly unknown[] }

export type ActivityInput = {
  /** Lowest first. */
  blocks: readonly ActivityBlock[]
  /** The logs of exactly these blocks. */
  logs: LogSequence
  earlyCollections: EarlyCollections
}

export type CollectedActivity = {
  /** One row per address, in no particular order. */
  packed: PackedActivity
  /** Blocks and transactions that cannot be read, and logs of other blocks. */
  unreadable: number
}

export function collectActivity(input: ActivityInput): CollectedActivity {
  const collector = new ActivityCollector(input)
  let next = 0
  for (const block of input.blocks) next = collector.addBlock(block, next)
  collector.unreadable += input.logs.length - next
  return { packed: collector.packed(), unreadable: collector.unreadable }
}

const timestampMax = 2 ** 40

/** Stands for a transaction that cannot be read. */
const noRef = -1

class ActivityCollector {
  unreadable = 0
  readonly #input: ActivityInput
  /** Its references rise in chain order. */
  readonly #packer = new ActivityPacker()
  /** Index into the two lists by the 40 digits as the node wrote them; case and validity are checked at the end. */
  readonly #places = new Map<string, number>()
  readonly #firsts: number[] = []
  readonly #lasts: number[] = []

  constructor(input: ActivityInput) {
    this.#input = input
  }

  /** Adds a block and its logs, which start at or after `from`; returns where the next block's logs start. */
  addBlock(block: ActivityBlock, from: number): number {
    const { blocks } = this.#input.logs
    const number = quantityOf(block?.number, Number.MAX_SAFE_INTEGER)
    const timestamp = quantityOf(block?.timestamp, timestampMax)
    if (number < 0 || timestamp < 0 || !Array.isArray(block.transactions)) {
      this.unreadable++
      return from
    }
    const refs = this.#addTransactions(block.transactions, number, timestamp)
    let start = from
    while (start < this.#input.logs.length && blocks[start]! < number) {
      this.unreadable++
      start++
    }
    let end = start
    while (end < this.#input.logs.length && blocks[end] === number) end++
    this.#addLogs({ start, end, refs, number, timestamp })
    return end
  }

  #addTransactions(transactions: readonly unknown[], block: number, timestamp: number): number[] {
    return transactions.map((given, transactionIndex) => {
      const transaction = given as RpcTransaction | null
      if (typeof transaction !== 'object' || transaction === null || !isHexOf(transaction.hash, 32)) {
        this.unreadable++
        return noRef
      }
      const ref = this.#packer.ref({ block, transactionIndex, hash: transaction.hash as Hash, timestamp })
      this.#addAddress(transaction.from, ref)
      // Hashed as no bytes, `0x` is what null is.
      if (typeof transaction.to === 'string' && transaction.to !== '0x') this.#addAddress(transaction.to, ref)
      else this.#addCreated(transaction, ref)
      return ref
    })
  }

  #addAddress(address: unknown, ref: number): void {
    if (typeof address === 'string' && address.length === 42) this.#add(address.slice(2), ref)
    else this.unreadable++
  }

  #addCreated(transaction: RpcTransaction, ref: number): void {
    const digits = createdContractDigits(transaction)
    if (digits === undefined) this.unreadable++
    else this.#add(digits, ref)
  }

  #addLogs(run: { start: number; end: number; refs: readonly number[]; number: number; timestamp: number }): void {
    const { logs, transactionIndexes } = this.#input.logs
    for (let at = run.start; at < run.end; at++) {
      const log = logs[at]!
      if (!Array.isArray(log.topics)) continue
      const index = transactionIndexes[at]!
      // A log may come after the listed transactions (Polygon's state sync): then only the log tells its transaction.
      const ref = index < run.refs.length ? run.refs[index]! : this.#refOf(log, index, run.number, run.timestamp)
      if (ref !== noRef) this.#addParties(log, ref)
    }
  }

  #refOf(log: RpcLog, transactionIndex: number, block: number, timestamp: number): number {
    if (!isHexOf(log.transactionHash, 32) || transactionIndex > transactionIndexMax) {
      this.unreadable++
      return noRef
    }
    return this.#packer.ref({ block, transactionIndex, hash: log.transactionHash as Hash, timestamp })
  }

  #addParties(log: RpcLog, ref: number): void {
    const first = transferTopic(log.topics[0])
    if (first === undefined) return
    const count = log.topics.length
    if (first === topics.transfer) {
      // ERC-20 and ERC-721 alike; a punk's Transfer names the parties of its other events.
      if (count === 3 || count === 4) this.#addWords(log.topics[1], log.topics[2], ref)
      else if (count === 1 && holdsWords(log.data, 3)) {
        this.#add(addressDigits(log.data, wordAt(0)), ref)
        this.#add(addressDigits(log.data, wordAt(1)), ref)
      }
    } else if (first === topics.transferSingle) {
      if (count === 4 && holdsWords(log.data, 2)) this.#addWords(log.topics[2], log.topics[3], ref)
    } else if (first === topics.transferBatch) {
      // An empty batch moves nothing.
      if (count === 4 && (batchOf(log.data)?.count ?? 0) > 0) this.#addWords(log.topics[2], log.topics[3], ref)
    } else if (first === topics.consecutiveTransfer) {
      if (count === 4) this.#addWords(log.topics[2], log.topics[3], ref)
    } else if (first === topics.assign && count === 2 && this.#isPunks(log)) {
      this.#addWords(zeroWord, log.topics[1], ref)
    }
  }

  #isPunks(log: RpcLog): boolean {
    const address: unknown = log.address
    return typeof address === 'string' && this.#input.earlyCollections.get(address.toLowerCase()) === 'punks'
  }

  #addWords(from: unknown, to: unknown, ref: number): void {
    if (typeof from !== 'string' || typeof to !== 'string' || from.length !== 66 || to.length !== 66) return
    this.#add(addressDigits(from, 2), ref)
    this.#add(addressDigits(to, 2), ref)
  }

  #add(digits: string, ref: number): void {
    const place = this.#places.get(digits)
    if (place === undefined) {
      this.#places.set(digits, this.#firsts.push(ref) - 1)
      this.#lasts.push(ref)
    } else {
      if (ref < this.#firsts[place]!) this.#firsts[place] = ref
      if (ref > this.#lasts[place]!) this.#lasts[place] = ref
    }
  }

  packed(): PackedActivity {
    for (const [digits, place] of this.#places)
      if (!this.#packer.add(digits, this.#firsts[place]!, this.#lasts[place]!)) this.unreadable++
    const packed = this.#packer.packed()
    // Nodes write addresses in lower case, with few exceptions; only those may name an address twice.
    return this.#packer.hasCapitals ? mergePacked(packed) : packed
  }
}

/** From sender and nonce: 40 lower-case digits without `0x`; undefined if either cannot be read. */
export function createdContractDigits(creation: { from: unknown; nonce: unknown }): string | undefined {
  const sender = parseHex(creation.from)
  const nonce = quantityBytes(creation.nonce)
  if (sender?.length !== 20 || nonce === undefined) return undefined
  return Buffer.from(keccak256(encodeRlp([sender, nonce])).subarray(12)).toString('hex')
}
