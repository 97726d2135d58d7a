// Keeps runs few: sixteen of like size become one. A merge moves records in the order of their keys, some at a time and
// each time within one transaction: what was moved is gone from the runs that it came from. So every record is in one
// place at any moment, a crash loses nothing, answers need not know of merges, and a merge of any size needs no room.
import { AlmanacError } from '../../errors.ts'
import { indexViews } from '../indexes/all-indexes.ts'
import { activityView } from '../runs/activity-view.ts'
import { countView } from '../runs/count-view.ts'
import { recordsPerStep, recordsWorthMerging } from '../runs/levels.ts'
import { mergeRecords, RunCursor } from '../runs/merge.ts'
import { compareKeys, type Pack, PackWriter } from '../runs/pack.ts'
import { transferView } from '../runs/transfer-view.ts'
import type { View } from '../runs/view.ts'

/** Those that are kept in runs. One that this version does not know stays as it is. */
export const views: readonly View[] = [activityView, transferView, countView, ...indexViews]

/**
 * Transfers that are not claimed yet may have to go again, with their records of indexes, which is quick only while
 * they are runs of their own: that begin or end within the range which waits. A run that reaches over all of it was
 * there before, and has none of its rows.
 */
export const viewsOfTransfers: readonly View[] = [transferView, ...indexViews]

export type Merging = {
  recordsAdded: number
  bulkRows: number
  /** The highest level that there is. */
  levels: () => number | Promise<number>
  /** Moves up to `limit` records in one transaction, small runs first, and returns how many; 0: nothing to do. */
  step: (limit: number) => Promise<number>
}

const passing: readonly string[] = ['store_full', 'store_locked', 'conflict']

/**
 * Each commit pays its share, after it is stored: a record is merged once for each level above its own. So merges are
 * spread over all commits, and none has to wait for a large one.
 */
export async function payMerges({ recordsAdded, bulkRows, levels, step }: Merging): Promise<void> {
  const worth = Math.min(recordsWorthMerging, bulkRows)
  if (recordsAdded < worth) return
  try {
    for (let left = recordsAdded * Math.max(1, await levels()); left >= worth; ) {
      const done = await step(Math.min(left, recordsPerStep))
      if (done === 0) return
      left -= done
    }
  } catch (error) {
    // The commit is stored. Runs that are not merged now are merged after a later one, or by another holder.
    const isPassing = error instanceof AlmanacError && (error.retryable || passing.includes(error.code))
    if (!isPassing) throw error
  }
}

/** A run that records are taken from, with its first packs. */
export type MergeSource = {
  run: number
  next: () => { key: Uint8Array; bytes: Uint8Array } | undefined
  /** Records from this key on may follow one that is not here. */
  until?: Uint8Array | undefined
}

/** What one step changes. */
export type Move = {
  /** At least 1. */
  read: number
  /** For the end of the target. */
  packs: Pack[]
  /** Sources that have nothing left. */
  emptied: number[]
  /** Sources whose packs up to one, with it, are replaced by the rest of it. */
  shortened: { run: number; upTo: Uint8Array; rest: Pack[]; passed: number }[]
  isDone: boolean
}

export function moveRecords(view: View, sources: readonly MergeSource[], limit: number, packBytes?: number): Move {
  const cursors = sources.map(source => new SourceCursor(view, source))
  const left: RunCursor[] = cursors.filter(cursor => cursor.step())
  const until = sources.map(source => source.until).reduce(least, undefined)
  const packs: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => packs.push(pack), packBytes)
  const read = mergeRecords(left, writer, view.combine, limit, until)
  writer.flush()
  const [ended, open] = [cursors.filter(each => !left.includes(each)), cursors.filter(each => left.includes(each))]
  return {
    read: read + 1,
    packs,
    emptied: ended.map(({ run }) => run),
    shortened: open.flatMap(cursor => (cursor.passed === 0 ? [] : cursor.shortened(packBytes))),
    isDone: left.length === 0,
  }
}

class SourceCursor extends RunCursor {
  readonly run: number
  readonly #view: View
  #packKey: Uint8Array | undefined

  constructor(view: View, { run, next }: MergeSource) {
    super(view.keyBytes, () => {
      const pack = next()
      if (pack !== undefined) this.#packKey = pack.key
      return pack?.bytes
    })
    this.run = run
    this.#view = view
  }

  /** Without what is before the record that it stands on. */
  shortened(packBytes: number | undefined): Move['shortened'][number] {
    const { run, reader, passed } = this
    const rest: Pack[] = []
    const writer = new PackWriter(this.#view.keyBytes, pack => rest.push(pack), packBytes)
    do writer.add(reader.key, reader.value, reader.valueLength)
    while (reader.next())
    writer.flush()
    return { run, upTo: this.#packKey!, rest, passed }
  }
}

function least(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareKeys(a, b) <= 0 ? a : b
}
