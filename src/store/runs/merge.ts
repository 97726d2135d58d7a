// Merges runs: streams of packs in the order of their keys become one. Records of one key become one record by the rule
// of their view. And how many runs of like size are merged, and of which size a run is. Pure.
import { compareKeys, PackReader, type PackWriter, valueBytesMax } from './pack.ts'

/** How two values of one key become one, in any order of the two. Writes into `target` and returns the length. */
export type Combine = (target: Uint8Array, a: Uint8Array, aLength: number, b: Uint8Array, bLength: number) => number

/** A run as a merge reads it. */
export class RunCursor {
  readonly reader: PackReader
  /** How many records were left behind. */
  passed = -1
  readonly #nextPack: () => Uint8Array | undefined

  constructor(keyBytes: number, nextPack: () => Uint8Array | undefined) {
    this.reader = new PackReader(keyBytes)
    this.#nextPack = nextPack
  }

  /** False at the end of the run. */
  step(): boolean {
    this.passed++
    while (!this.reader.next()) {
      const pack = this.#nextPack()
      if (pack === undefined) return false
      this.reader.open(pack)
    }
    return true
  }
}

/**
 * Moves up to `limit` records, and those of a key all at once, from the cursors, which stand on their first record,
 * into the writer; none from the key `until` on. Cursors at their end leave the list. Returns how many records were
 * read.
 */
export function mergeRecords<Cursor extends RunCursor>(
  cursors: Cursor[],
  writer: PackWriter,
  combine: Combine,
  limit: number,
  until?: Uint8Array,
): number {
  const value = new Uint8Array(valueBytesMax)
  const held = new Uint8Array(valueBytesMax)
  let read = 0
  // Insertion keeps the list in order: with a dozen runs that is quicker than a heap.
  cursors.sort((a, b) => compareReaders(a.reader, b.reader))
  while (cursors.length > 0 && read < limit) {
    const first = cursors[0]!
    const { reader } = first
    if (until !== undefined && compareKeys(reader.key, until) >= 0) break
    if (cursors.length === 1 || compareReaders(reader, cursors[1]!.reader) < 0) {
      writer.add(reader.key, reader.value, reader.valueLength)
      advance(cursors)
      read++
      continue
    }
    const key = reader.key.slice()
    let length = reader.valueLength
    value.set(reader.value)
    advance(cursors)
    read++
    while (cursors.length > 0 && compareKeys(cursors[0]!.reader.key, key) === 0) {
      const other = cursors[0]!.reader
      held.set(value)
      length = combine(value, held, length, other.value, other.valueLength)
      advance(cursors)
      read++
    }
    writer.add(key, value, length)
  }
  return read
}

/** Steps the first cursor and puts it where it belongs. */
function advance<Cursor extends RunCursor>(cursors: Cursor[]): void {
  const first = cursors[0]!
  if (!first.step()) {
    cursors.shift()
    return
  }
  let at = 0
  while (at + 1 < cursors.length && compareReaders(first.reader, cursors[at + 1]!.reader) > 0) {
    cursors[at] = cursors[at + 1]!
    at++
  }
  cursors[at] = first
}

function compareReaders(a: PackReader, b: PackReader): number {
  return a.prefix - b.prefix || compareKeys(a.key, b.key)
}

/**
 * Runs of one level are of like size; each level is sixteen times as large as the one below. With eight a record is
 * written a third more often; with more a wallet is looked up in more runs.
 */
export const runsPerMerge = 16
/** Commits of few records are runs of their own too, of the lowest level. */
const smallestRun = 32

export function levelOf(records: number): number {
  return Math.max(0, Math.floor(Math.log(records / smallestRun) / Math.log(runsPerMerge)))
}

/**
 * Transfers of this level, some millions, are merged no more: a page opens the runs of its blocks alone, however many
 * there are. Measured at 90 million: to merge sixteen of them took as long as to index 60 million more.
 */
export const transferLevelMax = 4

/** Records that one step of a merge moves: a fraction of a second. */
export const recordsPerStep = 32_768
/** A step writes a pack again in each run that it takes from: less than this is not worth it. */
export const recordsWorthMerging = 1_000
