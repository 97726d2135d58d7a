// Keeps runs few: sixteen of like size become one. A merge moves records in the order of their keys, some at a time and
// each time within one transaction: what was moved is gone from the runs that it came from. So every record is in one
// place at any moment, a crash loses nothing, answers need not know of merges, and a merge of any size needs no room.
import { AlmanacError } from '../../errors.ts'
import { indexViews } from '../indexes/all-indexes.ts'
import { activityView } from '../runs/activity-view.ts'
import { countView } from '../runs/count-view.ts'
import { joinMembers } from '../runs/members.ts'
import { levelOf, mergeRecords, RunCursor, recordsPerStep, transferLevelMax } from '../runs/merge.ts'
import { compareKeys, type Pack, PackWriter } from '../runs/pack.ts'
import { transferView } from '../runs/transfer-view.ts'
import type { View } from '../runs/view.ts'
import type { RunSummary } from '../store.ts'
import { chainRow } from './chain-row.ts'
import type { Core } from './core.ts'
import { pendingOf } from './coverage-table.ts'
import { dropRun, insertRuns, type StoredPack } from './runs.ts'
import { insertPacks, lock, nextNumber, row, rows, run, type Work } from './work.ts'

/** Those that are kept in runs. One that this version does not know stays as it is. */
export const views: readonly View[] = [activityView, transferView, countView, ...indexViews]

/**
 * Transfers that are not claimed yet may have to go again, with their records of indexes, which is quick only while
 * they are runs of their own: that begin or end within the range which waits. A run that reaches over all of it was
 * there before, and has none of its rows.
 */
export const viewsOfTransfers: readonly View[] = [transferView, ...indexViews]

/** It comes with up to two counts, and has up to four records in indexes. */
export const recordsPerTransfer = 7

const passing: readonly string[] = ['store_full', 'store_locked', 'conflict']

/**
 * Each commit pays its share, after it is stored: a record is merged once for each level above its own. So merges are
 * spread over all commits, and none has to wait for a large one. What is too little to be worth a step is owed.
 */
export class Merges {
  readonly #core: Core
  /** Records, by chain. */
  readonly #owed = new Map<number, number>()

  constructor(core: Core) {
    this.#core = core
  }

