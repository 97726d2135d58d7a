// Folds the records of `by_wallet` of one wallet into a sheet: what it holds after a block. Its own transfers tell
// that: an ERC-721 token is held if the newest of them brought it, and of an ERC-1155 token what came minus what
// went. Rows of the sheet name the contract as their party, and mints are not known. No reading.
import type { Address } from '../../model.ts'
import type { IndexRecords } from '../../store/index-reader.ts'
import { byWallet, readWalletRecord, walletFlags } from '../../store/indexes/by-wallet.ts'
import { blockOfPlace, placeBytes, wordAt } from '../../store/runs/place-key.ts'
import type { Pace } from '../pace.ts'
import { type AddressTable, noAddress, type Stretch } from './address-table.ts'
import { amountOf, rangeBytes, standards } from './fold-contract.ts'
import { RangeMerge } from './range-merge.ts'
import type { TokenRange } from './range-segments.ts'
import { idAt, rowFlags, type Sheet } from './sheet.ts'
import { type Moves, SheetBuilder } from './sheet-builder.ts'

const { keyBytes, placeAt } = byWallet
const idLengthAt = 5
const idStart = 6
/** Of the map that finds its row. */
const tokenBytes = 100
const mint = { block: 0, minter: noAddress }
const sampleMax = 1_001

/** Tokens after the first name and up to the second. Names order them by the number of their contract, then by id. */
type TokenStretch = Stretch<string>

export class WalletFold {
  readonly #builder: SheetBuilder
  readonly #block: number
  /** The rows of tokens, by the bytes of the contract's number and the id. */
  readonly #rows = new Map<string, number>()
  readonly #parties = new Map<number, number>()
  readonly #ranges = new Map<number, TokenRange[]>()
  #rangeCount = 0
  readonly #rangeNames: string[] = []
  readonly #stretch: TokenStretch | undefined

  /** `over`: what is folded is laid over a sheet with these addresses. */
  constructor(block: number, { stretch, over }: { stretch?: TokenStretch; over?: AddressTable } = {}) {
    this.#builder = new SheetBuilder(over)
    this.#block = block
    this.#stretch = stretch
  }

