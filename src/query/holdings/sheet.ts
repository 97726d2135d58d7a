// What is held of one contract, of one token or by one wallet after a block, in columns: some 45 bytes a holding. A row
// is a token with a holder, or consecutive ids of an ERC-2309 range with their holder. Rows lie in the order of their
// ids; `order` has those to show, newest change first. Nothing here reads a store.
import type { Address, Position, TokenStandard } from '../../model.ts'
import { placeBytes, positionOfPlace } from '../../store/runs/place-key.ts'
import { inSteps, type Pace } from '../pace.ts'
import { type AddressTable, noAddress } from './address-table.ts'
import type { HoldingKey } from './questions.ts'
import { placeOf } from './subject.ts'

/** `impossible`: it gave more than it received, which is never shown. */
export const rowFlags = { erc1155: 1, giver: 2, range: 4, impossible: 8 } as const

/** Of one that no number tells exactly, as most amounts of ERC-20 tokens. */
export const largeAmountBytes = 100

export type SheetColumns = {
  length: number
  /** Bytes of an id. */
  idWidth: number
  ids: Uint8Array
  /** As keys of indexes have them: newest first. */
  places: Uint8Array
  flags: Uint8Array
  /** The owner, or in the sheet of a wallet the contract. */
  parties: Uint32Array
  /** Absent where all are 1. `NaN`: in `largeAmounts`. */
  amounts: Float64Array | undefined
  largeAmounts: ReadonlyMap<number, bigint>
  mintBlocks: Uint32Array
  minters: Uint32Array
  /** Of ranges: how many ids, and how far the first of them is from the range's. Absent where there is no range. */
  counts: Uint32Array | undefined
  offsets: Uint32Array | undefined
}

type SheetRest = { addresses: AddressTable; order: Uint32Array; transfers: number; standards: number }
type SheetCounts = Pick<Sheet, 'holdings' | 'ids' | 'parties' | 'impossible'> & { partyRows: Uint32Array }

let sheetsMade = 0

export class Sheet {
  readonly id = ++sheetsMade
  readonly columns: SheetColumns
  readonly addresses: AddressTable
  readonly order: Uint32Array
  /** Transfers that were folded, a range counting as many as its ids. */
  readonly transfers: number
  /** `standards` of the transfers. */
  readonly standards: number
  /** Rows to show, a range counting as many as its ids. */
  readonly holdings: number
  /** Tokens with a holder. Only of a contract: every row of a wallet is another token. */
  readonly ids: number
  readonly parties: number
  readonly impossible: number
  readonly #partyRows: Uint32Array
  #ascending: Promise<Uint32Array> | undefined

  private constructor(columns: SheetColumns, rest: SheetRest, counts: SheetCounts) {
    this.columns = columns
    this.addresses = rest.addresses
    this.order = rest.order
    this.transfers = rest.transfers
    this.standards = rest.standards
    this.#partyRows = counts.partyRows
    this.holdings = counts.holdings
    this.ids = counts.ids
    this.parties = counts.parties
    this.impossible = counts.impossible
  }

  static async of(columns: SheetColumns, rest: SheetRest, pace: Pace): Promise<Sheet> {
    const partyRows = new Uint32Array(rest.addresses.length)
    let [holdings, ids, parties, impossible] = [0, 0, 0, 0]
    let previous = -1
    await inSteps(columns.length, pace, row => {
      if (columns.flags[row]! & rowFlags.impossible) {
        impossible++
        return
      }
      const count = columns.counts?.[row] ?? 1
      holdings += count
      if (previous === -1 || !isSameToken(columns, row, previous)) ids += count
      previous = row
      if (partyRows[columns.parties[row]!]!++ === 0) parties++
    })
    return new Sheet(columns, rest, { partyRows, holdings, ids, parties, impossible })
  }

  get byteLength(): number {
    const { ids, places, flags, parties, amounts, largeAmounts, mintBlocks, minters, counts, offsets } = this.columns
    const columns = [ids, places, flags, parties, amounts, mintBlocks, minters, counts, offsets, this.order]
    const bytes = columns.reduce((sum, column) => sum + (column?.byteLength ?? 0), 0)
    // The orders of parties and of hashes are made when they are first asked for.
    const made = this.#partyRows.byteLength + this.order.byteLength
    return (
      bytes +
      made +
      this.#partyRows.byteLength +
      this.addresses.byteLength +
      largeAmounts.size * largeAmountBytes +
      1_000
    )
  }

  /** The first row of the token after that of a row. Only of a contract. */
  nextToken(row: number): number {
    let next = row + 1
    while (next < this.columns.length && isSameToken(this.columns, next, row)) next++
    return next
  }

  /** The newest holder of a token, of which this is the first row. Only of a contract. */
  newestRow(first: number): number {
    const { places, flags } = this.columns
    let newest = first
    for (let row = first + 1; row < this.columns.length && isSameToken(this.columns, row, first); row++) {
      if (flags[row]! & rowFlags.impossible) continue
      const byPlace = comparePlaces(places, row * placeBytes, places, newest * placeBytes)
      const byLeg = (flags[row]! & rowFlags.giver) - (flags[newest]! & rowFlags.giver)
      if (flags[newest]! & rowFlags.impossible || (byPlace || byLeg) < 0) newest = row
    }
    return newest
  }

