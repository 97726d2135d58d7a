// The merges of a server (`../../core/merge-runs.ts`): which runs are next, and what a step reads and writes in a slot.
import { type MergeSource, type Move, moveRecords, payMerges, views, viewsOfTransfers } from '../../core/merge-runs.ts'
import { byBlock } from '../../indexes/by-block.ts'
import { byToken } from '../../indexes/by-token.ts'
import { byWallet } from '../../indexes/by-wallet.ts'
import { activityView } from '../../runs/activity-view.ts'
import { countView } from '../../runs/count-view.ts'
import { levelOf, transferLevelMax } from '../../runs/levels.ts'
import { joinMembers } from '../../runs/members.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import type { RunSummary } from '../../store.ts'
import { bytesOf, int8Array } from '../arrays.ts'
import type { Row, Transaction } from '../database.ts'
import { pendingRangesOf } from '../pending-ranges.ts'
import type { StoreDatabase } from '../store-database.ts'
import { dropRun, insertPacks, packBytesOf, readMembers, tryLockRuns } from './runs.ts'

export async function mergeRuns(store: StoreDatabase, chain: number, recordsAdded: number): Promise<void> {
  const { bulkRows, runsPerMerge } = store.merging
  await payMerges({
    ...{ recordsAdded, bulkRows },
    async levels() {
      await store.settled()
      const [[levels] = []] = await store.database.read('SELECT max(level) FROM runs WHERE chain = $1', chain)
      return Number(levels ?? 0)
    },
    async step(limit) {
      const waiting = await waitingOf(store, chain)
      const place = await findWork(store, chain, runsPerMerge, waiting)
      if (place === undefined) return 0
      const step = { ...place, chain, waiting, perMerge: runsPerMerge, limit }
      return await store.writingUnseen(transaction => mergeStep(transaction, step))
    },
  })
}

// The ranges that wait for their claim are given, because on Citus they are not where runs are.
const waiting = viewsOfTransfers.map(({ id }) => id).join()
const mergeable = (
  first: number,
): string => `NOT growing AND target IS NULL AND NOT (view = ${transferView.id} AND level >= ${transferLevelMax})
  AND (view NOT IN (${waiting}) OR NOT EXISTS (
  SELECT 1 FROM unnest($${first}::int8[], $${first + 1}::int8[]) AS pending (low, high)
  WHERE runs.from_block BETWEEN low AND high OR runs.to_block BETWEEN low AND high))`
const ofKnown = `view IN (${views.map(({ id }) => id).join()})`
const findMany = `SELECT slot, view, level FROM runs WHERE chain = $1 AND ${ofKnown} AND ${mergeable(3)}
  GROUP BY slot, view, level HAVING count(*) >= $2 ORDER BY level LIMIT 1`
const findGrowing = `SELECT slot, view, level FROM runs WHERE chain = $1 AND ${ofKnown} AND growing ORDER BY level LIMIT 1`

/** The ranges of a chain that wait for their claim, as two columns. */
type Waiting = [from: Buffer, to: Buffer]

async function waitingOf({ database }: StoreDatabase, chain: number): Promise<Waiting> {
  const ranges = await pendingRangesOf(database, chain)
  return [int8Array(ranges.map(({ from }) => from)), int8Array(ranges.map(({ to }) => to))]
}

type MergePlace = { slot: number; view: View; level: number }

/** Small runs first. */
async function findWork(
  store: StoreDatabase,
  chain: number,
  perMerge: number,
  waiting: Waiting,
): Promise<MergePlace | undefined> {
  const many = await store.database.read(findMany, chain, perMerge, ...waiting)
  const [row] = many.length > 0 ? many : await store.database.read(findGrowing, chain)
  const view = views.find(({ id }) => id === Number(row?.[1]))
  return row === undefined || view === undefined ? undefined : { slot: Number(row[0]), view, level: Number(row[2]) }
}

type MergeStep = MergePlace & { chain: number; waiting: Waiting; perMerge: number; limit: number }

/** Returns how many records were moved, and at least 1; 0 where others change the runs. */
async function mergeStep(transaction: Transaction, step: MergeStep): Promise<number> {
  const { slot, view, chain } = step
  if (!(await tryLockRuns(transaction, chain))) return 0
  await begin(transaction, step)
  const find = `SELECT id FROM runs WHERE slot = $1 AND chain = $2 AND view = $3 AND growing ORDER BY level LIMIT 1`
  const [[target] = []] = await transaction.query(find, slot, chain, view.id)
  return target === undefined ? 1 : await grow(transaction, step, Number(target))
}