  /** Of a sample about the middle name of the tokens so far, which halves a stretch of them. */
  get middle(): string {
    const step = Math.ceil((this.#rows.size + this.#rangeNames.length) / sampleMax)
    const names = [...this.#rows.keys(), ...this.#rangeNames].filter((_, at) => at % step === 0).sort()
    return names[names.length >>> 1]!
  }

  get byteLength(): number {
    return this.partBytes + this.#rangeCount * rangeBytes
  }

  /** Without what the time for ranges counts for. */
  get partBytes(): number {
    return this.#builder.byteLength + (this.#rows.size + this.#rangeCount) * tokenBytes
  }

  /** In the order of keys: newest first. */
  add({ length, keys, values, valueEnds, contracts }: IndexRecords): void {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
    for (let record = 0, from = 0; record < length; record++) {
      const to = valueEnds[record]!
      const place = record * keyBytes + placeAt
      if (blockOfPlace(keys, place) <= this.#block) {
        const party = this.#party(wordAt(bytes, from + 1), contracts)
        if (bytes[from]! & walletFlags.range) this.#range(keys, place, bytes.subarray(from, to), party)
        else this.#single({ keys, place, bytes, from, to, party })
      }
      from = to
    }
  }

  /** Instead of a sheet, where it is laid over one: amounts are what came minus what went. */
  moves(): Moves {
    return this.#builder.moves(this.#rangeCount > 0)
  }

  async finish(pace: Pace): Promise<Sheet> {
    const builder = this.#ranges.size === 0 ? this.#builder : this.#withRanges()
    builder.settle(0)
    return await builder.finish(pace)
  }

  #party(contract: number, contracts: ReadonlyMap<number, Address>): number {
    let party = this.#parties.get(contract)
    if (party === undefined) {
      party = this.#builder.addresses.addText(contracts.get(contract)!)
      this.#parties.set(contract, party)
    }
    return party
  }

  #range(keys: Uint8Array, place: number, value: Uint8Array, party: number): void {
    const { flags, tokenId, idCount } = readWalletRecord(value)
    this.#builder.transfers += idCount
    this.#builder.standards |= standards.erc721 | standards.mixed
    const ids = this.#idsWithin(wordAt(value, 1), tokenId, idCount)
    if (ids === undefined) return
    this.#rangeCount++
    if (this.#stretch !== undefined) this.#rangeNames.push(nameOf(wordAt(value, 1), ids.first))
    const range = {
      ...{ ...ids, offset: Number(ids.first - tokenId), mint },
      place: keys.slice(place, place + placeBytes),
      party: flags & walletFlags.received ? party : noAddress,
    }
    const others = this.#ranges.get(party)
    if (others === undefined) this.#ranges.set(party, [range])
    else others.push(range)
  }

  #single({ keys, place, bytes, from, to, party }: SingleRecord): void {
    const flags = bytes[from]!
    const isErc1155 = (flags & walletFlags.erc1155) !== 0
    const idEnd = from + idStart + bytes[from + idLengthAt]!
    const token = bytes.toString('latin1', from + 1, idEnd)
    const builder = this.#builder
    builder.transfers++
    builder.standards |= isErc1155 ? standards.erc1155 : standards.erc721
    if (this.#stretch !== undefined && !isInStretch(this.#stretch, token)) return
    const isReceived = (flags & walletFlags.received) !== 0
    let row = this.#rows.get(token)
    if (row === undefined) {
      const rowFlag = (isErc1155 ? rowFlags.erc1155 : 0) | (isReceived ? 0 : rowFlags.giver)
      const id = { id: bytes, idFrom: from + idStart, idTo: idEnd }
      row = builder.append({ ...id, place: keys, placeAt: place, flags: rowFlag, party })
      builder.setAmount(row, isReceived && !isErc1155 ? 1 : 0)
      this.#rows.set(token, row)
    }
    if (builder.isErc1155(row) !== isErc1155) builder.standards |= standards.mixed
    const isSelf = isReceived && (flags & walletFlags.gave) !== 0
    if (!isErc1155 || isSelf || !builder.isErc1155(row)) return
    const amount = amountOf(bytes, idEnd, to)
    builder.addAmount(row, isReceived ? amount : -amount)
  }

  /** What the stretch has of a range. */
  #idsWithin(contract: number, first: bigint, count: number): { first: bigint; count: number } | undefined {
    const { after, to } = this.#stretch ?? {}
    let [low, high] = [first, first + BigInt(count)]
    if (after !== undefined && contractOf(after) > contract) return undefined
    if (to !== undefined && contractOf(to) < contract) return undefined
    if (after !== undefined && contractOf(after) === contract && idOf(after) >= low) low = idOf(after) + 1n
    if (to !== undefined && contractOf(to) === contract && idOf(to) < high) high = idOf(to) + 1n
    return low < high ? { first: low, count: Number(high - low) } : undefined
  }

  /** The rows with what ranges bring, which also needs the tokens that the wallet gave. */
  #withRanges(): SheetBuilder {
    const columns = this.#builder.columns()
    const merged = new SheetBuilder(this.#builder.addresses)
    merged.transfers = this.#builder.transfers
    merged.standards = this.#builder.standards
    const touched = new Map([...this.#ranges.keys()].map(party => [party, [] as number[]]))
    for (let row = 0; row < columns.length; row++) {
      const rows = touched.get(columns.parties[row]!)
      if (rows === undefined) merged.copyRows(columns, row, row + 1)
      else rows.push(row)
    }
    for (const [party, rows] of touched) {
      const merge = new RangeMerge(merged, this.#ranges.get(party)!, party)
      const byId = rows.map(row => ({ row, id: idAt(columns, row) })).sort((a, b) => (a.id < b.id ? -1 : 1))
      for (const { row, id } of byId) {
        merge.passTo(id)
        const from = merged.length
        merged.copyRows(columns, row, row + 1)
        const newestPlace = columns.places.subarray(row * placeBytes, (row + 1) * placeBytes)
        merge.takeOut({ id, from, mint, newestPlace, oldestPlace: newestOfAll })
      }
      merge.end()
    }
    return merged
  }
}

function isInStretch({ after, to }: TokenStretch, name: string): boolean {
  return (after === undefined || name > after) && (to === undefined || name <= to)
}

// Names are bytes of records: the number of the contract, the length of the id, the id.

function nameOf(contract: number, id: bigint): string {
  const digits = id === 0n ? '' : id.toString(16)
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  const start = Buffer.alloc(idLengthAt)
  start.writeUInt32BE(contract)
  start[idLengthAt - 1] = bytes.length
  return Buffer.concat([start, bytes]).toString('latin1')
}

function contractOf(name: string): number {
  return Buffer.from(name, 'latin1').readUInt32BE()
}

function idOf(name: string): bigint {
  const digits = Buffer.from(name, 'latin1').toString('hex', idLengthAt)
  return digits === '' ? 0n : BigInt(`0x${digits}`)
}

type SingleRecord = { keys: Uint8Array; place: number; bytes: Buffer; from: number; to: number; party: number }

/** No range is newer: what was first is not told by a wallet's records. */
const newestOfAll = new Uint8Array(placeBytes)
