// A sheet with what happened since put on top: a copy in which the tokens that moved have new rows. It reads nothing
// but the mints of tokens that had no holder.
import { type Address, zeroAddress } from '../../model.ts'
import { placeBytes } from '../../store/runs/place-key.ts'
import { type Pace, rowsPerStep } from '../pace.ts'
import { noAddress } from './address-table.ts'
import type { TokenChange } from './changes.ts'
import { CopiedRows } from './copied-rows.ts'
import { standards } from './fold-contract.ts'
import type { TokenMint } from './mints.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { SheetBuilder } from './sheet-builder.ts'

/** A look for a mint takes as long as folding this many transfers. */
const transfersPerLook = 50
/** Where there is little to fold too. */
const looksMin = 20

export type ReadMints = (tokenIds: readonly bigint[]) => Promise<readonly (TokenMint | undefined)[]>

/**
 * Undefined where the records must be folded anew: with ranges, transfers of both standards, an unknown mint, or more
 * mints to look for than folding takes.
 */
export async function patchedSheet(
  base: Sheet,
  changes: readonly TokenChange[],
  { readMints, pace }: { readMints: ReadMints; pace: Pace },
): Promise<Sheet | undefined> {
  const added = changes.reduce((all, { isErc1155 }) => all | (isErc1155 ? standards.erc1155 : standards.erc721), 0)
  const isMixed = (base.standards | added) === (standards.erc721 | standards.erc1155)
  if (isMixed || changes.some(({ idCount }) => idCount !== 1)) return undefined
  const tokens = [...Map.groupBy(changes, ({ tokenId }) => tokenId)].sort(([a], [b]) => (a < b ? -1 : 1))
  const unheld = tokens.map(([id]) => id).filter(id => rowWith(base, id) === undefined)
  if (unheld.length > Math.max(looksMin, base.transfers / transfersPerLook)) return undefined
  const mints = await readMints(unheld)
  if (mints.includes(undefined)) return undefined
  const patch = new Patch(base, new Map(unheld.map((id, at) => [id, mints[at]])))
  patch.builder.transfers = base.transfers + changes.length
  patch.builder.standards = base.standards | added
  for (const [id, list] of tokens) {
    await pace.rest()
    await patch.token(id, list, pace)
  }
  return await patch.finish(pace)
}

/** The row that has an id, alone or within a range. */
export function rowWith(sheet: Sheet, tokenId: bigint): number | undefined {
  const row = sheet.rowAtOrAfter(tokenId)
  if (row < sheet.columns.length && sheet.idOf(row) === tokenId) return row
  if (row === 0 || sheet.idOf(row - 1) + BigInt(sheet.countOf(row - 1)) <= tokenId) return undefined
  return row - 1
}

class Patch {
  readonly builder: SheetBuilder
  readonly #base: Sheet
  readonly #mints: ReadonlyMap<bigint, TokenMint | undefined>
  // What is copied so far: whole rows, and ids of the next one.
  #row = 0
  #within = 0
  readonly #copied: CopiedRows

  constructor(base: Sheet, mints: ReadonlyMap<bigint, TokenMint | undefined>) {
    this.#base = base
    this.#mints = mints
    this.builder = new SheetBuilder(base.addresses)
    this.#copied = new CopiedRows(base, this.builder)
  }

