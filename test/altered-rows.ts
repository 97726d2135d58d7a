// The rows of runs as tables that SQL can read and change, behind the back of the store: what no read of the store
// itself would show, and what only damage would do. Counts, indexes and recent blocks stay as they are.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import type { Interval } from '../src/model.ts'
import { Core } from '../src/store/core/core.ts'
import { addActivity } from '../src/store/core/fold.ts'
import { addRun, blockEnd } from '../src/store/core/runs.ts'
import { slotOfContract } from '../src/store/core/slots.ts'
import type { Work } from '../src/store/core/work.ts'
import { openStoreParts } from '../src/store/open.ts'
import { joinActivity, packedRow } from '../src/store/packed-activity.ts'
import type { PartRow } from '../src/store/parts.ts'
import { activityView } from '../src/store/runs/activity-view.ts'
import { compareKeys } from '../src/store/runs/pack.ts'
import { transferKey, transferValue, transferView } from '../src/store/runs/transfer-view.ts'
import { Connection } from '../src/store/sqlite/connection.ts'
import { readOptions, writeOptions } from '../src/store/sqlite/open-file.ts'
import { SqliteEngine } from '../src/store/sqlite/sqlite-engine.ts'
import { StoreFile } from '../src/store/sqlite/store-file.ts'

const tables = {
  transfers: 'contract, block, tx, log, pos, payload, timestamp, hash',
  activity: 'address, chain, first, last',
} as const
type TableName = keyof typeof tables
const names = Object.keys(tables) as TableName[]

/** One statement over `transfers`, `activity` and the tables of the file. */
export async function readRows(path: string, sql: string): Promise<Record<string, SQLOutputValue>[]> {
  const database = await openWithRows(path)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

/** The same for changes, of which those of `transfers` and `activity` become runs. Answers how many rows each changed. */
export async function alterRows(path: string, ...statements: readonly string[]): Promise<number[]> {
  const database = await openWithRows(path)
  let changes: number[]
  let rows: Record<TableName, PartRow[]>
  let spans: Map<string, Interval>
  try {
    changes = statements.map(statement => Number(database.prepare(statement).run().changes))
    rows = { transfers: allOf(database, 'transfers'), activity: allOf(database, 'activity') }
    spans = spansOf(database)
    const views = `(${transferView.id}, ${activityView.id})`
    database.exec(`DELETE FROM packs WHERE (slot, run) IN (SELECT slot, id FROM runs WHERE view IN ${views});
      DELETE FROM runs WHERE view IN ${views}`)
  } finally {
    database.close()
  }
  await changeRunsOf(path, core => writeRows(core, rows, spans))
  return changes
}

/** Work of the core on a file, in one transaction. */
export async function changeRunsOf<T>(path: string, work: (core: Core) => Work<T>): Promise<T> {
  const file = new StoreFile({
    ...{ path, waitMsMax: 5_000 },
    read: new Connection(path, readOptions),
    openWrite: () => new Connection(path, writeOptions),
  })
  try {
    const engine = new SqliteEngine(file)
    return await engine.write(() => work(new Core(engine)))
  } finally {
    await file.close()
  }
}

async function openWithRows(path: string): Promise<DatabaseSync> {
  const stored = new Map<TableName, PartRow[]>()
  const parts = await openStoreParts(`file:${path}`)
  try {
    for (const name of names) {
      const { rows, next } = await parts.readPart(name, undefined, 1_000_000)
      // Chains come one after the other.
      for (let cursor = next; cursor !== undefined; ) {
        const page = await parts.readPart(name, cursor, 1_000_000)
        rows.push(...page.rows)
        cursor = page.next
      }
      stored.set(name, rows)
    }
  } finally {
    await parts.close()
  }
  const database = new DatabaseSync(path)
  for (const [name, rows] of stored) {
    database.exec(`CREATE TEMP TABLE ${name} (${tables[name]}); BEGIN`)
    const insert = database.prepare(`INSERT INTO ${name} VALUES (${tables[name].replaceAll(/\w+/g, '?')})`)
    for (const row of rows) insert.run(...(row as SQLInputValue[]))
    database.exec('COMMIT')
  }
  return database
}

/** Of transfers with their chain behind the other columns. */
function allOf(database: DatabaseSync, name: TableName): PartRow[] {
  const chain = ', (SELECT chain FROM contracts WHERE id = contract)'
  const statement = database.prepare(`SELECT ${tables[name]} ${name === 'transfers' ? chain : ''} FROM ${name}`)
  statement.setReturnArrays(true)
  return statement.all() as unknown as PartRow[]
}

const spanName = (view: number, chain: number): string => `${view} ${chain}`

/** What the runs of a view and a chain reached over together. */
function spansOf(database: DatabaseSync): Map<string, Interval> {
  const found = database
    .prepare('SELECT view, chain, min(from_block) AS low, max(to_block) AS high FROM runs GROUP BY view, chain')
    .all() as { view: number; chain: number; low: number; high: number }[]
  return new Map(found.map(({ view, chain, low, high }) => [spanName(view, chain), { from: low, to: high }]))
}

function* writeRows(
  core: Core,
  { transfers, activity }: Record<TableName, PartRow[]>,
  spans: ReadonlyMap<string, Interval>,
): Work<void> {
  const place = yield* core.place()
  const all = { from: 0, to: blockEnd }
  for (const [chain, rows] of Map.groupBy(transfers, row => row[8] as number)) {
    const span = spans.get(spanName(transferView.id, chain)) ?? all
    const records = rows.map(([contract, block, tx, log, pos, payload, timestamp, hash]) => {
      const position = { block, transactionIndex: tx, logIndex: log, batchIndex: pos } as Parameters<
        typeof transferKey
      >[1]
      const ofBlock = { timestamp: timestamp as number, hash: hash as Uint8Array }
      const value = transferValue(ofBlock, payload as Uint8Array).slice()
      return { contract: contract as number, key: transferKey(contract as number, position), value }
    })
    records.sort((a, b) => compareKeys(a.key, b.key))
    yield* addRun(place, transferView, { chain, ...span }, writerOf => {
      for (const { contract, key, value } of records)
        writerOf(slotOfContract(place.slots, contract)).add(key, value, value.length)
    })
  }
  for (const [chain, rows] of Map.groupBy(activity, row => row[1] as number)) {
    const span = spans.get(spanName(activityView.id, chain)) ?? all
    const packed = (rows as [Uint8Array, number, Uint8Array, Uint8Array | null][]).map(([address, , first, last]) =>
      packedRow(address, first, last ?? first),
    )
    yield* addActivity(place, { chain, ...span }, joinActivity(packed))
  }
}
