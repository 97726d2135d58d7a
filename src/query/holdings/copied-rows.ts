// The rows of a sheet that go over into a newer one as they are, and the order of both them and the new ones. No
// reading.
import { inSteps, type Pace, rowsPerStep } from '../pace.ts'
import { mergedOrder, newestOf } from './newest-first.ts'
import { rowFlags, type Sheet, type SheetColumns } from './sheet.ts'
import type { SheetBuilder } from './sheet-builder.ts'

const notCopied = 0xffff_ffff
/** Few rows are new beside those that are copied. */
const freshShare = 0.1

export class CopiedRows {
  readonly #base: Sheet
  readonly #builder: SheetBuilder
  /** Where rows of the base are now. */
  readonly #copies: Uint32Array
  /** Rows of the builder that are not copied, up to `#seen`. */
  readonly #fresh: number[] = []
  #seen = 0

  constructor(base: Sheet, builder: SheetBuilder) {
    const { length, idWidth } = base.columns
    this.#base = base
    this.#builder = builder
    this.#copies = new Uint32Array(length).fill(notCopied)
    builder.reserve(Math.ceil(length * (1 + freshShare)) + 64, idWidth)
  }

  async copy(start: number, end: number, pace: Pace): Promise<void> {
    this.#noteFresh()
    for (let from = start; from < end; from += rowsPerStep) {
      const to = Math.min(end, from + rowsPerStep)
      for (let row = from; row < to; row++) this.#copies[row] = this.#builder.length + row - from
      this.#builder.copyRows(this.#base.columns, from, to)
      this.#seen = this.#builder.length
      await pace.rest()
    }
  }

  async finish(pace: Pace): Promise<Sheet> {
    this.#noteFresh()
    return await this.#builder.finish(pace, (columns, pace) => this.#order(columns, pace))
  }

  #noteFresh(): void {
    for (let row = this.#seen; row < this.#builder.length; row++) this.#fresh.push(row)
    this.#seen = this.#builder.length
  }

  /** Copied rows stay in their order. */
  async #order(columns: SheetColumns, pace: Pace): Promise<Uint32Array> {
    const { order } = this.#base
    const copied = new Uint32Array(order.length)
    let count = 0
    await inSteps(order.length, pace, at => {
      const row = this.#copies[order[at]!]!
      if (row !== notCopied) copied[count++] = row
    })
    const shown = this.#fresh.filter(row => (columns.flags[row]! & rowFlags.impossible) === 0)
    const newest = await newestOf(Uint32Array.from(shown), columns, pace)
    return mergedOrder(columns, copied.subarray(0, count), newest)
  }
}