async function begin(transaction: Transaction, step: MergeStep): Promise<void> {
  const { slot, view, level, chain, waiting, perMerge } = step
  const sources = await transaction.query(
    `SELECT id, from_block, to_block, contracts FROM runs
     WHERE slot = $1 AND chain = $2 AND view = $3 AND level = $4 AND ${mergeable(6)} ORDER BY id LIMIT $5`,
    ...[slot, chain, view.id, level, perMerge, ...waiting],
  )
  if (sources.length < perMerge) return
  const from = Math.min(...sources.map(([, first]) => Number(first)))
  const to = Math.max(...sources.map(([, , last]) => Number(last)))
  const members = view.byContract
    ? readMembers(joinMembers(sources.map(([, , , contracts]) => bytesOf(contracts))))
    : undefined
  const [[target] = []] = await transaction.query("SELECT nextval('run_numbers')")
  await transaction.run(
    `INSERT INTO runs (slot, id, chain, view, from_block, to_block, level, records, growing, first_contract, has_list,
       contracts) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, true, $8, $9, $10)`,
    ...[slot, Number(target), chain, view.id, from, to, level + 1],
    ...[members?.first ?? null, members?.isList ?? false, members?.bytes ?? null],
  )
  await transaction.run(
    'UPDATE runs SET target = $2 WHERE slot = $1 AND id = ANY($3::int8[])',
    ...[slot, Number(target), int8Array(sources.map(([id]) => Number(id)))],
  )
}

/** About what a pack of a view has. */
export const recordsPerPack = new Map<View, number>([
  [activityView, 13],
  [transferView, 28],
  [countView, 80],
  [byWallet, 20],
  [byToken, 14],
  [byBlock, 80],
])

const findPacks = `SELECT id, key, bytes FROM unnest($2::int8[], $3::int8[]) AS sources (id, packs_max)
  CROSS JOIN LATERAL (SELECT key, bytes FROM packs WHERE slot = $1 AND run = id ORDER BY key LIMIT packs_max)
  AS first_packs ORDER BY id, key`

async function grow(transaction: Transaction, { slot, view, limit }: MergeStep, target: number): Promise<number> {
  const found = await transaction.query('SELECT id, records FROM runs WHERE slot = $1 AND target = $2', slot, target)
  const wanted = packsWanted(view, limit, found)
  const ids = int8Array(wanted.map(({ id }) => id))
  const rows = await transaction.query(findPacks, slot, ids, int8Array(wanted.map(({ packs }) => packs)))
  const byRun = Map.groupBy(rows, ([id]) => Number(id))
  const sources = wanted.map(({ id, packs }) => sourceOf(id, byRun.get(id) ?? [], packs))
  const move = moveRecords(view, sources, limit, packBytesOf(view))
  await apply(transaction, { slot, target }, move)
  return move.read
}

/** Large sources give more, so that all come to the same key. */
function packsWanted(view: View, limit: number, sources: readonly Row[]): { id: number; packs: number }[] {
  const records = sources.map(([, count]) => Number(count))
  const all = records.reduce((sum, count) => sum + count, 0)
  return sources.map(([id], at) => ({
    id: Number(id),
    packs: 2 + Math.ceil(((limit / recordsPerPack.get(view)!) * records[at]!) / Math.max(1, all)),
  }))
}

function sourceOf(run: number, rows: readonly Row[], packsMax: number): MergeSource {
  let at = 0
  return {
    run,
    next() {
      const [, key, bytes] = rows[at++] ?? []
      return key === undefined ? undefined : { key: bytesOf(key), bytes: bytesOf(bytes) }
    },
    until: rows.length < packsMax ? undefined : bytesOf(rows.at(-1)![1]),
  }
}

async function apply(
  transaction: Transaction,
  { slot, target }: { slot: number; target: number },
  { packs, emptied, shortened, isDone }: Move,
): Promise<void> {
  for (const id of emptied) await dropRun(transaction, { slot, id })
  for (const { run, upTo, rest, passed } of shortened) {
    await transaction.run('DELETE FROM packs WHERE slot = $1 AND run = $2 AND key <= $3::bytea', slot, run, upTo)
    await insertPacks(transaction, { slot, id: run }, rest)
    await transaction.run('UPDATE runs SET records = records - $3 WHERE slot = $1 AND id = $2', slot, run, passed)
  }
  await insertPacks(transaction, { slot, id: target }, packs)
  const moved = packs.reduce((sum, { records }) => sum + records, 0)
  const add = 'UPDATE runs SET records = records + $3 WHERE slot = $1 AND id = $2 RETURNING records'
  const [[made] = []] = await transaction.write(add, slot, target, moved)
  if (!isDone) return
  if (Number(made) === 0) await dropRun(transaction, { slot, id: target })
  else
    await transaction.run(
      'UPDATE runs SET growing = false, level = $3 WHERE slot = $1 AND id = $2',
      ...[slot, target, levelOf(Number(made))],
    )
}

const summarise = `SELECT chain, view, count(*), sum(records), coalesce(sum(records) FILTER (WHERE target IS NOT NULL), 0)
  FROM runs GROUP BY chain, view ORDER BY chain, view`

/** By chain and view: a look at one small table. */
export async function runSummaries({ database, dictionary }: StoreDatabase): Promise<RunSummary[]> {
  const rows = await database.read(summarise)
  return await Promise.all(
    rows.map(async ([ordinal, view, runs, records, mergingRecords]) => ({
      chain: await dictionary.chainOf(Number(ordinal)),
      view: views.find(({ id }) => id === Number(view))?.name ?? String(view),
      ...{ runs: Number(runs), records: Number(records), mergingRecords: Number(mergingRecords) },
    })),
  )
}
