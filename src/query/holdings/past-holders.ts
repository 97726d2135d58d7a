// How many holders an ERC-20 token had at earlier moments: its newest transfers are taken back one after the other,
// from the sheet of the block that is asked about. It reads a bounded number of them.
import type { Address, ChainId, Position } from '../../model.ts'
import type { TransferReader } from '../../store/store.ts'
import { layOut, newLayout, type PayloadLayout } from '../../store/transfer-payload.ts'
import { AddressTable, viewOf } from './address-table.ts'
import { rowsByParty } from './amount-order.ts'
import { amountOf } from './fold-contract.ts'
import type { Work } from './holdings-admission.ts'
import type { Sheet } from './sheet.ts'

/** Some seconds of reading, in turns with others. Moments before that are not known. */
const transfersMax = 100_000
const transfersPerRead = 1_000
/** Of an address that a transfer touched: its bytes, what it had, and its places in tables. */
const touchedBytes = 200

export type PastAsked = { chain: ChainId; contract: Address; block: number; moments: readonly number[] }

/**
 * After the last block at or before each moment, in unix seconds and the newest first; undefined where finding it takes
 * more than is read.
 */
export async function pastHolders(
  reader: Pick<TransferReader, 'transferPage'>,
  sheet: Sheet,
  { chain, contract, block, moments }: PastAsked,
  work: Work,
): Promise<(number | undefined)[]> {
  const rowsBytes = sheet.addresses.length * Uint32Array.BYTES_PER_ELEMENT
  work.takes(rowsBytes)
  const past = new Past(sheet, await rowsByParty(sheet, work.pace))
  const counts: number[] = []
  const layout = newLayout()
  let after: Position | undefined
  for (let read = 0; read < transfersMax && counts.length < moments.length; ) {
    const query = { chain, contract, order: 'desc', toBlock: block, limit: transfersPerRead } as const
    const page = await reader.transferPage(after === undefined ? query : { ...query, after })
    for (let row = 0, at = 0; row < page.length; row++, at = layout.end) {
      while (page.timestamps[row]! <= moments[counts.length]!) counts.push(past.holders)
      layOut(page.payloads, at, layout)
      past.takeBack(page.payloads, layout)
    }
    if (page.length < transfersPerRead) {
      // There are none before: at every earlier moment it was as it is now.
      while (counts.length < moments.length) counts.push(past.holders)
      break
    }
    const last = page.length - 1
    after = {
      ...{ block: page.blocks[last]!, transactionIndex: page.transactionIndexes[last]! },
      ...{ logIndex: page.logIndexes[last]!, batchIndex: page.batchIndexes[last]! },
    }
    read += page.length
    work.takes(rowsBytes + past.touched * touchedBytes)
    await work.pace.rest()
  }
  return moments.map((_, at) => counts[at])
}

class Past {
  holders: number
  readonly #sheet: Sheet
  readonly #rows: Uint32Array
  readonly #addresses = new AddressTable()
  /** Of those that were touched, by their numbers here. */
  readonly #amounts: bigint[] = []

  constructor(sheet: Sheet, rows: Uint32Array) {
    this.#sheet = sheet
    this.#rows = rows
    this.holders = sheet.parties
  }

  get touched(): number {
    return this.#amounts.length
  }

  takeBack(payloads: Uint8Array, { to, from, operator, amount, value }: PayloadLayout): void {
    const moved = BigInt(amountOf(payloads, amount, value))
    // What goes to where it came from changes nothing, and both are done.
    if (to < from) this.#add(payloads, to, -moved)
    if (from < operator) this.#add(payloads, from, moved)
  }

  #add(payloads: Uint8Array, at: number, added: bigint): void {
    const view = viewOf(payloads)
    const number = this.#addresses.addAt(view, at)
    const before = this.#amounts[number] ?? this.#heldNow(view, at)
    const amount = before + added
    this.#amounts[number] = amount
    if (before > 0n && amount <= 0n) this.holders--
    if (before <= 0n && amount > 0n) this.holders++
  }

  #heldNow(view: DataView, at: number): bigint {
    const party = this.#sheet.addresses.numberAt(view, at)
    const row = party === undefined ? 0 : (this.#rows[party] ?? 0)
    return row === 0 ? 0n : this.#sheet.amountOf(row - 1)
  }
}
