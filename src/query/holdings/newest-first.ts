// The rows of a sheet in the order in which they are answered: newest change first, the recipient before the giver,
// greater ids first. No reading.
import { placeBytes, wordAt } from '../../store/runs/place-key.ts'
import { inSteps, type Pace } from '../pace.ts'
import { comparePlaces, rowFlags, type SheetColumns } from './sheet.ts'
import { radixRowsMin, sortedByWord } from './sort-by-word.ts'

export async function newestFirst(columns: SheetColumns, pace: Pace): Promise<Uint32Array> {
  return await newestOf(await shownRows(columns, pace), columns, pace)
}

export async function newestOf(rows: Uint32Array, columns: SheetColumns, pace: Pace): Promise<Uint32Array> {
  if (rows.length < radixRowsMin) return sorted(rows, columns)
  // A place counts blocks down, so its first four bytes rise.
  const blocks = new Uint32Array(columns.length)
  await inSteps(columns.length, pace, row => {
    blocks[row] = wordAt(columns.places, row * placeBytes)
  })
  return await sortedByWord(rows, { words: blocks, sortEqual: equal => sorted(equal, columns), pace })
}

async function shownRows({ flags, length }: SheetColumns, pace: Pace): Promise<Uint32Array> {
  const rows = new Uint32Array(length)
  let count = 0
  await inSteps(length, pace, row => {
    if ((flags[row]! & rowFlags.impossible) === 0) rows[count++] = row
  })
  return rows.subarray(0, count)
}

function sorted(rows: Uint32Array, columns: SheetColumns): Uint32Array {
  return rows.slice().sort((a, b) => compareRows(columns, a, b))
}

/** Negative where the first comes before. */
export function compareRows({ places, flags, ids, idWidth }: SheetColumns, a: number, b: number): number {
  const byPlace = comparePlaces(places, a * placeBytes, places, b * placeBytes)
  if (byPlace !== 0) return byPlace
  const byLeg = (flags[a]! & rowFlags.giver) - (flags[b]! & rowFlags.giver)
  if (byLeg !== 0) return byLeg
  for (let at = 0; at < idWidth; at++) {
    const byId = ids[b * idWidth + at]! - ids[a * idWidth + at]!
    if (byId !== 0) return byId
  }
  return 0
}
