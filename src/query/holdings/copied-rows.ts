// The rows of a sheet that go over into a newer one as they are, and the order of both them and the new ones. No
// reading.
import { mergedOrder, newestOf } from './newest-first.ts'
import { Pace } from './pace.ts'
import { rowFlags, type Sheet, type SheetColumns } from './sheet.ts'
import type { SheetBuilder } from './sheet-builder.ts'

const notCopied = 0xffff_ffff

export class CopiedRows {
  readonly #base: Sheet
  readonly #builder: SheetBuilder
  /** Where rows of the base are now. */
  readonly #copies: Uint32Array

  constructor(base: Sheet, builder: SheetBuilder) {
    this.#base = base
    this.#builder = builder
    this.#copies = new Uint32Array(base.columns.length).fill(notCopied)
  }

  copy(from: number, to: number): void {
    for (let row = from; row < to; row++) this.#copies[row] = this.#builder.length + row - from
    this.#builder.copyRows(this.#base.columns, from, to)
  }

  async finish(): Promise<Sheet> {
    return await this.#builder.finish(new Pace(), (columns, pace) => this.#order(columns, pace))
  }

  /** Copied rows stay in their order. */
  async #order(columns: SheetColumns, pace: Pace): Promise<Uint32Array> {
    const copied = new Uint32Array(this.#base.order.length)
    const isCopied = new Uint8Array(columns.length)
    let count = 0
    // Loops: callbacks take three times as long for a million rows.
    for (let at = 0; at < copied.length; at++) {
      const row = this.#copies[this.#base.order[at]!]!
      if (row === notCopied) continue
      copied[count++] = row
      isCopied[row] = 1
    }
    await pace.rest()
    const fresh: number[] = []
    for (let row = 0; row < columns.length; row++)
      if (isCopied[row] === 0 && (columns.flags[row]! & rowFlags.impossible) === 0) fresh.push(row)
    await pace.rest()
    const newest = await newestOf(Uint32Array.from(fresh), columns, pace)
    return mergedOrder(columns, copied.subarray(0, count), newest)
  }
}
