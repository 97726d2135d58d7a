// Puts the columns of a sheet together, row after row. What a row means is for the folds to say.
import { placeBytes } from '../../store/runs/place-key.ts'
import { Pace, rowsPerStep } from '../pace.ts'
import { AddressTable, grown, noAddress, viewOf } from './address-table.ts'
import { newestFirst } from './newest-first.ts'
import { amountAt, largeAmountBytes, rowFlags, Sheet, type SheetColumns } from './sheet.ts'

export type RowStart = {
  /** Big-endian; zeros before it do not matter. */
  id: Uint8Array
  idFrom: number
  idTo: number
  place: Uint8Array
  placeAt: number
  flags: number
  party: number
}

const keyIdBytes = 32
const finishRowBytes = 24
const finishAddressBytes = 8
const finishBytes = 1_000
/** Beyond these columns grow by a quarter: a sheet would take twice its size while it is made. */
const doubledRowsMax = 2 ** 16

export type Mint = { block: number; minter: number }

/**
 * What happened, as a fold has it: a row for each token and party that moved, with what came minus what went. A token
 * of ERC-721 has one row, whose amount is nothing where it went.
 */
export type Moves = { rows: SheetColumns; transfers: number; standards: number; hasRanges: boolean }

export class SheetBuilder {
  readonly addresses: AddressTable
  length = 0
  transfers = 0
  standards = 0
  #idWidth = 4
  #ids = new Uint8Array(0)
  #places = new Uint8Array(0)
  #idView = viewOf(this.#ids)
  #placeView = viewOf(this.#places)
  #flags = new Uint8Array(0)
  #parties = new Uint32Array(0)
  #amounts: Float64Array | undefined
  readonly #largeAmounts = new Map<number, bigint>()
  #mintBlocks = new Uint32Array(0)
  #minters = new Uint32Array(0)
  #counts: Uint32Array | undefined
  #offsets: Uint32Array | undefined

  constructor(addresses = new AddressTable()) {
    this.addresses = addresses
  }

