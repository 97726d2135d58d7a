// Turns logs into rows of transfers of NFTs, or of ERC-20 tokens. Pure: no clock, no network, and no input makes it
// throw. It skips a log that claims to be a transfer and cannot be read as one, and counts it by reason.
//
// The standard is a property of the event, not of the contract, because one contract may emit several.
import { addressDigits } from '../../hex.ts'
import type { Ledger } from '../../ledgers.ts'
import { type Address, parseAddress, type TransferRow } from '../../model.ts'
import { idCountMax, payloadFlags } from '../../store/transfer-payload.ts'
import type { RpcLog, RpcQuantity } from '../rpc/port.ts'
import type { LogSequence } from './log-sequence.ts'
import {
  batchOf,
  type EarlyCollectionKind,
  type EarlyCollections,
  firstByteOf,
  firstBytesOf,
  holdsWords,
  topics,
  transferTopic,
  wordAt,
  zeroWord,
} from './token-events.ts'
import { type HexTransfer, TransferPacker } from './transfer-packer.ts'

export const malformedReasons = [
  /** Pending, or its place cannot be read. */
  'place',
  /** Taken back by a reorganisation. */
  'removed',
  /** The contract's address, the transaction's hash or value, or a field of the event is not hex of its length. */
  'hex',
  /** A number of topics that no standard has for this event, or topics that are not words. */
  'topics',
  /** The data is too short, or its arrays exceed it or differ in length. */
  'data',
  /** An ERC-2309 range that is empty or holds more ids than a row can stand for. */
  'range',
  /** A sold punk whose parties are unknown. */
  'parties',
  /** The transaction, and with it the value, is missing. */
  'transaction',
] as const
export type MalformedReason = (typeof malformedReasons)[number]
export type MalformedCounts = Record<MalformedReason, number>

export type DecodeInput = {
  logs: LogSequence
  earlyCollections: EarlyCollections
  /** Absent: `nft`. */
  ledger?: Ledger | undefined
  /** Asked only for transfers of NFTs, and once for consecutive logs of one transaction. */
  transactionOf: (log: RpcLog, block: number, transactionIndex: number) => LogTransaction | undefined
}

/** The wei that a transaction moves, and its sender if it has one. */
export type LogTransaction = { value: RpcQuantity; from?: string }

export type DecodedTransfers = {
  /** In chain order. */
  rows: TransferRow[]
  malformed: MalformedCounts
}

export function decodeTransfers(input: DecodeInput): DecodedTransfers {
  const decoder = new TransferDecoder(input)
  for (let at = 0; at < input.logs.length; at++) decoder.decode(at)
  return { rows: decoder.rows, malformed: decoder.malformed }
}

const single1155 = payloadFlags.erc1155
const batch1155 = payloadFlags.erc1155 | payloadFlags.batch
/** What a row of a token says of its transaction: no answer shows it, and asking for it costs more than the log. */
const noTransaction: LogTransaction = { value: '0x0' }

class TransferDecoder {
  readonly rows: TransferRow[] = []
  readonly malformed: MalformedCounts
  readonly #input: DecodeInput
  readonly #isOfTokens: boolean
  readonly #packer = new TransferPacker()
  /** Each contract's address is parsed once, and rows share it. */
  readonly #contracts = new Map<string, Address | undefined>()
  readonly #listedBytes: ReadonlySet<number>
  /** The fields of the current row: one object for all, because each row is packed at once. */
  readonly #fields: HexTransfer
  #at = 0
  #log!: RpcLog
  /** The last Transfer of a punk contract: it may name a party that PunkBought lacks. */
  #punkTransferAt = -1