  async token(id: bigint, changes: readonly TokenChange[], pace: Pace): Promise<void> {
    const old = rowWith(this.#base, id)
    const first = old ?? this.#base.rowAtOrAfter(id)
    await this.#copyTo(first, pace)
    if (old !== undefined && this.#base.columns.flags[old]! & rowFlags.range) this.#skipWithin(old, id)
    const from = this.builder.length
    if (changes[0]!.isErc1155) await this.#sums(id, changes, pace)
    else this.#owner(id, changes.at(-1)!)
    this.builder.setMint(from, this.builder.length, old === undefined ? this.#mintOf(id) : this.#oldMint(old))
  }

  async finish(pace: Pace): Promise<Sheet> {
    await this.#copyTo(this.#base.columns.length, pace)
    return await this.#copied.finish(pace)
  }

  #owner(id: bigint, { to, place }: TokenChange): void {
    const { columns } = this.#base
    if (this.#row < columns.length && this.#within === 0 && this.#base.idOf(this.#row) === id) this.#row++
    if (to === zeroAddress) return
    const party = this.builder.addresses.addText(to)
    this.builder.append({ ...idFields(id), place, placeAt: 0, flags: 0, party })
  }

  async #sums(id: bigint, changes: readonly TokenChange[], pace: Pace): Promise<void> {
    const touched = this.#touched(changes)
    const { columns } = this.#base
    let copied = this.#row
    // Looked up once: an ERC-20 token has all its holders in the rows of one id.
    const end = this.#base.rowAtOrAfter(id + 1n)
    for (; this.#row < end; this.#row++) {
      if (this.#row % rowsPerStep === 0) await pace.rest()
      const change = touched.get(columns.parties[this.#row]!)
      if (change === undefined) continue
      await this.#copied.copy(copied, this.#row, pace)
      copied = this.#row + 1
      change.delta += this.#base.amountOf(this.#row)
    }
    await this.#copied.copy(copied, this.#row, pace)
    const fresh = this.builder.length
    for (const [party, { place, leg, delta }] of touched) {
      const flags = rowFlags.erc1155 | leg
      this.builder.setAmount(this.builder.append({ ...idFields(id), place, placeAt: 0, flags, party }), delta)
    }
    // What is copied amounts to something.
    this.builder.settle(fresh)
  }

  #touched(changes: readonly TokenChange[]): Map<number, Touch> {
    const touched = new Map<number, Touch>()
    const touch = (address: Address, place: Uint8Array, leg: number, added: bigint): void => {
      if (address === zeroAddress) return
      const party = this.builder.addresses.addText(address)
      touched.set(party, { place, leg, delta: (touched.get(party)?.delta ?? 0n) + added })
    }
    for (const { from, to, amount, place } of changes) {
      if (from !== to) touch(from, place, rowFlags.giver, -amount)
      touch(to, place, 0, from === to ? 0n : amount)
    }
    return touched
  }

  /** Up to a row, of which some ids may be copied already. */
  async #copyTo(row: number, pace: Pace): Promise<void> {
    if (this.#row >= row) return
    if (this.#within > 0) {
      this.#part(this.#row, this.#within, this.#base.countOf(this.#row))
      this.#row++
      this.#within = 0
    }
    await this.#copied.copy(this.#row, row, pace)
    this.#row = row
  }

  /** Copies the ids of a range before one, and leaves that one out. */
  #skipWithin(row: number, id: bigint): void {
    const at = Number(id - this.#base.idOf(row))
    this.#part(row, this.#within, at)
    this.#within = at + 1
    if (this.#within < this.#base.countOf(row)) return
    this.#row++
    this.#within = 0
  }

  #part(row: number, from: number, to: number): void {
    if (to <= from) return
    const { columns } = this.#base
    const id = this.#base.idOf(row) + BigInt(from)
    const place = { place: columns.places, placeAt: row * placeBytes }
    const rest = { flags: columns.flags[row]!, party: columns.parties[row]! }
    const made = this.builder.append({ ...idFields(id), ...place, ...rest })
    this.builder.setRange(made, to - from, columns.offsets![row]! + from)
    this.builder.setMint(made, made + 1, this.#oldMint(row))
  }

  #oldMint(row: number): { block: number; minter: number } {
    return { block: this.#base.columns.mintBlocks[row]!, minter: this.#base.columns.minters[row]! }
  }

  #mintOf(id: bigint): { block: number; minter: number } {
    const mint = this.#mints.get(id)
    const minter = mint?.minter === undefined ? noAddress : this.builder.addresses.addText(mint.minter)
    return { block: mint?.block ?? 0, minter }
  }
}

type Touch = { place: Uint8Array; leg: number; delta: bigint }

export function idFields(id: bigint): { id: Uint8Array; idFrom: number; idTo: number } {
  return { id: Buffer.from(id.toString(16).padStart(64, '0'), 'hex'), idFrom: 0, idTo: 32 }
}
