// A sheet with what happened since laid over it: a copy in which the tokens that moved have new rows. It reads nothing
// but the mints of tokens that had no holder.
import { placeBytes } from '../../store/runs/place-key.ts'
import { inSteps, type Pace, rowsPerStep } from '../pace.ts'
import { noAddress } from './address-table.ts'
import { standards } from './fold-contract.ts'
import type { TokenMint } from './mints.ts'
import { compareRows, newestOf } from './newest-first.ts'
import { carriedOrder, type Layered, notCopied } from './orders.ts'
import { amountAt, idAt, rowFlags, type Sheet, type SheetColumns } from './sheet.ts'
import { type Mint, type Moves, SheetBuilder } from './sheet-builder.ts'

export type ReadMints = (tokenIds: readonly bigint[]) => Promise<readonly (TokenMint | undefined)[]>

/** A token that moved: its rows among the moves, and those of the base that they take the place of. */
type Moved = {
  from: number
  to: number
  baseFrom: number
  baseTo: number
  /** The first row of the base is a range, which keeps its other ids. */
  inRange: boolean
  /** Where the base has no row of it. */
  mint: TokenMint | undefined
}

/** Few rows are new beside those that are copied. */
const freshShare = 0.1
/** A look for a mint takes as long as folding this many transfers. */
const transfersPerLook = 50
/** Where there is little to fold too. */
const looksMin = 20

/**
 * Undefined where the records must be folded anew: with ranges, transfers of both standards, an unknown mint, or more
 * mints to look for than folding takes. `readMints`: of a contract; the sheet of a wallet has none.
 */
export async function laidOver(
  base: Sheet,
  moves: Moves,
  { readMints, pace }: { readMints: ReadMints | undefined; pace: Pace },
): Promise<Layered | undefined> {
  if (moves.hasRanges) return undefined
  const moved = await (readMints === undefined
    ? movedOfWallet(base, moves, pace)
    : movedOfContract(base, moves, readMints))
  if (moved === undefined) return undefined
  const over = new Over(base, moves)
  for (const each of moved) {
    await pace.rest()
    await over.put(each, pace)
  }
  return await over.finish(pace)
}

async function movedOfContract(
  base: Sheet,
  { rows, standards: added }: Moves,
  readMints: ReadMints,
): Promise<Moved[] | undefined> {
  if ((base.standards | added) === (standards.erc721 | standards.erc1155)) return undefined
  const moved: Moved[] = []
  const unheld: Moved[] = []
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const id = idAt(rows, from)
    do to++
    while (to < rows.length && idAt(rows, to) === id)
    const held = base.rowWith(id)
    const inRange = held !== undefined && base.isRange(held)
    const baseFrom = held ?? base.rowAtOrAfter(id)
    // Looked up once: an ERC-20 token has all its holders in the rows of one id.
    const baseTo = held === undefined || inRange ? baseFrom : base.rowAtOrAfter(id + 1n)
    const token: Moved = { from, to, baseFrom, baseTo, inRange, mint: undefined }
    moved.push(token)
    if (held === undefined) unheld.push(token)
  }
  if (unheld.length > Math.max(looksMin, base.transfers / transfersPerLook)) return undefined
  const mints = await readMints(unheld.map(({ from }) => idAt(rows, from)))
  for (const [at, token] of unheld.entries()) token.mint = mints[at]
  return mints.includes(undefined) ? undefined : moved
}

async function movedOfWallet(base: Sheet, moves: Moves, pace: Pace): Promise<Moved[] | undefined> {
  if ((base.standards | moves.standards) & standards.mixed) return undefined
  const { length, parties, flags } = base.columns
  const { rows } = moves
  const moved = new Map<string, Moved>()
  for (let row = 0; row < rows.length; row++) {
    const places = { from: row, to: row + 1, baseFrom: length, baseTo: length }
    moved.set(`${rows.parties[row]} ${idAt(rows, row)}`, { ...places, inRange: false, mint: undefined })
  }
  const contracts = new Set(rows.parties)
  let isMixed = false
  await inSteps(length, pace, row => {
    const party = parties[row]!
    const token = contracts.has(party) ? moved.get(`${party} ${base.idOf(row)}`) : undefined
    if (token === undefined) return
    token.baseFrom = row
    token.baseTo = row + 1
    if ((flags[row]! ^ rows.flags[token.from]!) & rowFlags.erc1155) isMixed = true
  })
  return isMixed ? undefined : [...moved.values()].sort((a, b) => a.baseFrom - b.baseFrom)
}

class Over {
  readonly #base: Sheet
  readonly #moves: Moves
  readonly #builder: SheetBuilder
  readonly #copies: Uint32Array
  readonly #fresh: number[] = []
  // What is done so far: whole rows of the base, and ids of the next one.
  #row = 0
  #within = 0

  constructor(base: Sheet, moves: Moves) {
    const { length, idWidth } = base.columns
    this.#base = base
    this.#moves = moves
    this.#copies = new Uint32Array(length).fill(notCopied)
    this.#builder = new SheetBuilder(base.addresses)
    this.#builder.transfers = base.transfers + moves.transfers
    this.#builder.standards = base.standards | moves.standards
    this.#builder.reserve(Math.ceil(length * (1 + freshShare)) + 64, idWidth)
  }