  /** With what its order and the counts of its parties take once it is finished. */
  get byteLength(): number {
    const finished = this.length * finishRowBytes + this.addresses.length * finishAddressBytes + finishBytes
    const columns = [this.#ids, this.#places, this.#flags, this.#parties, this.#mintBlocks, this.#minters]
    const some = [this.#amounts, this.#counts, this.#offsets]
    return [...columns, ...some].reduce(
      (sum, column) => sum + (column?.byteLength ?? 0),
      this.addresses.byteLength + this.#largeAmounts.size * largeAmountBytes + finished,
    )
  }

  /** Makes room before the first row, for what would else be copied again and again. */
  reserve(rows: number, idWidth: number): void {
    this.#idWidth = idWidth
    this.#grow(rows)
  }

  /** Returns the number of the row. */
  append({ id, idFrom, idTo, place, placeAt, flags, party }: RowStart): number {
    const row = this.#startRow(flags, party)
    let from = idFrom
    while (from < idTo && id[from] === 0) from++
    while (idTo - from > this.#idWidth) this.#widen()
    const [width, ids, places] = [this.#idWidth, this.#ids, this.#places]
    let target = row * width
    for (const start = target + width - (idTo - from); target < start; target++) ids[target] = 0
    for (let at = from; at < idTo; at++) ids[target++] = id[at]!
    target = row * placeBytes
    for (let at = 0; at < placeBytes; at++) places[target + at] = place[placeAt + at]!
    return row
  }

  /** A row of a key, four bytes at a time: its id has `keyIdBytes`, and its place comes right after. */
  appendKey(keys: DataView, idAt: number, flags: number, party: number): number {
    const row = this.#startRow(flags, party)
    const placeAt = idAt + keyIdBytes
    while (!isZero(keys, idAt, placeAt - this.#idWidth)) this.#widen()
    const [width, ids, places] = [this.#idWidth, this.#idView, this.#placeView]
    for (let at = 0; at < width; at += 4) ids.setUint32(row * width + at, keys.getUint32(placeAt - width + at))
    const target = row * placeBytes
    places.setUint32(target, keys.getUint32(placeAt))
    places.setUint32(target + 4, keys.getUint32(placeAt + 4))
    places.setUint32(target + 8, keys.getUint32(placeAt + 8))
    places.setUint8(target + 12, keys.getUint8(placeAt + 12))
    return row
  }

  #startRow(flags: number, party: number): number {
    const row = this.length++
    if (row === this.#flags.length) this.#grow()
    this.#flags[row] = flags
    this.#parties[row] = party
    if (this.#amounts !== undefined) this.#amounts[row] = 1
    if (this.#counts !== undefined) this.#counts[row] = 1
    if (this.#offsets !== undefined) this.#offsets[row] = 0
    return row
  }

  setMint(from: number, to: number, { block, minter }: Mint): void {
    // Most tokens have one row, for which `fill` takes longer.
    for (let row = from; row < to; row++) {
      this.#mintBlocks[row] = block
      this.#minters[row] = minter
    }
  }

  setRange(row: number, count: number, offset: number): void {
    if (this.#counts === undefined) {
      this.#counts = new Uint32Array(this.#flags.length).fill(1)
      this.#offsets = new Uint32Array(this.#flags.length)
    }
    this.#counts[row] = count
    this.#offsets![row] = offset
  }

  setAmount(row: number, amount: number | bigint): void {
    this.#amounts ??= new Float64Array(this.#flags.length).fill(1)
    this.#largeAmounts.delete(row)
    if (amount >= -Number.MAX_SAFE_INTEGER && amount <= Number.MAX_SAFE_INTEGER) this.#amounts[row] = Number(amount)
    else {
      this.#amounts[row] = Number.NaN
      this.#largeAmounts.set(row, BigInt(amount))
    }
  }

  addAmount(row: number, added: number | bigint): void {
    const amount = this.#amounts![row]!
    if (typeof added === 'number' && !Number.isNaN(amount)) {
      const sum = amount + added
      if (sum >= -Number.MAX_SAFE_INTEGER && sum <= Number.MAX_SAFE_INTEGER) {
        this.#amounts![row] = sum
        return
      }
    }
    const before = amountAt({ amounts: this.#amounts, largeAmounts: this.#largeAmounts }, row)
    this.setAmount(row, before + BigInt(added))
  }

  /** Drops rows from `from` on that amount to nothing, and marks those that are below it. */
  settle(from: number): void {
    for (const _ of this.#settling(from));
  }

  /** The same for a token with millions of holders. */
  async settleInSteps(from: number, pace: Pace): Promise<void> {
    for (const _ of this.#settling(from)) await pace.rest()
  }

  *#settling(from: number): Generator<void> {
    if (this.#amounts === undefined) return
    let kept = from
    for (let row = from; row < this.length; row++) {
      if (row % rowsPerStep === 0) yield
      const amount = this.#amounts[row]!
      if (amount === 0) continue
      const large = this.#largeAmounts.get(row)
      if (amount < 0 || (large !== undefined && large < 0n)) this.#flags[row]! |= rowFlags.impossible
      if (kept !== row) this.#move(row, kept, large)
      kept++
    }
    this.length = kept
  }

  /** Drops rows from `from` on. */
  truncate(from: number): void {
    if (this.#largeAmounts.size > 0) for (let row = from; row < this.length; row++) this.#largeAmounts.delete(row)
    this.length = from
  }

  /** Appends rows of another sheet as they are; its addresses must be the first of this one's. */
  copyRows(other: SheetColumns, from: number, to: number): void {
    const count = to - from
    if (count <= 0) return
    if (this.#flags.length < this.length + count) this.#grow(2 * (this.length + count))
    while (this.#idWidth < other.idWidth) this.#widen()
    const start = this.length
    if (this.#idWidth === other.idWidth)
      this.#ids.set(other.ids.subarray(from * other.idWidth, to * other.idWidth), start * this.#idWidth)
    else for (let row = 0; row < count; row++) this.#copyId(other, from + row, start + row)
    this.#places.set(other.places.subarray(from * placeBytes, to * placeBytes), start * placeBytes)
    this.#flags.set(other.flags.subarray(from, to), start)
    this.#parties.set(other.parties.subarray(from, to), start)
    this.#mintBlocks.set(other.mintBlocks.subarray(from, to), start)
    this.#minters.set(other.minters.subarray(from, to), start)
    if (other.amounts !== undefined) {
      this.#amounts ??= new Float64Array(this.#flags.length).fill(1)
      this.#amounts.set(other.amounts.subarray(from, to), start)
      if (other.largeAmounts.size > 0)
        for (let row = from; row < to; row++) {
          const large = other.largeAmounts.get(row)
          if (large !== undefined) this.#largeAmounts.set(start + row - from, large)
        }
    } else this.#amounts?.fill(1, start, start + count)
    if (other.counts !== undefined) {
      if (this.#counts === undefined) this.setRange(start, 1, 0)
      this.#counts!.set(other.counts.subarray(from, to), start)
      this.#offsets!.set(other.offsets!.subarray(from, to), start)
    } else {
      this.#counts?.fill(1, start, start + count)
      this.#offsets?.fill(0, start, start + count)
    }
    this.length += count
  }

  /** `orderOf` where the order need not be made from nothing. */
  async finish(pace = new Pace(), orderOf = newestFirst): Promise<Sheet> {
    const columns = this.columns()
    await pace.rest()
    const order = await orderOf(columns, pace)
    await pace.rest()
    const { addresses, transfers, standards } = this
    return await Sheet.of(columns, { addresses, order, transfers, standards }, pace)
  }

  moves(hasRanges: boolean): Moves {
    return { rows: this.columns(), transfers: this.transfers, standards: this.standards, hasRanges }
  }

  /** The rows so far; the last use of the builder. */
  columns(): SheetColumns {
    const { length } = this
    // Little that is not used is worth no copy.
    const isNearlyFull = length * 1.25 >= this.#flags.length
    const cut = <T extends Uint8Array | Uint32Array | Float64Array>(column: T, end = length): T =>
      (isNearlyFull ? column.subarray(0, end) : column.slice(0, end)) as T
    return {
      length,
      idWidth: this.#idWidth,
      ids: cut(this.#ids, length * this.#idWidth),
      places: cut(this.#places, length * placeBytes),
      flags: cut(this.#flags),
      parties: cut(this.#parties),
      amounts: this.#amounts && cut(this.#amounts),
      largeAmounts: this.#largeAmounts,
      mintBlocks: cut(this.#mintBlocks),
      minters: cut(this.#minters),
      counts: this.#counts && cut(this.#counts),
      offsets: this.#offsets && cut(this.#offsets),
    }
  }

  isErc1155(row: number): boolean {
    return (this.#flags[row]! & rowFlags.erc1155) !== 0
  }

  #move(from: number, to: number, large: bigint | undefined): void {
    const width = this.#idWidth
    this.#ids.copyWithin(to * width, from * width, (from + 1) * width)
    this.#places.copyWithin(to * placeBytes, from * placeBytes, (from + 1) * placeBytes)
    this.#flags[to] = this.#flags[from]!
    this.#parties[to] = this.#parties[from]!
    this.#amounts![to] = this.#amounts![from]!
    this.#mintBlocks[to] = this.#mintBlocks[from]!
    this.#minters[to] = this.#minters[from]!
    if (this.#counts !== undefined) this.#counts[to] = this.#counts[from]!
    if (this.#offsets !== undefined) this.#offsets[to] = this.#offsets[from]!
    if (large !== undefined) {
      this.#largeAmounts.delete(from)
      this.#largeAmounts.set(to, large)
    }
  }

  #copyId(other: SheetColumns, from: number, to: number): void {
    const [width, theirs] = [this.#idWidth, other.idWidth]
    this.#ids.fill(0, to * width, (to + 1) * width)
    this.#ids.set(other.ids.subarray(from * theirs, (from + 1) * theirs), (to + 1) * width - theirs)
  }

  #grow(capacity = nextCapacity(this.#flags.length)): void {
    this.#flags = grown(this.#flags, capacity)
    this.#ids = grown(this.#ids, capacity * this.#idWidth)
    this.#places = grown(this.#places, capacity * placeBytes)
    this.#idView = viewOf(this.#ids)
    this.#placeView = viewOf(this.#places)
    this.#parties = grown(this.#parties, capacity)
    this.#mintBlocks = grown(this.#mintBlocks, capacity)
    const minters = this.#minters.length
    this.#minters = grown(this.#minters, capacity).fill(noAddress, minters)
    if (this.#amounts !== undefined) this.#amounts = grown(this.#amounts, capacity)
    if (this.#counts !== undefined) this.#counts = grown(this.#counts, capacity)
    if (this.#offsets !== undefined) this.#offsets = grown(this.#offsets, capacity)
  }

  #widen(): void {
    const old = { ids: this.#ids, idWidth: this.#idWidth } as SheetColumns
    this.#idWidth *= 2
    this.#ids = new Uint8Array(this.#flags.length * this.#idWidth)
    this.#idView = viewOf(this.#ids)
    // The row that is being appended has no id yet.
    for (let row = 0; row * old.idWidth < old.ids.length && row < this.length; row++) this.#copyId(old, row, row)
  }
}

function nextCapacity(rows: number): number {
  return rows < doubledRowsMax ? Math.max(64, rows * 2) : Math.ceil(rows * 1.25)
}

function isZero(bytes: DataView, from: number, to: number): boolean {
  for (let at = from; at < to; at += 4) if (bytes.getUint32(at) !== 0) return false
  return true
}
