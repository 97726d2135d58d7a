// Folds the records of `by_token`, of a contract or of one token, into a sheet: who holds what after a block. An
// ERC-721 token has the recipient of its newest transfer as owner; of an ERC-1155 token each party holds what it
// received minus what it gave. Where an id has transfers of both standards, the newest decides which counts. No
// reading.

import type { IndexRecords } from '../../store/index-reader.ts'
import { tokenIdOfKey, tokenKeyBytes, tokenKinds, tokenPlaceAt } from '../../store/indexes/by-token.ts'
import { blockInView, blockOfPlace, wordAt } from '../../store/runs/place-key.ts'
import { payloadFlags } from '../../store/transfer-payload.ts'
import type { Pace } from '../pace.ts'
import { type AddressTable, grown, isInStretch, noAddress, type Stretch, viewOf } from './address-table.ts'
import { RangeMerge } from './range-merge.ts'
import type { TokenRange } from './range-segments.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { type Moves, SheetBuilder } from './sheet-builder.ts'

/** `mixed`: of a wallet alone, one token has transfers of both, or there are ranges. */
export const standards = { erc721: 1, erc1155: 2, mixed: 4 } as const
/** More than a range takes: putting many between tokens takes a time in which no other request is served. */
export const rangeBytes = 4_096

const noBytes: DataView = new DataView(new ArrayBuffer(0))

type FoldOptions = {
  /** Of a token's sheet: the only id that counts. */
  tokenId?: bigint | undefined
  /** Of ERC-1155 tokens: the parties that count. */
  parties?: Stretch<Uint8Array> | undefined
  /** How many rows a part has before the next one begins with the next token. Absent: all are in one. */
  partRows?: number
  /** What is folded is laid over a sheet with these addresses: amounts are what came minus what went. */
  over?: AddressTable | undefined
}

export class ContractFold {
  #builder: SheetBuilder
  readonly #block: number
  readonly #tokenId: bigint | undefined
  readonly #parties: Stretch<Uint8Array> | undefined
  readonly #partRows: number
  readonly #isOver: boolean
  #parts: SheetBuilder[] = []
  readonly #ranges: TokenRange[] = []
  #merge: RangeMerge | undefined
  // The token whose records are being read, newest first: where its newest and its oldest record are.
  #isOpen = false
  /** Only where there are ranges. */
  #openId = 0n
  #groupStart = 0
  #isErc1155 = false
  #newestKeys = noBytes
  #newestKey = 0
  #oldestKeys = noBytes
  #oldestKey = 0
  #oldestValues = noBytes
  #oldestValue = 0
  /** The recipient of the newest record, while there is no older one. */
  #onlyParty = noAddress
  #group = 0
  /** The last row of each party, and of which group it is. */
  #rowOf = new Uint32Array(1024)
  #groupOf = new Uint32Array(1024)

  constructor(block: number, { tokenId, parties, partRows = Number.POSITIVE_INFINITY, over }: FoldOptions = {}) {
    this.#builder = new SheetBuilder(over)
    this.#isOver = over !== undefined
    this.#block = block
    this.#tokenId = tokenId
    this.#parties = parties
    this.#partRows = partRows
  }

  /** The middle of the addresses so far. */
  get middle(): Uint8Array {
    return this.#builder.addresses.middle()
  }

  get byteLength(): number {
    return this.partBytes + this.#ranges.length * rangeBytes + this.#rowOf.byteLength + this.#groupOf.byteLength
  }

  /** Of the rows that are not in a part that ended. */
  get partBytes(): number {
    return this.#builder.byteLength
  }

  /** In the order of keys. */
  add(records: IndexRecords): void {
    const { length, valueEnds } = records
    // Four bytes at a time are half of the time of single ones.
    const [keys, values] = [viewOf(records.keys), viewOf(records.values)]
    for (let record = 0, from = 0; record < length; record++) {
      const to = valueEnds[record]!
      const key = record * tokenKeyBytes
      if (blockInView(keys, key + tokenPlaceAt) <= this.#block) {
        if (keys.getUint8(key) === tokenKinds.range) this.#range(records.keys, key, records.values.subarray(from, to))
        else this.#single(keys, key, values, from, to)
      }
      from = to
    }
  }

