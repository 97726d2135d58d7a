// Keeps runs few: eight of like size become one. A merge goes on step by step, each within the transaction of its
// caller, and the store knows after each step where it stands: a crash loses nothing. Answers read the merged runs
// until the last step has put the new one in their place.
import { AlmanacError } from '../../../errors.ts'
import { activityView } from '../../runs/activity-view.ts'
import { mergeRecords, type RunCursor } from '../../runs/merge.ts'
import type { View } from '../../runs/view.ts'
import type { Connection, Row } from '../connection.ts'
import type { StoreFile } from '../store-file.ts'
import { cursorAt, levelOf, newRun, packInserter, runStates, runsPerMerge } from './runs.ts'

const views: readonly View[] = [activityView]

/** A record is merged once for each level above its own, and there are seldom more than these. */
const mergesPerRecord = 5
const recordsPerStep = 32_768

const packsPerSweep = 512
/** Taking a pack away costs about as much as merging this many records. */
const recordsPerPack = 16

/** Each commit pays its share, after it is stored: so writing takes as long in a large store as in a small one. */
export async function mergeRuns(file: StoreFile, recordsAdded: number): Promise<void> {
  try {
    for (let left = recordsAdded * mergesPerRecord; left > 0; ) {
      const limit = Math.min(left, recordsPerStep)
      const done = await file.writingUnseen(connection => mergeStep(connection, limit))
      if (done === 0) return
      left -= done
    }
  } catch (error) {
    // The commit is stored. Runs that are not merged now are merged after a later one.
    const code = error instanceof AlmanacError ? error.code : undefined
    if (code !== 'store_full' && code !== 'store_locked') throw error
  }
}

/** Does up to `limit` records' worth of work; 0 where there is none to do. */
export function mergeStep(connection: Connection, limit: number, known = views): number {
  const merged = connection.get('SELECT id FROM runs WHERE state = ? LIMIT 1', runStates.merged)
  if (merged !== undefined) return sweep(connection, merged[0] as number)
  const growing = connection.get('SELECT id, view, resume FROM runs WHERE state = ? LIMIT 1', runStates.growing)
  if (growing !== undefined) {
    const [id, viewId, resume] = growing as [number, number, Uint8Array | null]
    const view = known.find(each => each.id === viewId)
    if (view === undefined) throw new Error(`There is no view ${viewId}.`)
    return grow(connection, view, { id, resume: resume ?? new Uint8Array(view.keyBytes) }, limit)
  }
  const many = connection.get(
    'SELECT chain, view, level FROM runs WHERE state = ? GROUP BY chain, view, level HAVING count(*) >= ? LIMIT 1',
    runStates.whole,
    runsPerMerge,
  ) as [number, number, number] | undefined
  if (many === undefined) return 0
  const [chain, viewId, level] = many
  const id = newRun(connection, { id: viewId } as View, chain, runStates.growing)
  connection.run(
    `UPDATE runs SET target = ? WHERE id IN
       (SELECT id FROM runs WHERE chain = ? AND view = ? AND level = ? AND state = ? ORDER BY id LIMIT ?)`,
    ...[id, chain, viewId, level, runStates.whole, runsPerMerge],
  )
  return 1
}

function grow(
  connection: Connection,
  view: View,
  { id, resume }: { id: number; resume: Uint8Array },
  limit: number,
): number {
  const cursors: RunCursor[] = []
  for (const [source] of connection.all('SELECT id FROM runs WHERE target = ?', id)) {
    const cursor = cursorAt(connection, view, source as number, resume)
    if (cursor !== undefined) cursors.push(cursor)
  }
  const { writer, records } = packInserter(connection, view, id)
  const read = mergeRecords(cursors, writer, view.combine, limit)
  writer.flush()
  const next = cursors[0]?.reader.key ?? null
  connection.run('UPDATE runs SET records = records + ?, resume = ? WHERE id = ?', records(), next, id)
  if (next === null) {
    const [made] = connection.get('SELECT records FROM runs WHERE id = ?', id) as Row
    connection.run('UPDATE runs SET state = ?, level = ? WHERE id = ?', runStates.whole, levelOf(made as number), id)
    connection.run('UPDATE runs SET state = ?, target = NULL WHERE target = ?', runStates.merged, id)
  }
  return read + 1
}

function sweep(connection: Connection, run: number): number {
  const some = `(SELECT pack FROM pack_keys WHERE run = ? ORDER BY key LIMIT ${packsPerSweep})`
  const packs = connection.run(`DELETE FROM packs WHERE id IN ${some}`, run)
  connection.run(
    `DELETE FROM pack_keys WHERE run = ?1 AND key IN (SELECT key FROM pack_keys WHERE run = ?1 ORDER BY key LIMIT ${packsPerSweep})`,
    run,
  )
  if (packs < packsPerSweep) connection.run('DELETE FROM runs WHERE id = ?', run)
  return 1 + packs * recordsPerPack
}
