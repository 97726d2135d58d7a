// Keeps runs few: sixteen of like size become one. A merge moves records in the order of their keys, some at a time
// and each time within one transaction: what was moved is gone from the runs that it came from. So every record is in
// one place at any moment, a crash loses nothing, answers need not know of merges, and a merge of any size needs no
// room.
import { AlmanacError } from '../../../errors.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import { activityView } from '../../runs/activity-view.ts'
import { countView } from '../../runs/count-view.ts'
import { levelOf, recordsPerStep, recordsWorthMerging, runsPerMerge, transferLevelMax } from '../../runs/levels.ts'
import { joinMembers } from '../../runs/members.ts'
import { mergeRecords } from '../../runs/merge.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import type { Connection, Row } from '../connection.ts'
import type { StoreFile } from '../store-file.ts'
import { dropRun, membersOf, packInserter, replacePack, StoredCursor } from './runs.ts'

/** Those that this engine keeps in runs. */
export const views: readonly View[] = [activityView, transferView, countView, ...indexViews]

/**
 * Each commit pays its share, after it is stored: a record is merged once for each level above its own. So merges are
 * spread over all commits, and none has to wait for a large one.
 */
export async function mergeRuns(file: StoreFile, recordsAdded: number): Promise<void> {
  const { bulkRows, runsPerMerge: perMerge } = file.runs
  const worth = Math.min(recordsWorthMerging, bulkRows)
  if (recordsAdded < worth) return
  try {
    const levels = file.reading(read => read.get('SELECT max(level) FROM runs')?.[0] ?? 0) as number
    for (let left = recordsAdded * Math.max(1, levels); left >= worth; ) {
      const limit = Math.min(left, recordsPerStep)
      const done = await file.writingUnseen(connection => mergeStep(connection, limit, views, perMerge))
      if (done === 0) return
      left -= done
    }
  } catch (error) {
    // The commit is stored. Runs that are not merged now are merged after a later one, or by another holder.
    const code = error instanceof AlmanacError ? error.code : undefined
    if (code !== 'store_full' && code !== 'store_locked' && code !== 'conflict') throw error
  }
}

// Transfers that are not claimed yet may have to go again, with their records of indexes, which is quick only while
// they are runs of their own: that begin or end within the range which waits. A run that reaches over all of it was
// there before, and has none of its rows.
const ofTransfers = [transferView, ...indexViews].map(({ id }) => id).join()
const mergeable = `growing = 0 AND target IS NULL AND NOT (view = ${transferView.id} AND level >= ${transferLevelMax})
  AND (view NOT IN (${ofTransfers}) OR NOT EXISTS (
  SELECT 1 FROM pending_ranges AS pending WHERE pending.chain = runs.chain
  AND (runs.from_block BETWEEN pending.from_block AND pending.to_block
    OR runs.to_block BETWEEN pending.from_block AND pending.to_block)))`

/** Moves up to `limit` records, small runs first, and returns how many; 0 where there is nothing to do. */
export function mergeStep(
  connection: Connection,
  limit: number,
  known: readonly View[] = views,
  perMerge = runsPerMerge,
): number {
  // A view that this version does not know stays as it is.
  const ofKnown = `view IN (${known.map(({ id }) => id).join()})`
  const findMany = `SELECT chain, view, level FROM runs WHERE ${ofKnown} AND ${mergeable}
    GROUP BY chain, view, level HAVING count(*) >= ? ORDER BY level LIMIT 1`
  const many = connection.get(findMany, perMerge) as [number, number, number] | undefined
  if (many !== undefined) begin(connection, viewOf(known, many[1]), { chain: many[0], level: many[2], perMerge })
  const growing = connection.get(`SELECT id, view FROM runs WHERE growing = 1 AND ${ofKnown} ORDER BY level LIMIT 1`)
  if (growing === undefined) return 0
  return grow(connection, viewOf(known, growing[1] as number), growing[0] as number, limit)
}

function viewOf(known: readonly View[], id: number): View {
  const view = known.find(each => each.id === id)
  if (view === undefined) throw new Error(`There is no view ${id}.`)
  return view
}

function begin(
  connection: Connection,
  view: View,
  { chain, level, perMerge }: { chain: number; level: number; perMerge: number },
): void {
  const sources = connection.all(
    `SELECT id, from_block, to_block FROM runs WHERE chain = ? AND view = ? AND level = ? AND ${mergeable}
     ORDER BY id LIMIT ?`,
    ...[chain, view.id, level, perMerge],
  ) as [number, number, number][]
  const from = Math.min(...sources.map(([, first]) => first))
  const to = Math.max(...sources.map(([, , last]) => last))
  const contracts = view.byContract ? joinMembers(sources.map(([id]) => membersOf(connection, id))) : null
  const [target] = connection.get(
    `INSERT INTO runs (chain, view, from_block, to_block, level, growing, contracts) VALUES (?, ?, ?, ?, ?, 1, ?)
     RETURNING id`,
    ...[chain, view.id, from, to, level + 1, contracts],
  ) as Row
  for (const [id] of sources) connection.run('UPDATE runs SET target = ? WHERE id = ?', target as number, id)
}

function grow(connection: Connection, view: View, target: number, limit: number): number {
  const sources = connection.all('SELECT id FROM runs WHERE target = ?', target).map(([id]) => id as number)
  const all = sources.map(source => new StoredCursor(connection, view, source, new Uint8Array(view.keyBytes)))
  const left = all.filter(cursor => cursor.step())
  const { writer, records } = packInserter(connection, view, target)
  const read = mergeRecords(left, writer, view.combine, limit)
  for (const cursor of all)
    if (left.includes(cursor)) takeAway(connection, view, cursor)
    else dropRun(connection, cursor.run)
  writer.flush()
  connection.run('UPDATE runs SET records = records + ? WHERE id = ?', records(), target)
  if (left.length === 0) {
    const [made] = connection.get('SELECT records FROM runs WHERE id = ?', target) as Row
    if (made === 0) dropRun(connection, target)
    else connection.run('UPDATE runs SET growing = 0, level = ? WHERE id = ?', levelOf(made as number), target)
  }
  return read + 1
}

/** Deletes what is before the cursor. */
function takeAway(connection: Connection, view: View, { run, place, reader, passed }: StoredCursor): void {
  if (place === undefined || passed === 0) return
  const before = 'FROM pack_keys WHERE run = ? AND key < ?'
  connection.run(`DELETE FROM packs WHERE id IN (SELECT pack ${before})`, run, place.key)
  connection.run(`DELETE ${before}`, run, place.key)
  const rest: [Uint8Array, Uint8Array][] = []
  do rest.push([reader.key.slice(), reader.value.slice(0, reader.valueLength)])
  while (reader.next())
  replacePack(connection, view, { run, ...place }, rest)
  connection.run('UPDATE runs SET records = records - ? WHERE id = ?', passed, run)
}