  get isInToken(): boolean {
    return this.#isOpen
  }

  /** The parts that ended since this was last called. */
  takeParts(): SheetBuilder[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  /** Leaves the token out whose records are being read, and ends the part before it. */
  leaveToken(): bigint {
    const id = tokenIdOfKey(bytesOf(this.#newestKeys), this.#newestKey)
    this.#isOpen = false
    this.#builder.truncate(this.#groupStart)
    this.#segments().leaveOut(id)
    this.#nextPart()
    return id
  }

  /** Instead of a sheet, where it is laid over one. */
  moves(): Moves {
    return this.#builder.moves(this.#ranges.length > 0)
  }

  async finish(pace: Pace): Promise<Sheet> {
    // All holders of an ERC-20 token are those of one id.
    const isSettled = this.#isOpen && this.#isErc1155
    if (isSettled) await this.#builder.settleInSteps(this.#groupStart, pace)
    this.#closeToken(isSettled)
    this.#segments().end()
    return await this.#builder.finish(pace)
  }

  #range(keys: Uint8Array, key: number, value: Uint8Array): void {
    const flags = value[0]!
    const count = wordAt(value, value.length - 4)
    const first = tokenIdOfKey(keys, key)
    const place = keys.slice(key + tokenPlaceAt, key + tokenKeyBytes)
    const party = flags & payloadFlags.toZero ? noAddress : this.#builder.addresses.add(value, 1)
    const isMinter = (flags & payloadFlags.fromZero) !== 0 && isSentByRecipient(flags)
    const mint = { block: blockOfPlace(place, 0), minter: isMinter ? party : noAddress }
    const id = this.#tokenId
    if (id !== undefined && (id < first || id >= first + BigInt(count))) return
    this.#builder.transfers += id === undefined ? count : 1
    this.#builder.standards |= standards.erc721
    if (id === undefined) this.#ranges.push({ first, count, offset: 0, place, party, mint })
    else this.#ranges.push({ first: id, count: 1, offset: Number(id - first), place, party, mint })
  }

  #single(keys: DataView, key: number, values: DataView, from: number, to: number): void {
    const flags = values.getUint8(from)
    const isErc1155 = (flags & payloadFlags.erc1155) !== 0
    const isNewest = !this.#isOpen || !this.#isOpenToken(keys, key)
    if (isNewest) this.#openToken(keys, key, isErc1155)
    const toAt = from + 1
    const fromAt = flags & payloadFlags.toZero ? toAt : toAt + 20
    if (isErc1155) {
      if (this.#isErc1155) this.#move1155(keys, key, values, { flags, toAt, fromAt, end: to })
      this.#builder.standards |= standards.erc1155
    } else {
      this.#onlyParty = isNewest && fromAt > toAt ? this.#builder.addresses.addAt(values, toAt) : noAddress
      if (this.#onlyParty !== noAddress) this.#hold(keys, key, this.#onlyParty, 0)
      else if (isNewest && this.#isOver) this.#builder.setAmount(this.#hold(keys, key, noAddress, 0), 0)
      this.#builder.standards |= standards.erc721
    }
    this.#builder.transfers++
    this.#oldestKeys = keys
    this.#oldestKey = key
    this.#oldestValues = values
    this.#oldestValue = from
  }

  #move1155(
    keys: DataView,
    key: number,
    values: DataView,
    { flags, toAt, fromAt, end }: { flags: number; toAt: number; fromAt: number; end: number },
  ): void {
    const amountAt = flags & payloadFlags.fromZero ? fromAt : fromAt + 20
    const amount = amountAt === end ? 1 : amountOf(bytesOf(values), amountAt, end)
    const { addresses } = this.#builder
    const recipient = fromAt > toAt && this.#counts(values, toAt) ? addresses.addAt(values, toAt) : noAddress
    const giver = amountAt > fromAt && this.#counts(values, fromAt) ? addresses.addAt(values, fromAt) : noAddress
    if (recipient !== noAddress) {
      const row = this.#rowOfParty(keys, key, recipient, 0)
      if (giver !== recipient) this.#builder.addAmount(row, amount)
    }
    if (giver !== noAddress && giver !== recipient)
      this.#builder.addAmount(this.#rowOfParty(keys, key, giver, rowFlags.giver), -amount)
  }

  #counts(values: DataView, at: number): boolean {
    return this.#parties === undefined || isInStretch(this.#parties, bytesOf(values), at)
  }

  /** The party's row of the token; its first record is its newest change. */
  #rowOfParty(keys: DataView, key: number, party: number, leg: number): number {
    if (this.#groupOf[party] === this.#group) return this.#rowOf[party]!
    const row = this.#hold(keys, key, party, rowFlags.erc1155 | leg)
    this.#builder.setAmount(row, 0)
    while (party >= this.#rowOf.length) {
      this.#rowOf = grown(this.#rowOf)
      this.#groupOf = grown(this.#groupOf)
    }
    this.#rowOf[party] = row
    this.#groupOf[party] = this.#group
    return row
  }

  #hold(keys: DataView, key: number, party: number, flags: number): number {
    return this.#builder.appendKey(keys, key + 1, flags, party)
  }

  #isOpenToken(keys: DataView, key: number): boolean {
    const [others, other] = [this.#newestKeys, this.#newestKey]
    // The last bytes differ soonest.
    for (let at = tokenPlaceAt - 4; at > 0; at -= 4)
      if (others.getUint32(other + at) !== keys.getUint32(key + at)) return false
    return true
  }

  #openToken(keys: DataView, key: number, isErc1155: boolean): void {
    this.#closeToken()
    if (this.#builder.length >= this.#partRows) this.#nextPart()
    if (this.#ranges.length > 0) {
      this.#openId = tokenIdOfKey(bytesOf(keys), key)
      this.#segments().passTo(this.#openId)
    }
    this.#newestKeys = keys
    this.#newestKey = key
    this.#isOpen = true
    this.#isErc1155 = isErc1155
    this.#groupStart = this.#builder.length
    this.#group++
  }

  #nextPart(): void {
    this.#parts.push(this.#builder)
    // Not before the first token: ranges are still being read then.
    const merge = this.#segments()
    this.#builder = new SheetBuilder()
    merge.continueIn(this.#builder)
  }

  #closeToken(isSettled = false): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#isOver) return
    const builder = this.#builder
    if (this.#isErc1155 && !isSettled && builder.length > this.#groupStart) builder.settle(this.#groupStart)
    const mint = { block: blockInView(this.#oldestKeys, this.#oldestKey + tokenPlaceAt), minter: this.#minter() }
    if (this.#ranges.length === 0) builder.setMint(this.#groupStart, builder.length, mint)
    else
      this.#segments().takeOut({
        ...{ id: this.#openId, from: this.#groupStart, mint },
        newestPlace: bytesOf(this.#newestKeys).subarray(this.#newestKey + tokenPlaceAt),
        oldestPlace: bytesOf(this.#oldestKeys).subarray(this.#oldestKey + tokenPlaceAt),
      })
  }

  #minter(): number {
    const flags = this.#oldestValues.getUint8(this.#oldestValue)
    const isMint = flags & payloadFlags.fromZero && isSentByRecipient(flags)
    if (!isMint || flags & (payloadFlags.toZero | payloadFlags.erc1155)) return noAddress
    if (this.#onlyParty !== noAddress) return this.#onlyParty
    return this.#builder.addresses.addAt(this.#oldestValues, this.#oldestValue + 1)
  }

  /** Ranges stand before all tokens. */
  #segments(): RangeMerge {
    this.#merge ??= new RangeMerge(this.#builder, this.#ranges)
    return this.#merge
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function isSentByRecipient(flags: number): boolean {
  return (flags & payloadFlags.sentByOther) === payloadFlags.sentByRecipient
}

/** A number where it is exact. */
export function amountOf(bytes: Uint8Array, from: number, to: number): number | bigint {
  if (from === to) return 1
  if (to - from > 6) return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('hex')}`)
  let amount = 0
  for (let at = from; at < to; at++) amount = amount * 256 + bytes[at]!
  return amount
}
