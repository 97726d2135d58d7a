// The rows of sheets in the order of their lists, some at a time, with the ids of ranges one by one only as far as they
// are asked for: a page is the first batch behind a key, a whole list is all of them. No reading.
import type { Address } from '../../model.ts'
import { placeBytes } from '../../store/runs/place-key.ts'
import { Pace } from '../pace.ts'
import { hashStretch } from './hash-order.ts'
import type { ContractNftKey, ContractNftsQuestion, HoldingKey } from './questions.ts'
import { comparePlaces, type Sheet } from './sheet.ts'
import { placeOf } from './subject.ts'

export type RowBatch = {
  sheet: Sheet
  length: number
  rows: Uint32Array
  /** How far each id is from the first of its row. */
  withins: Uint32Array
}

type NewestFirst = {
  after?: HoldingKey | undefined
  /** Absent: all rows. */
  isShown?: ((party: number) => boolean | Promise<boolean>) | undefined
}

/** Newest change first. */
export async function* newestBatches(
  sheet: Sheet,
  size: number,
  { after, isShown }: NewestFirst = {},
): AsyncGenerator<RowBatch> {
  const pace = new Pace()
  let batch = newBatch(sheet, size)
  for (let at = after === undefined ? 0 : sheet.seek(after); at < sheet.order.length; at++) {
    const row = sheet.order[at]!
    if (isShown !== undefined) {
      // Most rows of a large wallet may be of other contracts than those wanted.
      if (at % 256 === 0) await pace.rest()
      const shown = isShown(sheet.columns.parties[row]!)
      if (!(typeof shown === 'boolean' ? shown : await shown)) continue
    }
    const last = after === undefined ? sheet.countOf(row) - 1 : lastWithin(sheet, row, after)
    for (let within = last; within >= 0; within--) {
      if (put(batch, row, within) < size) continue
      yield batch
      batch = newBatch(sheet, size)
    }
  }
  if (batch.length > 0) yield batch
}

/** Of a range that a page ended in, what is left of it. */
function lastWithin(sheet: Sheet, row: number, { position, tokenId }: HoldingKey): number {
  const last = sheet.countOf(row) - 1
  const { places } = sheet.columns
  const isThis = sheet.isRange(row) && comparePlaces(places, row * placeBytes, placeOf(position), 0) === 0
  return isThis ? Math.min(last, Number(tokenId - 1n - sheet.idOf(row))) : last
}

type Part = ContractNftsQuestion['part']
type ByHash = { contract: Address; part: Part; size: number; after?: ContractNftKey | undefined }

/** The tokens of a contract by falling hash, then ids of ranges, ascending, each with its newest holder. */
export function* hashBatches(
  sheet: Sheet,
  order: Uint32Array,
  { contract, part, size, after }: ByHash,
): Generator<RowBatch> {
  let batch = newBatch(sheet, size)
  for (const row of hashedRows(sheet, order, { contract, part, after })) {
    if (put(batch, row, 0) < size) continue
    yield batch
    batch = newBatch(sheet, size)
  }
  if (sheet.columns.counts !== undefined && hasRanges(part)) {
    const afterId = after !== undefined && 'rangeId' in after ? after.rangeId : -1n
    // The row before may be a range that goes on beyond the id.
    for (let row = Math.max(0, sheet.rowAtOrAfter(afterId + 1n) - 1); row < sheet.columns.length; row++) {
      if (!sheet.isRange(row)) continue
      const passed = Number(afterId - sheet.idOf(row)) + 1
      for (let within = Math.max(0, passed); within < sheet.countOf(row); within++) {
        if (put(batch, row, within) < size) continue
        yield batch
        batch = newBatch(sheet, size)
      }
    }
  }
  if (batch.length > 0) yield batch
}

function hashedRows(
  sheet: Sheet,
  order: Uint32Array,
  { contract, part, after }: Omit<ByHash, 'size'>,
): Iterable<number> {
  if (after !== undefined && 'rangeId' in after) return []
  const { below, from } = hashBoundsOf(part)
  const isBelow = after !== undefined && (below === undefined || after.tokenHash < below)
  return hashStretch(sheet, order, contract, { below: isBelow ? after.tokenHash : below, from })
}

/** How many rows `hashBatches` have. */
export function hashTotal(sheet: Sheet, order: Uint32Array, { contract, part }: Omit<ByHash, 'size'>): number {
  if (part === undefined) return sheet.ids
  let count = hashStretch(sheet, order, contract, hashBoundsOf(part)).length
  const { counts, length } = sheet.columns
  if (counts !== undefined && hasRanges(part))
    for (let row = 0; row < length; row++) if (sheet.isRange(row)) count += counts[row]!
  return count
}

const hashSpace = 2n ** 128n

/** Ranges of hashes count from the high end. */
function hashBoundsOf(part: Part): { below: string | undefined; from: string | undefined } {
  if (part === undefined) return { below: undefined, from: undefined }
  const total = BigInt(part.totalRanges)
  const edge = (range: number): bigint => (BigInt(range) * hashSpace + total - 1n) / total
  const hex = (number: bigint): string => number.toString(16).padStart(32, '0')
  return {
    below: part.range === 0 ? undefined : hex(hashSpace - edge(part.range)),
    from: hex(hashSpace - edge(part.range + 1)),
  }
}

function hasRanges(part: Part): boolean {
  return part === undefined || part.range === part.totalRanges - 1
}

/** `last`: of the page, where more rows follow. */
export type RowPage = RowBatch & { last: { row: number; tokenId: bigint } | undefined }

/** The first rows of a list, whose batches are one row longer. */
export async function firstRows(
  sheet: Sheet,
  batches: Iterable<RowBatch> | AsyncIterable<RowBatch>,
  limit: number,
): Promise<RowPage> {
  for await (const batch of batches) {
    const length = Math.min(batch.length, limit)
    const last = batch.length > limit && limit > 0 ? limit - 1 : undefined
    return { ...batch, length, last: last === undefined ? undefined : heldAt(batch, last) }
  }
  return { ...newBatch(sheet, 0), last: undefined }
}

export function heldAt({ sheet, rows, withins }: RowBatch, at: number): { row: number; tokenId: bigint } {
  const row = rows[at]!
  return { row, tokenId: sheet.idOf(row) + BigInt(withins[at]!) }
}

function newBatch(sheet: Sheet, size: number): RowBatch {
  return { sheet, length: 0, rows: new Uint32Array(size), withins: new Uint32Array(size) }
}

function put(batch: RowBatch, row: number, within: number): number {
  batch.rows[batch.length] = row
  batch.withins[batch.length] = within
  return ++batch.length
}
