// The rows of a sheet in the order in which they are answered: newest change first, the recipient before the giver,
// greater ids first. Sorted by block in linear time: a comparison sort of a million rows takes ten times as long.
import { placeBytes, wordAt } from '../../store/runs/place-key.ts'
import type { Pace } from './pace.ts'
import { comparePlaces, rowFlags, type SheetColumns } from './sheet.ts'

const digits = 1 << 16
/** Fewer are sorted by comparing. */
const radixRowsMin = 5_000

export async function newestFirst(columns: SheetColumns, pace: Pace): Promise<Uint32Array> {
  const rows = shownRows(columns)
  // A place counts blocks down, so its first four bytes rise.
  const blocks = new Uint32Array(columns.length)
  for (let row = 0; row < columns.length; row++) blocks[row] = wordAt(columns.places, row * placeBytes)
  return await sortedByWord(rows, { words: blocks, sortEqual: equal => sorted(equal, columns), pace })
}

/** Rows by rising `words[row]`; those with the same word are sorted by comparing. */
export async function sortedByWord(
  rows: Uint32Array,
  { words, sortEqual, pace }: { words: Uint32Array; sortEqual: (rows: Uint32Array) => Uint32Array; pace: Pace },
): Promise<Uint32Array> {
  await pace.rest()
  const compared = rows.length < radixRowsMin ? rows.slice().sort((a, b) => words[a]! - words[b]!) : undefined
  const order = compared ?? sortedByDigit(sortedByDigit(rows, words, 0), words, 16)
  await pace.rest()
  for (let from = 0, runs = 0; from < order.length; runs++) {
    let to = from + 1
    while (to < order.length && words[order[to]!] === words[order[from]!]) to++
    if (to - from > 1) order.set(sortEqual(order.subarray(from, to)), from)
    from = to
    if (runs % 256 === 0) await pace.rest()
  }
  return order
}

function shownRows({ flags, length }: SheetColumns): Uint32Array {
  const rows = new Uint32Array(length)
  let count = 0
  for (let row = 0; row < length; row++) if ((flags[row]! & rowFlags.impossible) === 0) rows[count++] = row
  return rows.slice(0, count)
}

function sorted(rows: Uint32Array, { places, flags, ids, idWidth }: SheetColumns): Uint32Array {
  return rows.slice().sort((a, b) => {
    const byPlace = comparePlaces(places, a * placeBytes, places, b * placeBytes)
    if (byPlace !== 0) return byPlace
    const byLeg = (flags[a]! & rowFlags.giver) - (flags[b]! & rowFlags.giver)
    if (byLeg !== 0) return byLeg
    for (let at = 0; at < idWidth; at++) {
      const byId = ids[b * idWidth + at]! - ids[a * idWidth + at]!
      if (byId !== 0) return byId
    }
    return 0
  })
}

function sortedByDigit(rows: Uint32Array, keys: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(digits + 1)
  for (const row of rows) starts[((keys[row]! >>> shift) & (digits - 1)) + 1]!++
  for (let digit = 1; digit <= digits; digit++) starts[digit]! += starts[digit - 1]!
  const result = new Uint32Array(rows.length)
  for (const row of rows) result[starts[(keys[row]! >>> shift) & (digits - 1)]!++] = row
  return result
}
