// The merges of a file (`../../core/merge-runs.ts`): which runs are next, and what a step reads and writes.
import { type MergeSource, type Move, moveRecords, payMerges, views, viewsOfTransfers } from '../../core/merge-runs.ts'
import { levelOf, runsPerMerge, transferLevelMax } from '../../runs/levels.ts'
import { joinMembers } from '../../runs/members.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import type { Connection, Row } from '../connection.ts'
import type { StoreFile } from '../store-file.ts'
import { dropRun, insertPacks, membersOf, packsAfter, packsAhead } from './runs.ts'

export async function mergeRuns(file: StoreFile, recordsAdded: number): Promise<void> {
  const { bulkRows, runsPerMerge: perMerge } = file.runs
  await payMerges({
    ...{ recordsAdded, bulkRows },
    levels: () => file.reading(read => read.get('SELECT max(level) FROM runs')?.[0] ?? 0) as number,
    step: limit => file.writingUnseen(connection => mergeStep(connection, limit, views, perMerge)),
  })
}

const mergeable = `growing = 0 AND target IS NULL AND NOT (view = ${transferView.id} AND level >= ${transferLevelMax})
  AND (view NOT IN (${viewsOfTransfers.map(({ id }) => id).join()}) OR NOT EXISTS (
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
  const ofKnown = `view IN (${known.map(({ id }) => id).join()})`
  const findMany = `SELECT chain, view, level FROM runs WHERE ${ofKnown} AND ${mergeable}
    GROUP BY chain, view, level HAVING count(*) >= ? ORDER BY level LIMIT 1`
  const many = connection.get(findMany, perMerge) as [number, number, number] | undefined
  if (many !== undefined) begin(connection, viewOf(known, many[1]), { chain: many[0], level: many[2], perMerge })
  const growing = connection.get(`SELECT id, view FROM runs WHERE growing = 1 AND ${ofKnown} ORDER BY level LIMIT 1`)
  if (growing === undefined) return 0
  const [target, view] = [growing[0] as number, viewOf(known, growing[1] as number)]
  const sources = connection.all('SELECT id FROM runs WHERE target = ?', target)
  const move = moveRecords(
    view,
    sources.map(([id]) => sourceOf(connection, id as number)),
    limit,
  )
  apply(connection, target, move)
  return move.read
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

/** Reads packs when the merge comes to them. */
function sourceOf(connection: Connection, run: number): MergeSource {
  let ahead: Row[] = []
  let last: Uint8Array = new Uint8Array(0)
  return {
    run,
    next() {
      if (ahead.length === 0) ahead = connection.all(packsAfter, run, last, packsAhead)
      const [key, , bytes] = ahead.shift() ?? []
      if (key === undefined) return undefined
      last = key as Uint8Array
      return { key: last, bytes: bytes as Uint8Array }
    },
  }
}

function apply(connection: Connection, target: number, { packs, emptied, shortened, isDone }: Move): void {
  for (const run of emptied) dropRun(connection, run)
  for (const { run, upTo, rest, passed } of shortened) {
    const gone = 'FROM pack_keys WHERE run = ? AND key <= ?'
    connection.run(`DELETE FROM packs WHERE id IN (SELECT pack ${gone})`, run, upTo)
    connection.run(`DELETE ${gone}`, run, upTo)
    insertPacks(connection, run, rest)
    connection.run('UPDATE runs SET records = records - ? WHERE id = ?', passed, run)
  }
  insertPacks(connection, target, packs)
  const moved = packs.reduce((sum, { records }) => sum + records, 0)
  const add = 'UPDATE runs SET records = records + ? WHERE id = ? RETURNING records'
  const [made] = connection.get(add, moved, target) as [number]
  if (!isDone) return
  if (made === 0) dropRun(connection, target)
  else connection.run('UPDATE runs SET growing = 0, level = ? WHERE id = ?', levelOf(made), target)
}