  /** In the order of the rows of the base. */
  async put({ from, to, baseFrom, baseTo, inRange, mint }: Moved, pace: Pace): Promise<void> {
    await this.#copyTo(baseFrom, pace)
    const { rows } = this.#moves
    if (inRange) this.#skipWithin(idAt(rows, from))
    const isSum = (rows.flags[from]! & rowFlags.erc1155) !== 0
    const amounts = new Map<number, bigint>()
    for (let row = from; row < to; row++) amounts.set(rows.parties[row]!, amountAt(rows, row))
    if (isSum) await this.#addHeld(amounts, baseTo, pace)
    else if (!inRange) this.#row = baseTo
    const isHeld = inRange || baseFrom < baseTo
    for (let row = from; row < to; row++)
      this.#append(row, amounts.get(rows.parties[row]!)!, isHeld ? this.#oldMint(baseFrom) : this.#mintOf(mint), isSum)
  }

  async finish(pace: Pace): Promise<Layered> {
    await this.#copyTo(this.#base.columns.length, pace)
    const [base, copies, fresh] = [this.#base, this.#copies, Uint32Array.from(this.#fresh)]
    const order = async (columns: SheetColumns) => {
      const shown = fresh.filter(row => (columns.flags[row]! & rowFlags.impossible) === 0)
      const added = await newestOf(shown, columns, pace)
      const isBefore = (row: number, other: number) => compareRows(columns, row, other) < 0
      return await carriedOrder(base.order, { follow: row => copies[row]!, added, isBefore, pace })
    }
    const byteLength = copies.byteLength + fresh.byteLength
    return { sheet: await this.#builder.finish(pace, order), layer: { base, copies, fresh, byteLength } }
  }

  /** To each amount what its party had. Rows of other parties are copied. */
  async #addHeld(amounts: Map<number, bigint>, baseTo: number, pace: Pace): Promise<void> {
    const { parties } = this.#base.columns
    let copied = this.#row
    for (; this.#row < baseTo; this.#row++) {
      if (this.#row % rowsPerStep === 0) await pace.rest()
      const party = parties[this.#row]!
      const amount = amounts.get(party)
      if (amount === undefined) continue
      await this.#copy(copied, this.#row, pace)
      copied = this.#row + 1
      amounts.set(party, amount + this.#base.amountOf(this.#row))
    }
    await this.#copy(copied, this.#row, pace)
  }

  #append(row: number, amount: bigint, mint: Mint, isSum: boolean): void {
    if (amount === 0n) return
    const { ids, idWidth, places, flags, parties } = this.#moves.rows
    const rowFlag = flags[row]! | (amount < 0n ? rowFlags.impossible : 0)
    const place = { place: places, placeAt: row * placeBytes }
    const id = { id: ids, idFrom: row * idWidth, idTo: (row + 1) * idWidth }
    const made = this.#builder.append({ ...id, ...place, flags: rowFlag, party: parties[row]! })
    if (isSum) this.#builder.setAmount(made, amount)
    this.#builder.setMint(made, made + 1, mint)
    this.#fresh.push(made)
  }

  /** Up to a row, of which some ids may be passed already. */
  async #copyTo(row: number, pace: Pace): Promise<void> {
    if (this.#row >= row) return
    if (this.#within > 0) {
      this.#part(this.#row, this.#within, this.#base.countOf(this.#row))
      this.#row++
      this.#within = 0
    }
    await this.#copy(this.#row, row, pace)
    this.#row = row
  }

  async #copy(start: number, end: number, pace: Pace): Promise<void> {
    for (let from = start; from < end; from += rowsPerStep) {
      const to = Math.min(end, from + rowsPerStep)
      for (let row = from; row < to; row++) this.#copies[row] = this.#builder.length + row - from
      this.#builder.copyRows(this.#base.columns, from, to)
      await pace.rest()
    }
  }

  /** Copies the ids of a range before one, and leaves that one out. */
  #skipWithin(id: bigint): void {
    const row = this.#row
    const at = Number(id - this.#base.idOf(row))
    this.#part(row, this.#within, at)
    this.#within = at + 1
    if (this.#within < this.#base.countOf(row)) return
    this.#row++
    this.#within = 0
  }

  #part(row: number, from: number, to: number): void {
    if (to <= from) return
    const { places, flags, parties, offsets } = this.#base.columns
    const id = Buffer.from((this.#base.idOf(row) + BigInt(from)).toString(16).padStart(64, '0'), 'hex')
    const place = { place: places, placeAt: row * placeBytes }
    const made = this.#builder.append({
      ...{ id, idFrom: 0, idTo: id.length, ...place },
      ...{ flags: flags[row]!, party: parties[row]! },
    })
    this.#builder.setRange(made, to - from, offsets![row]! + from)
    this.#builder.setMint(made, made + 1, this.#oldMint(row))
    this.#fresh.push(made)
  }

  #oldMint(row: number): Mint {
    return { block: this.#base.columns.mintBlocks[row]!, minter: this.#base.columns.minters[row]! }
  }

  #mintOf(mint: TokenMint | undefined): Mint {
    const minter = mint?.minter === undefined ? noAddress : this.#builder.addresses.addText(mint.minter)
    return { block: mint?.block ?? 0, minter }
  }
}
