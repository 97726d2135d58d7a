// Keeps runs few, as in a file (`../../sqlite/runs/merges.ts`): sixteen of like size become one, some records at a
// time, each time within one transaction and one slot.
import { AlmanacError } from '../../../errors.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import { byBlock } from '../../indexes/by-block.ts'
import { byToken } from '../../indexes/by-token.ts'
import { byWallet } from '../../indexes/by-wallet.ts'
import { activityView } from '../../runs/activity-view.ts'
import { countView } from '../../runs/count-view.ts'
import { levelOf, recordsPerStep, recordsWorthMerging, transferLevelMax } from '../../runs/levels.ts'
import { joinMembers } from '../../runs/members.ts'
import { mergeRecords, RunCursor } from '../../runs/merge.ts'
import { compareKeys, type Pack, PackWriter } from '../../runs/pack.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import type { RunSummary } from '../../store.ts'
import { byteaArray, bytesOf, int8Array } from '../arrays.ts'
import type { Row, Transaction } from '../database.ts'
import { pendingRangesOf } from '../pending-ranges.ts'
import type { StoreDatabase } from '../store-database.ts'
import { dropRun, insertPacks, packBytesOf, readMembers, tryLockRuns } from './runs.ts'

const views: readonly View[] = [activityView, transferView, countView, ...indexViews]

const passing: readonly string[] = ['store_full', 'store_locked', 'conflict']

/** Each commit pays its share, after it is stored. */
export async function mergeRuns(store: StoreDatabase, chain: number, recordsAdded: number): Promise<void> {
  const { bulkRows, runsPerMerge } = store.merging
  const worth = Math.min(recordsWorthMerging, bulkRows)
  if (recordsAdded < worth) return
  try {
    await store.settled()
    const [[levels] = []] = await store.database.read('SELECT max(level) FROM runs WHERE chain = $1', chain)
    for (let left = recordsAdded * Math.max(1, Number(levels ?? 0)); left >= worth; ) {
      const waiting = await waitingOf(store, chain)
      const place = await findWork(store, chain, runsPerMerge, waiting)
      if (place === undefined) return
      const step = { ...place, chain, waiting, perMerge: runsPerMerge, limit: Math.min(left, recordsPerStep) }
      const moved = await store.writingUnseen(transaction => mergeStep(transaction, step))
      if (moved === 0) return
      left -= moved
    }
  } catch (error) {
    // The commit is stored. Runs that are not merged now are merged after a later one, or by another holder.
    const isPassing = error instanceof AlmanacError && (error.retryable || passing.includes(error.code))
    if (!isPassing) throw error
  }
}

// Transfers that are not claimed yet, and their records, may have to go again, which is quick only while they are runs
// of their own: that begin or end within the range which waits. The ranges are given, because on Citus they are not
// where runs are.
const waiting = [transferView, ...indexViews].map(({ id }) => id).join()
const mergeable = (
  first: number,
): string => `NOT growing AND target IS NULL AND NOT (view = ${transferView.id} AND level >= ${transferLevelMax})
  AND (view NOT IN (${waiting}) OR NOT EXISTS (
  SELECT 1 FROM unnest($${first}::int8[], $${first + 1}::int8[]) AS pending (low, high)
  WHERE runs.from_block BETWEEN low AND high OR runs.to_block BETWEEN low AND high))`
/** A view that this version does not know stays as it is. */
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
  const sources = packsWanted(view, limit, found)
  const ids = int8Array(sources.map(({ id }) => id))
  const rows = await transaction.query(findPacks, slot, ids, int8Array(sources.map(({ packs }) => packs)))
  const byRun = Map.groupBy(rows, ([id]) => Number(id))
  const cursors = sources.map(({ id, packs }) => new SourceCursor(view, id, byRun.get(id) ?? [], packs))
  const left: RunCursor[] = cursors.filter(cursor => cursor.step())
  const until = leastOf(cursors.flatMap(({ until }) => until ?? []))
  const packs: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => packs.push(pack), packBytesOf(view))
  const read = mergeRecords(left, writer, view.combine, limit, until)
  writer.flush()
  for (const cursor of cursors)
    if (left.includes(cursor)) await takeAway(transaction, view, slot, cursor)
    else await dropRun(transaction, { slot, id: cursor.run })
  await insertPacks(transaction, { slot, id: target }, packs)
  const moved = packs.reduce((sum, { records }) => sum + records, 0)
  const add = 'UPDATE runs SET records = records + $3 WHERE slot = $1 AND id = $2 RETURNING records'
  const [[made] = []] = await transaction.write(add, slot, target, moved)
  if (left.length === 0) {
    if (Number(made) === 0) await dropRun(transaction, { slot, id: target })
    else
      await transaction.run(
        'UPDATE runs SET growing = false, level = $3 WHERE slot = $1 AND id = $2',
        ...[slot, target, levelOf(Number(made))],
      )
  }
  return read + 1
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

/** A run of which the first packs are here. */
class SourceCursor extends RunCursor {
  readonly run: number
  /** Keys of the packs that were opened. */
  readonly keys: Buffer[] = []
  /** Records from this key on may follow one that is not here. */
  readonly until: Buffer | undefined

  constructor(view: View, run: number, rows: readonly Row[], packsMax: number) {
    const waiting = rows.map(([, key, bytes]) => ({ key: bytesOf(key), bytes: bytesOf(bytes) }))
    super(view.keyBytes, () => {
      const pack = waiting.shift()
      if (pack === undefined) return undefined
      this.keys.push(pack.key)
      return pack.bytes
    })
    this.run = run
    this.until = rows.length < packsMax ? undefined : waiting.at(-1)!.key
  }
}

function leastOf(keys: readonly Buffer[]): Buffer | undefined {
  return keys.reduce<Buffer | undefined>(
    (least, key) => (least === undefined || compareKeys(key, least) < 0 ? key : least),
    undefined,
  )
}

/** Deletes what is before the cursor. */
async function takeAway(transaction: Transaction, view: View, slot: number, cursor: SourceCursor): Promise<void> {
  const { run, keys, reader, passed } = cursor
  if (passed === 0) return
  const rest: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => rest.push(pack), packBytesOf(view))
  do writer.add(reader.key, reader.value, reader.valueLength)
  while (reader.next())
  writer.flush()
  const drop = 'DELETE FROM packs WHERE slot = $1 AND run = $2 AND key = ANY($3::bytea[])'
  await transaction.run(drop, slot, run, byteaArray(keys))
  await insertPacks(transaction, { slot, id: run }, rest)
  await transaction.run('UPDATE runs SET records = records - $3 WHERE slot = $1 AND id = $2', slot, run, passed)
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
