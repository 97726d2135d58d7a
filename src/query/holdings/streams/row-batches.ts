// The rows of sheets in the order of their lists, some at a time, with the ids of ranges one by one. No reading.
import type { Address } from '../../../model.ts'
import { Pace } from '../../pace.ts'
import { hashBoundsOf, hasRanges } from '../contract-nfts.ts'
import { hashOrder } from '../hash-order.ts'
import type { ContractNftsQuestion } from '../questions.ts'
import { rowFlags, type Sheet } from '../sheet.ts'

export type RowBatch = {
  sheet: Sheet
  length: number
  rows: Uint32Array
  /** How far each id is from the first of its row. */
  withins: Uint32Array
}

/** Newest change first. `isShown` is absent where all are. */
export async function* newestBatches(
  sheet: Sheet,
  size: number,
  isShown?: ((party: number) => boolean | Promise<boolean>) | undefined,
): AsyncGenerator<RowBatch> {
  const pace = new Pace()
  let batch = newBatch(sheet, size)
  for (const [at, row] of sheet.order.entries()) {
    if (isShown !== undefined) {
      // Most rows may be of other contracts than those wanted.
      if (at % 256 === 0) await pace.rest()
      const shown = isShown(sheet.columns.parties[row]!)
      if (!(typeof shown === 'boolean' ? shown : await shown)) continue
    }
    for (let within = sheet.countOf(row) - 1; within >= 0; within--) {
      if (put(batch, row, within) < size) continue
      yield batch
      batch = newBatch(sheet, size)
    }
  }
  if (batch.length > 0) yield batch
}

/** The tokens of a contract by falling hash, then ids of ranges, each with its newest holder. */
export async function* hashBatches(
  sheet: Sheet,
  { contract, part, size }: { contract: Address; part: ContractNftsQuestion['part']; size: number },
): AsyncGenerator<RowBatch> {
  let batch = newBatch(sheet, size)
  for (const row of await hashOrder(sheet, contract, hashBoundsOf(part))) {
    if (put(batch, row, 0) < size) continue
    yield batch
    batch = newBatch(sheet, size)
  }
  const { counts, flags, length } = sheet.columns
  if (counts !== undefined && hasRanges(part))
    for (let row = 0; row < length; row++) {
      if ((flags[row]! & rowFlags.range) === 0) continue
      for (let within = 0; within < counts[row]!; within++) {
        if (put(batch, row, within) < size) continue
        yield batch
        batch = newBatch(sheet, size)
      }
    }
  if (batch.length > 0) yield batch
}

function newBatch(sheet: Sheet, size: number): RowBatch {
  return { sheet, length: 0, rows: new Uint32Array(size), withins: new Uint32Array(size) }
}

function put(batch: RowBatch, row: number, within: number): number {
  batch.rows[batch.length] = row
  batch.withins[batch.length] = within
  return ++batch.length
}