  /** Whether a party has a row to show. */
  holds(party: number): boolean {
    return this.#partyRows[party]! > 0
  }

  /** Those with a row to show, ascending by address. */
  ascendingParties(): Promise<Uint32Array> {
    this.#ascending ??= this.addresses.ascending(number => this.#partyRows[number]! > 0)
    return this.#ascending
  }

  idOf(row: number): bigint {
    return idAt(this.columns, row)
  }

  isErc721(row: number): boolean {
    return (this.columns.flags[row]! & rowFlags.erc1155) === 0
  }

  standardOf(row: number): TokenStandard {
    return this.isErc721(row) ? 'ERC721' : 'ERC1155'
  }

  countOf(row: number): number {
    return this.columns.counts?.[row] ?? 1
  }

  amountOf(row: number): bigint {
    return amountAt(this.columns, row)
  }

  isRange(row: number): boolean {
    return (this.columns.flags[row]! & rowFlags.range) !== 0
  }

  /** Of the id that is `within` ids after the row's first. */
  positionOf(row: number, within: number): Position {
    const position = positionOfPlace(this.columns.places, row * placeBytes)
    if (this.columns.flags[row]! & rowFlags.range) position.batchIndex += this.columns.offsets![row]! + within
    return position
  }

  keyOf(row: number, tokenId: bigint): HoldingKey {
    const position = positionOfPlace(this.columns.places, row * placeBytes)
    return { position, leg: this.columns.flags[row]! & rowFlags.giver ? 'giver' : 'recipient', tokenId }
  }

  mintOf(row: number): { block: number; minter: Address | undefined } {
    const minter = this.columns.minters[row]!
    return {
      block: this.columns.mintBlocks[row]!,
      minter: minter === noAddress ? undefined : this.addresses.addressOf(minter),
    }
  }

  /** The first index of `order` whose row has ids after the key. */
  seek(key: HoldingKey): number {
    const place = placeOf(key.position)
    const leg = key.leg === 'giver' ? rowFlags.giver : 0
    let [low, high] = [0, this.order.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const row = this.order[middle]!
      const byPlace = comparePlaces(this.columns.places, row * placeBytes, place, 0)
      const difference = byPlace || (this.columns.flags[row]! & rowFlags.giver) - leg
      if (difference > 0 || (difference === 0 && this.idOf(row) < key.tokenId)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** The first row that has an id, alone or within a range. Only of a contract. */
  rowWith(tokenId: bigint): number | undefined {
    const row = this.rowAtOrAfter(tokenId)
    if (row < this.columns.length && this.idOf(row) === tokenId) return row
    if (row === 0 || this.idOf(row - 1) + BigInt(this.countOf(row - 1)) <= tokenId) return undefined
    return row - 1
  }

  /** The first row whose id is at least this one, in the order of ids. Only of a contract. */
  rowAtOrAfter(tokenId: bigint): number {
    const { ids, idWidth, length } = this.columns
    const digits = tokenId.toString(16).padStart(idWidth * 2, '0')
    if (tokenId <= 0n) return 0
    if (digits.length > idWidth * 2) return length
    const wanted = Buffer.from(digits, 'hex')
    let [low, high] = [0, length]
    while (low < high) {
      const middle = (low + high) >>> 1
      let at = 0
      while (at < idWidth && ids[middle * idWidth + at] === wanted[at]) at++
      if (at < idWidth && ids[middle * idWidth + at]! < wanted[at]!) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function amountAt(
  { amounts, largeAmounts }: Pick<SheetColumns, 'amounts' | 'largeAmounts'>,
  row: number,
): bigint {
  const amount = amounts?.[row] ?? 1
  return Number.isNaN(amount) ? largeAmounts.get(row)! : BigInt(amount)
}

/** Only of a contract, whose rows of one id lie side by side. */
function isSameToken({ flags, ids, idWidth }: SheetColumns, row: number, other: number): boolean {
  if ((flags[row]! & flags[other]! & rowFlags.erc1155) === 0) return false
  for (let place = idWidth - 1; place >= 0; place--)
    if (ids[row * idWidth + place] !== ids[other * idWidth + place]) return false
  return true
}

export function idAt({ ids, idWidth }: Pick<SheetColumns, 'ids' | 'idWidth'>, row: number): bigint {
  const { buffer, byteOffset } = ids
  return BigInt(`0x${Buffer.from(buffer, byteOffset + row * idWidth, idWidth).toString('hex')}`)
}

/** Negative where the first is newer. */
export function comparePlaces(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let at = 0; at < placeBytes; at++) {
    const difference = a[aAt + at]! - b[bAt + at]!
    if (difference !== 0) return difference
  }
  return 0
}
