// The PostgreSQL engine against the contract of every engine.
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type SharedPostgres, sharedPostgres, stepServerClock } from '../../../test/postgres-server.ts'
import { isRelease } from '../../../test/release-runs.ts'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { type OpenDatabaseOptions, openPostgresStore } from './postgres-store.ts'

let server: SharedPostgres
let emptying: string
beforeAll(async () => {
  server = await sharedPostgres()
  emptying = await emptyingSql(await server.createStore())
})
afterAll(() => server.stop())

const runs = Number(process.env.STORE_RUNS ?? 2)
storeContract('postgres', () => open({}), { runs })
// Final blocks wait to be folded as a rule. Here each becomes runs at once, as SQLite tries in every run.
if (isRelease)
  storeContract('postgres, in runs', () => open({ foldBlocks: 1, runsPerMerge: 3, recordsWorthMerging: 1 }), {
    runs,
    rowsOnly: true,
  })

/** Stores that were emptied: copying one of hundreds of files for a test of a few rows takes longer than the test. */
const empty: string[] = []

async function open(options: OpenDatabaseOptions): Promise<StoreFixture> {
  const url = empty.pop() ?? (await server.createStore())
  const store = await openPostgresStore(url, options)
  let isAsMade = true
  return {
    store,
    beside: () => openPostgresStore(url),
    stepClock: ms => {
      isAsMade = false
      return stepServerClock(url, ms)
    },
    dispose: async () => {
      await store.close()
      if (!isAsMade) return
      await query(url, emptying)
      empty.push(url)
    },
  }
}

/** Removes all rows but those of a store that was just made. Revisions only count up, so they stay. */
async function emptyingSql(url: string): Promise<string> {
  const [{ sql } = {}] = await query(
    url,
    `SELECT string_agg(format('DELETE FROM %I', relname), ';') || coalesce((
       SELECT ';' || string_agg(format('SELECT setval(%L, %s, false)', sequencename, start_value), ';') FROM pg_sequences), '')
       AS sql
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'revisions'`,
  )
  const tables = await query(
    url,
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'revisions'",
  )
  const initial: string[] = []
  for (const { tablename } of tables) {
    const [{ rows } = {}] = await query(url, `SELECT json_agg(t)::text AS rows FROM ${tablename} AS t`)
    if (typeof rows !== 'string') continue
    const values = `json_populate_recordset(NULL::${tablename}, ${pg.escapeLiteral(rows)})`
    initial.push(`INSERT INTO ${tablename} OVERRIDING SYSTEM VALUE SELECT * FROM ${values}`)
  }
  return `SET lock_timeout = 10000; SET session_replication_role = replica; ${[sql, ...initial].join(';')}`
}

async function query(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