  async pay(chain: number, recordsAdded: number): Promise<void> {
    const { engine } = this.#core
    const { recordsWorthMerging: worth } = this.#core.options
    const owed = (this.#owed.get(chain) ?? 0) + recordsAdded
    this.#owed.set(chain, owed)
    if (owed < worth) return
    this.#owed.set(chain, 0)
    try {
      const levels = await engine.read(() => highestLevel(chain))
      for (let left = owed * Math.max(1, levels); left > 0; ) {
        const limit = Math.max(worth, Math.min(left, recordsPerStep))
        const done = await engine.write(() => mergeStep(this.#core, chain, limit), { unseen: true })
        if (done === 0) return
        left -= done
      }
    } catch (error) {
      // The commit is stored. Runs that are not merged now are merged after a later one, or by another holder.
      const isPassing = error instanceof AlmanacError && (error.retryable || passing.includes(error.code))
      if (!isPassing) throw error
    }
  }
}

function* highestLevel(chain: number): Work<number> {
  return (yield* row('SELECT max(level) FROM runs WHERE chain = $1', chain))?.[0] ?? 0
}

const ofKnown = `view IN (${views.map(({ id }) => id).join()})`
const findRuns = `SELECT slot, view, level, id, from_block, to_block FROM runs
  WHERE chain = $1 AND ${ofKnown} AND growing = 0 AND target IS NULL
  AND from_block <= $2 AND NOT (view = ${transferView.id} AND level >= ${transferLevelMax}) ORDER BY level, slot, view, id`
const findGrowing = `SELECT slot, view, id FROM runs WHERE chain = $1 AND ${ofKnown} AND growing = 1
  ORDER BY level, slot, view LIMIT 1`

type Source = { slot: number; view: View; level: number; id: number; from: number; to: number }

/** Moves up to `limit` records, small runs first. Answers how many; 0 where there is nothing to do. */
export function* mergeStep(core: Core, chain: number, limit: number): Work<number> {
  // Another change of the runs goes on; a merge does not wait for it.
  if (!(yield* lock('runs', chain, 'try'))) return 0
  const sources = yield* nextSources(chain, core.options.runsPerMerge)
  if (sources !== undefined) yield* begin(chain, sources)
  const growing = yield* row(findGrowing, chain)
  if (growing === undefined) return 0
  const [slot, view, target] = growing
  return yield* grow(core, { slot, view: views.find(({ id }) => id === view)!, target }, limit)
}

function* nextSources(chain: number, perMerge: number): Work<Source[] | undefined> {
  const pending = yield* pendingOf(chain)
  // What a fold that was cut off left is merged with nothing: the next one deletes it.
  const { fold } = yield* chainRow(chain)
  const isWaiting = (view: View, from: number, to: number): boolean =>
    viewsOfTransfers.includes(view) &&
    pending.some(range => (from >= range.from && from <= range.to) || (to >= range.from && to <= range.to))
  let alike: Source[] = []
  for (const [slot, viewId, level, id, from, to] of yield* rows(findRuns, chain, fold)) {
    const view = views.find(each => each.id === viewId)!
    if (isWaiting(view, from, to)) continue
    const [first] = alike
    if (first?.slot !== slot || first?.view !== view || first?.level !== level) alike = []
    alike.push({ slot, view, level, id, from, to })
    if (alike.length === perMerge) return alike
  }
  return undefined
}

function* begin(chain: number, sources: readonly Source[]): Work<void> {
  const { slot, view, level } = sources[0]!
  const ids = sources.map(({ id }) => id)
  const members =
    view.keysBeginWith === 'contract'
      ? joinMembers(
          (yield* rows('SELECT contracts FROM runs WHERE slot = $1 AND id IN $2:ints', slot, ids)).map(([own]) => own),
        )
      : undefined
  const id = yield* nextNumber()
  const from = Math.min(...sources.map(each => each.from))
  const to = Math.max(...sources.map(each => each.to))
  yield* insertRuns([{ slot, id, chain, view, from, to, level: level + 1, records: 0, growing: true, members }])
  yield* run('UPDATE runs SET target = $2 WHERE slot = $1 AND id IN $3:ints', slot, id, ids)
}

type Growing = { slot: number; view: View; target: number }

function* grow(core: Core, { slot, view, target }: Growing, limit: number): Work<number> {
  const found = yield* rows('SELECT id FROM runs WHERE slot = $1 AND target = $2', slot, target)
  const sources = found.map(
    ([id]): MergeSource => ({ run: id, packsAfter: (key, max) => packsAfter(slot, id, key, max) }),
  )
  const move = yield* moveRecords(view, sources, limit, core.engine.packBytesOf(view))
  yield* apply({ slot, target }, move)
  return move.read
}

function* packsAfter(slot: number, id: number, key: Uint8Array | undefined, max: number): Work<StoredPack[]> {
  const find = (after: string): string =>
    `SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2 AND ${after} ORDER BY key LIMIT $3:int`
  const found = key === undefined ? rows(find('true'), slot, id, max) : rows(find('key > $4'), slot, id, max, key)
  return (yield* found) as StoredPack[]
}

function* apply({ slot, target }: Pick<Growing, 'slot' | 'target'>, move: Move): Work<void> {
  const { packs, emptied, shortened, isDone } = move
  for (const id of emptied) yield* dropRun({ slot, id })
  for (const { run: id, upTo, rest, passed } of shortened) {
    yield* run('DELETE FROM packs WHERE slot = $1 AND run = $2 AND key <= $3', slot, id, upTo)
    yield* insertPacks(slot, id, rest)
    yield* run('UPDATE runs SET records = records - $3 WHERE slot = $1 AND id = $2', slot, id, passed)
  }
  yield* insertPacks(slot, target, packs)
  const moved = packs.reduce((sum, { records }) => sum + records, 0)
  yield* run('UPDATE runs SET records = records + $3 WHERE slot = $1 AND id = $2', slot, target, moved)
  if (!isDone) return
  const made = Number((yield* row('SELECT records FROM runs WHERE slot = $1 AND id = $2', slot, target))![0])
  if (made === 0) yield* dropRun({ slot, id: target })
  else yield* run('UPDATE runs SET growing = 0, level = $3 WHERE slot = $1 AND id = $2', slot, target, levelOf(made))
}

const summarise = `SELECT chain, view, count(*), sum(records), coalesce(sum(CASE WHEN target IS NULL THEN 0 ELSE records END), 0)
  FROM runs GROUP BY chain, view ORDER BY chain, view`

/** By chain and view: a look at one small table. */
export function* runSummaries(core: Core): Work<RunSummary[]> {
  const summaries: RunSummary[] = []
  for (const [ordinal, id, runs, records, mergingRecords] of yield* rows(summarise)) {
    const chain = yield* core.dictionary.chainOf(ordinal)
    const view = views.find(each => each.id === id)?.name ?? String(id)
    summaries.push({ chain, view, runs, records: Number(records), mergingRecords: Number(mergingRecords) })
  }
  return summaries
}

/** A run that records are taken from. */
export type MergeSource = {
  run: number
  /** Its next packs, fewer than `max` at its end. */
  packsAfter: (key: Uint8Array | undefined, max: number) => Work<StoredPack[]>
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

export function* moveRecords(
  view: View,
  sources: readonly MergeSource[],
  limit: number,
  packBytes?: number,
): Work<Move> {
  const cursors = sources.map(source => new SourceCursor(view, source))
  for (const cursor of cursors) yield* cursor.readOn()
  const left: SourceCursor[] = cursors.filter(cursor => cursor.step())
  const packs: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => packs.push(pack), packBytes)
  let read = 0
  while (left.length > 0 && read < limit) {
    for (const cursor of left) yield* cursor.readOn()
    const until = left.map(cursor => cursor.until).reduce(least, undefined)
    read += mergeRecords(left, writer, view.combine, limit - read, until)
  }
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

/**
 * Reads its run as the merge comes to it, so little is read in vain however the keys of runs lie to each other. It
 * never leaves its last pack before it knows whether there is another.
 */
class SourceCursor extends RunCursor {
  readonly run: number
  /** Records from this key on may follow one that is not read yet. Undefined at the end of the run. */
  until: Uint8Array | undefined
  readonly #view: View
  readonly #packsAfter: MergeSource['packsAfter']
  /** Read, and not opened yet. */
  #ahead: StoredPack[] = []
  #packKey: Uint8Array | undefined
  #opened = 0
  #isRead = false

  constructor(view: View, { run, packsAfter }: MergeSource) {
    super(view.keyBytes, () => {
      const [key, bytes] = this.#ahead.shift() ?? []
      if (key === undefined) return undefined
      this.#packKey = key
      this.#opened++
      return bytes
    })
    this.run = run
    this.#view = view
    this.#packsAfter = packsAfter
  }

  /** Of what gives much, more is read at once. */
  *readOn(): Work<void> {
    if (this.#isRead || this.#ahead.length > 0) return
    const max = 2 + Math.ceil(this.#opened / 2)
    this.#ahead = yield* this.#packsAfter(this.#packKey, max)
    this.#isRead = this.#ahead.length < max
    this.until = this.#isRead ? undefined : this.#ahead.at(-1)![0]
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
