// Collects the first and last transaction of every address that takes part in a run of blocks: senders, recipients,
// created contracts, and the parties of token transfers (ERC-20, 721, 1155 and early collections). Pure; it counts what
// it cannot read.
//
// Left out: miners and validators, withdrawals, authorities of type 4 transactions, operators of ERC-1155 transfers,
// internal calls. The zero address and precompiles count like any other. A failed transaction counts for its sender,
// its recipient and the contract that it would have created: a created contract must not depend on whether receipts are
// at hand.
import { parseHex, quantityBytes, quantityOf } from '../../hex.ts'
import type { Hash } from '../../model.ts'
import { type PackedActivity, transactionIndexMax } from '../../store/packed-activity.ts'
import { keccak256 } from '../proof/block-hash.ts'
import { encodeRlp } from '../proof/rlp.ts'
import type { RpcBlock, RpcLog, RpcTransaction } from '../rpc/port.ts'
import { ActivityPacker, noRef } from './activity-packer.ts'
import type { LogSequence } from './log-sequence.ts'
import { batchOf, type EarlyCollections, holdsWords, topics, transferTopic, wordAt, zeroWord } from './token-events.ts'

/** With whole transactions. */
export type ActivityBlock = Pick<RpcBlock, 'number' | 'timestamp'> & {
  transactions: readonly unknown[]
  /** Of logs that are not in `logs`. */
  parties?: TokenParties | undefined
}

/** For each transfer three numbers: the transaction's index, and where the bytes have its sender and its recipient. */
export type TokenParties = { bytes: Uint8Array; places: readonly number[] }

export type ActivityInput = {
  /** Lowest first. */
  blocks: readonly ActivityBlock[]
  /** Of these blocks alone. */
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

class ActivityCollector {
  unreadable = 0
  readonly #input: ActivityInput
  /** Its references rise in chain order. */
  readonly #packer: ActivityPacker

  constructor(input: ActivityInput) {
    this.#input = input
    let transactions = 0
    for (const block of input.blocks) transactions += block?.transactions?.length ?? 0
    // Each has a sender, and about as many others take part.
    this.#packer = new ActivityPacker(2 * transactions)
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
    if (block.parties !== undefined) this.#addPartiesOf(block.parties, refs)
    return end
  }

  #addTransactions(transactions: readonly unknown[], block: number, timestamp: number): number[] {
    return transactions.map((given, transactionIndex) => {
      const transaction = given as RpcTransaction | null
      const hash = transaction?.hash
      const ref = this.#refOf(hash, transactionIndex, block, timestamp)
      if (ref === noRef || transaction === null) return noRef
      this.#addAddress(transaction.from, ref)
      // Hashed as no bytes, `0x` is what null is.
      if (typeof transaction.to === 'string' && transaction.to !== '0x') this.#addAddress(transaction.to, ref)
      else this.#addCreated(transaction, ref)
      return ref
    })
  }

  #addAddress(address: unknown, ref: number): void {
    if (typeof address === 'string' && address.length === 42) this.#add(address, 2, ref)
    else this.unreadable++
  }

  #addCreated(transaction: RpcTransaction, ref: number): void {
    const digits = createdContractDigits(transaction)
    if (digits === undefined) this.unreadable++
    else this.#add(digits, 0, ref)
  }

  #addLogs(run: { start: number; end: number; refs: readonly number[]; number: number; timestamp: number }): void {
    const { logs, transactionIndexes } = this.#input.logs
    for (let at = run.start; at < run.end; at++) {
      const log = logs[at]!
      if (!Array.isArray(log.topics)) continue
      const index = transactionIndexes[at]!
      // A log may come after the listed transactions (Polygon's state sync): then only the log tells its transaction.
      const ref =
        index < run.refs.length ? run.refs[index]! : this.#refOf(log.transactionHash, index, run.number, run.timestamp)
      if (ref !== noRef) this.#addParties(log, ref)
    }
  }

  #refOf(hash: unknown, transactionIndex: number, block: number, timestamp: number): number {
    const isReadable = typeof hash === 'string' && transactionIndex <= transactionIndexMax
    const ref = isReadable ? this.#packer.ref({ block, transactionIndex, hash: hash as Hash, timestamp }) : noRef
    if (ref === noRef) this.unreadable++
    return ref
  }

  /** Parties of fungible tokens, whose logs were not made text. */
  #addPartiesOf({ bytes, places }: TokenParties, refs: readonly number[]): void {
    for (let at = 0; at < places.length; at += 3) {
      const ref = refs[places[at]!]
      if (ref === undefined || ref === noRef) continue
      this.#packer.addBytes(bytes, places[at + 1]!, ref)
      this.#packer.addBytes(bytes, places[at + 2]!, ref)
    }
  }

  #addParties(log: RpcLog, ref: number): void {
    const first = transferTopic(log.topics[0])
    if (first === undefined) return
    const count = log.topics.length
    if (first === topics.transfer) {
      // ERC-20 and ERC-721 alike; a punk's Transfer names the parties of its other events.
      if (count === 3 || count === 4) this.#addWords(log.topics[1], log.topics[2], ref)
      else if (count === 1 && holdsWords(log.data, 3)) {
        this.#add(log.data, wordAt(0) + 24, ref)
        this.#add(log.data, wordAt(1) + 24, ref)
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
    this.#add(from, addressInWord, ref)
    this.#add(to, addressInWord, ref)
  }

  #add(text: string, digitsAt: number, ref: number): void {
    if (!this.#packer.addDigits(text, digitsAt, ref)) this.unreadable++
  }

  packed(): PackedActivity {
    return this.#packer.packed()
  }
}

/** Behind `0x` and the twelve upper bytes of a word, which the EVM ignores wherever it takes one for an address. */
const addressInWord = 2 + 24

/** From sender and nonce: 40 lower-case digits without `0x`; undefined if either cannot be read. */
export function createdContractDigits(creation: { from: unknown; nonce: unknown }): string | undefined {
  const sender = parseHex(creation.from)
  const nonce = quantityBytes(creation.nonce)
  if (sender?.length !== 20 || nonce === undefined) return undefined
  return Buffer.from(keccak256(encodeRlp([sender, nonce])).subarray(12)).toString('hex')
}