  constructor(input: DecodeInput) {
    this.#input = input
    this.#isOfTokens = input.ledger === 'erc20'
    this.#listedBytes = firstBytesOf(input.earlyCollections)
    const counts = Object.fromEntries(malformedReasons.map(reason => [reason, 0])) as MalformedCounts
    this.malformed = { ...counts, place: input.logs.unplaced, removed: input.logs.removed }
    const none = { to: '', toAt: 0, from: '', fromAt: 0, operator: undefined, operatorAt: 0, tokenId: '', tokenIdAt: 0 }
    this.#fields = {
      ...none,
      flags: 0,
      transactionHash: '',
      amount: undefined,
      amountAt: 0,
      value: '0x0',
      idCount: 1,
      sender: undefined,
    }
  }

  decode(at: number): void {
    const log = this.#input.logs.logs[at]!
    const first = transferTopic(Array.isArray(log.topics) ? log.topics[0] : undefined)
    if (first === undefined) return
    this.#at = at
    this.#log = log
    const malformed = this.#isOfTokens ? this.#tokenTransfer(first, log) : this.#event(first, log)
    if (malformed !== undefined) this.malformed[malformed]++
  }

  /** A row like one of ERC-1155 with token id 0. Four topics are ERC-721, fewer than three are older than ERC-20. */
  #tokenTransfer(first: string, log: RpcLog): MalformedReason | undefined {
    if (first !== topics.transfer || log.topics.length !== 3) return undefined
    const listed = this.#listed(log)
    if (listed === 'punks' || listed === 'three-topics') return undefined
    if (!areWords(log.topics)) return 'topics'
    if (!holdsWords(log.data, 1)) return 'data'
    this.#parties(log.topics[1]!, 26, log.topics[2]!, 26)
    const fields = this.#fields
    fields.tokenId = zeroWord
    fields.tokenIdAt = wordAt(0)
    fields.amount = log.data
    fields.amountAt = wordAt(0)
    fields.idCount = 1
    return this.#ready(single1155) ?? this.#row(0)
  }

  #event(first: string, log: RpcLog): MalformedReason | undefined {
    if (first === topics.transfer) return this.#transfer(log)
    if (first === topics.transferSingle) return this.#transferSingle(log)
    if (first === topics.transferBatch) return this.#transferBatch(log)
    if (first === topics.consecutiveTransfer) return this.#consecutiveTransfer(log)
    if (first === topics.punkTransfer) return this.#punkTransfer(log)
    if (first === topics.punkBought) return this.#punkBought(log)
    return this.#assign(log)
  }

  /** Four topics are ERC-721, three are ERC-20 unless the contract is listed, one is CryptoKitties' way. */
  #transfer(log: RpcLog): MalformedReason | undefined {
    const count = log.topics.length
    if (count === 4) {
      if (!areWords(log.topics)) return 'topics'
      this.#parties(log.topics[1]!, 26, log.topics[2]!, 26)
      return this.#add721(log.topics[3]!, 2)
    }
    const listed = this.#listed(log)
    if (count === 3) {
      if (listed === 'punks') this.#punkTransferAt = this.#at
      if (listed !== 'three-topics') return undefined
      if (!areWords(log.topics)) return 'topics'
      if (!holdsWords(log.data, 1)) return 'data'
      this.#parties(log.topics[1]!, 26, log.topics[2]!, 26)
      return this.#add721(log.data, wordAt(0))
    }
    if (listed === 'fungible') return undefined
    if (count !== 1) return 'topics'
    if (!holdsWords(log.data, 3)) return 'data'
    this.#parties(log.data, wordAt(0) + 24, log.data, wordAt(1) + 24)
    return this.#add721(log.data, wordAt(2))
  }

  #transferSingle(log: RpcLog): MalformedReason | undefined {
    if (log.topics.length !== 4 || !areWords(log.topics)) return 'topics'
    if (!holdsWords(log.data, 2)) return 'data'
    this.#parties1155(log)
    const fields = this.#fields
    fields.tokenId = log.data
    fields.tokenIdAt = wordAt(0)
    fields.amount = log.data
    fields.amountAt = wordAt(1)
    return this.#ready(single1155) ?? this.#row(0)
  }

  /** One row per entry, in order; all of them or none. */
  #transferBatch(log: RpcLog): MalformedReason | undefined {
    if (log.topics.length !== 4 || !areWords(log.topics)) return 'topics'
    const batch = batchOf(log.data)
    if (batch === undefined) return 'data'
    if (batch.count === 0) return undefined
    this.#parties1155(log)
    const fields = this.#fields
    fields.tokenId = log.data
    fields.amount = log.data
    const unready = this.#ready(batch1155)
    if (unready !== undefined) return unready
    const before = this.rows.length
    for (let entry = 0; entry < batch.count; entry++) {
      fields.tokenIdAt = batch.idsAt + 64 * entry
      fields.amountAt = batch.amountsAt + 64 * entry
      const malformed = this.#row(entry)
      if (malformed !== undefined) {
        this.rows.length = before
        return malformed
      }
    }
    return undefined
  }

  #consecutiveTransfer(log: RpcLog): MalformedReason | undefined {
    if (log.topics.length !== 4 || !areWords(log.topics)) return 'topics'
    if (!holdsWords(log.data, 1)) return 'data'
    const last = log.data.slice(0, wordAt(1))
    if (!isHex(last) || !isHex(log.topics[1]!)) return 'hex'
    const count = BigInt(last) - BigInt(log.topics[1]!) + 1n
    if (count < 1n || count > BigInt(idCountMax)) return 'range'
    this.#parties(log.topics[2]!, 26, log.topics[3]!, 26)
    return this.#add721(log.topics[1]!, 2, Number(count))
  }

  // CryptoPunks emit exactly one of Assign, PunkTransfer and PunkBought per movement; the Transfer before the latter
  // two is the same movement and makes no row.

  #assign(log: RpcLog): MalformedReason | undefined {
    if (this.#listed(log) !== 'punks') return undefined
    if (log.topics.length !== 2 || !areWords(log.topics)) return 'topics'
    if (!holdsWords(log.data, 1)) return 'data'
    this.#parties(zeroWord, 26, log.topics[1]!, 26)
    return this.#add721(log.data, wordAt(0))
  }

  #punkTransfer(log: RpcLog): MalformedReason | undefined {
    if (this.#listed(log) !== 'punks') return undefined
    if (log.topics.length !== 3 || !areWords(log.topics)) return 'topics'
    if (!holdsWords(log.data, 1)) return 'data'
    this.#parties(log.topics[1]!, 26, log.topics[2]!, 26)
    return this.#add721(log.data, wordAt(0))
  }

  /** The Transfer before it names both parties; in both contracts the event itself loses one. */
  #punkBought(log: RpcLog): MalformedReason | undefined {
    if (this.#listed(log) !== 'punks') return undefined
    if (log.topics.length !== 4 || !areWords(log.topics)) return 'topics'
    let seller = log.topics[2]!
    let buyer = log.topics[3]!
    const transfer = this.#transferBefore()
    if (transfer !== undefined && (same(transfer.topics[1]!, seller) || same(transfer.topics[2]!, buyer))) {
      seller = transfer.topics[1]!
      buyer = transfer.topics[2]!
    } else if (same(buyer, zeroWord) || same(buyer, seller)) return 'parties'
    this.#parties(seller, 26, buyer, 26)
    return this.#add721(log.topics[1]!, 2)
  }

  /** The last Transfer of the same contract in the same transaction. */
  #transferBefore(): RpcLog | undefined {
    const { logs, blocks, transactionIndexes } = this.#input.logs
    const before = this.#punkTransferAt
    const transfer = logs[before]
    if (transfer === undefined || blocks[before] !== blocks[this.#at]) return undefined
    if (transactionIndexes[before] !== transactionIndexes[this.#at]) return undefined
    if (this.#contractOf(transfer) !== this.#contractOf(this.#log) || !areWords(transfer.topics)) return undefined
    return transfer
  }

  #listed(log: RpcLog): EarlyCollectionKind | undefined {
    const text: unknown = log.address
    if (typeof text !== 'string' || !this.#listedBytes.has(firstByteOf(text))) return undefined
    const contract = this.#contractOf(log)
    return contract === undefined ? undefined : this.#input.earlyCollections.get(contract)
  }

  #contractOf(log: RpcLog): Address | undefined {
    const text: unknown = log.address
    if (typeof text !== 'string') return undefined
    let contract = this.#contracts.get(text)
    if (contract === undefined) {
      contract = parseAddress(text)
      this.#contracts.set(text, contract)
    }
    return contract
  }

  #parties(from: string, fromAt: number, to: string, toAt: number): void {
    const fields = this.#fields
    fields.from = from
    fields.fromAt = fromAt
    fields.to = to
    fields.toAt = toAt
    fields.operator = undefined
  }

  #parties1155(log: RpcLog): void {
    this.#parties(log.topics[2]!, 26, log.topics[3]!, 26)
    this.#fields.operator = log.topics[1]!
    this.#fields.operatorAt = 26
    this.#fields.idCount = 1
  }

  #add721(tokenId: string, tokenIdAt: number, idCount = 1): MalformedReason | undefined {
    const fields = this.#fields
    fields.tokenId = tokenId
    fields.tokenIdAt = tokenIdAt
    fields.amount = undefined
    fields.idCount = idCount
    return this.#ready(0) ?? this.#row(0)
  }

  #transactionAt = -1
  #transaction: LogTransaction | undefined

  /** Fills in what the rows of a log share. */
  #ready(flags: number): MalformedReason | undefined {
    const fields = this.#fields
    const hash: unknown = this.#log.transactionHash
    if (this.#contractOf(this.#log) === undefined || typeof hash !== 'string') return 'hex'
    const transaction = this.#transactionOfLog()
    const value: unknown = transaction?.value
    const sender: unknown = transaction?.from
    if (typeof value !== 'string') return 'transaction'
    fields.flags = flags
    fields.transactionHash = hash
    fields.value = value
    fields.sender = typeof sender === 'string' ? sender : undefined
    return undefined
  }

  #transactionOfLog(): LogTransaction | undefined {
    if (this.#isOfTokens) return noTransaction
    const { blocks, transactionIndexes } = this.#input.logs
    const at = this.#at
    const known = this.#transactionAt
    if (known < 0 || blocks[known] !== blocks[at] || transactionIndexes[known] !== transactionIndexes[at]) {
      this.#transaction = this.#input.transactionOf(this.#log, blocks[at]!, transactionIndexes[at]!)
      this.#transactionAt = at
    }
    return this.#transaction
  }

  #row(entry: number): MalformedReason | undefined {
    const payload = this.#packer.pack(this.#fields)
    if (payload === undefined) return 'hex'
    const { blocks, transactionIndexes, logIndexes } = this.#input.logs
    const at = this.#at
    this.rows.push({
      block: blocks[at]!,
      transactionIndex: transactionIndexes[at]!,
      logIndex: logIndexes[at]!,
      batchIndex: entry === 0 ? this.#firstBatchIndex() : this.rows[this.rows.length - 1]!.batchIndex + 1,
      contract: this.#contractOf(this.#log)!,
      payload,
    })
    return undefined
  }

  /** 0, or after the rows of another log of the contract at the same place, if a node numbers two logs alike. */
  #firstBatchIndex(): number {
    const last = this.rows[this.rows.length - 1]
    const { blocks, transactionIndexes, logIndexes } = this.#input.logs
    const at = this.#at
    if (last === undefined || last.logIndex !== logIndexes[at] || last.block !== blocks[at]) return 0
    if (last.transactionIndex !== transactionIndexes[at] || last.contract !== this.#contractOf(this.#log)) return 0
    return last.batchIndex + 1
  }
}

function areWords(words: readonly unknown[]): words is readonly string[] {
  for (const word of words) if (typeof word !== 'string' || word.length !== 66) return false
  return true
}

/** Whether two words hold the same address. */
function same(a: string, b: string): boolean {
  return addressDigits(a, 2).toLowerCase() === addressDigits(b, 2).toLowerCase()
}

function isHex(text: string): boolean {
  return /^0x[0-9a-fA-F]+$/.test(text)
}
