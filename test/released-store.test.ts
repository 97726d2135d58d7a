// A store of a released version opens, has its rows and goes on, with the schema of a fresh store. The dumps in `released`
// were made by the code of the version that they are named after.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore, openStoreParts } from '../src/store/open.ts'
import { packActivity } from '../src/store/packed-activity.ts'
import { partColumns, partNames } from '../src/store/parts.ts'
import { packTransfer } from './pack-transfer.ts'
import { type Databases, sharedPostgres } from './postgres-server.ts'
import { fillReleased, releasedChain, releasedContracts, releasedOther, releasedWallet } from './released-rows.ts'

const dumpOf = (engine: string) => readFileSync(new URL(`released/0.1.0-${engine}.sql`, import.meta.url), 'utf8')
const releasedVersion = 7
/** Parts that 0.1.0 did not have. */
const laterParts = new Set(['pending_ranges'])

let server: Databases
let folder: string
beforeAll(async () => {
  server = await sharedPostgres()
  folder = mkdtempSync(join(tmpdir(), 'almanac-released-'))
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

async function query(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

type Engine = {
  name: string
  newStore: () => Promise<string>
  run: (url: string, sql: string) => Promise<unknown>
  schemaOf: (url: string) => Promise<unknown>
  setVersion: (version: number) => string
}

const pathOf = (url: string) => url.slice('file:'.length)
let files = 0
const sqlite: Engine = {
  name: 'sqlite',
  newStore: async () => `file:${join(folder, `${++files}.db`)}`,
  async run(url, sql) {
    const raw = new DatabaseSync(pathOf(url))
    raw.exec(sql)
    raw.close()
  },
  /** The text of a table that was renamed or altered differs; what it says does not. */
  async schemaOf(url) {
    const raw = new DatabaseSync(pathOf(url))
    const all = (sql: string, ...values: string[]) => raw.prepare(sql).all(...values)
    const listed = all('SELECT type, name FROM sqlite_schema ORDER BY type, name') as { type: string; name: string }[]
    const schema = listed.map(({ type, name }) => {
      if (type === 'view') {
        const { sql } = all('SELECT sql FROM sqlite_schema WHERE name = ?', name)[0] as { sql: string }
        return { type, name, sql: sql.replace(/\s+/g, ' ') }
      }
      if (type === 'index') return { type, name, columns: all('SELECT * FROM pragma_index_xinfo(?)', name) }
      return {
        ...{ type, name, columns: all('SELECT * FROM pragma_table_xinfo(?)', name) },
        storage: all('SELECT wr, strict FROM pragma_table_list(?)', name),
        indexes: all('SELECT name, "unique", origin, partial FROM pragma_index_list(?) ORDER BY name', name),
        references: all('SELECT * FROM pragma_foreign_key_list(?)', name),
        checks: all("SELECT sql LIKE '%CHECK (id = 1)%' AS one FROM sqlite_schema WHERE name = ?", name),
      }
    })
    const partial = all(
      "SELECT name, substr(sql, instr(sql, 'WHERE')) FROM sqlite_schema WHERE sql LIKE '%WHERE %' AND type = 'index' ORDER BY 1",
    )
    const pragmas = ['application_id', 'user_version'].map(pragma => all(`PRAGMA ${pragma}`))
    raw.close()
    return { schema, partial, pragmas }
  },
  setVersion: version => `PRAGMA user_version = ${version}`,
}

const relations = `FROM pg_class AS relation JOIN pg_namespace AS space ON space.oid = relnamespace WHERE nspname = 'public'`
const postgres: Engine = {
  name: 'postgres',
  newStore: () => server.createDatabase(),
  run: query,
  /** The names of NOT NULL constraints keep the name that a table had before; `columns` says which there are. */
  async schemaOf(url) {
    const columns = `SELECT relation.relname, attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
        collname, pg_get_expr(adbin, adrelid)
      FROM pg_attribute JOIN pg_class AS relation ON relation.oid = attrelid
        JOIN pg_namespace AS space ON space.oid = relnamespace
        LEFT JOIN pg_collation AS named ON named.oid = attcollation
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE nspname = 'public' AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v')
      ORDER BY relation.relname, attnum`
    return {
      relations: await query(
        url,
        `SELECT relname, relkind, relpersistence, relreplident, reloptions ${relations} ORDER BY relname`,
      ),
      columns: await query(url, columns),
      indexes: await query(url, "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
      constraints: await query(
        url,
        `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1, 2`,
      ),
      sequences: await query(url, 'SELECT sequencename, data_type::text FROM pg_sequences ORDER BY 1'),
      version: await query(url, 'SELECT version FROM almanac_schema'),
      revisions: await query(url, 'SELECT id FROM revisions ORDER BY id'),
    }
  },
  setVersion: version => `UPDATE almanac_schema SET version = ${version}`,
}

/** Every row of every part but the random secret and the moment of a close. */
async function rowsOf(url: string) {
  const parts = await openStoreParts(url)
  const rows: Record<string, unknown[]> = {}
  for (const part of [...partNames, 'transfer_counts'] as const) {
    const page = await parts.readPart(part, undefined, 1_000)
    const hidden = part === 'secrets' ? 'value' : part === 'solana_closed' ? 'closed_at_ms' : ''
    const columns: readonly string[] = part === 'transfer_counts' ? [] : partColumns[part]
    rows[part] = page.rows.map(row =>
      row
        .filter((_, at) => columns[at] !== hidden)
        .map(value => (value instanceof Uint8Array ? Buffer.from(value) : value)),
    )
  }
  await parts.close()
  return rows
}

test.each([sqlite, postgres])('a store of 0.1.0 opens with its rows: $name', async engine => {
  const [released, fresh] = [await engine.newStore(), await engine.newStore()]
  await engine.run(released, dumpOf(engine.name))
  const filled = await openStore(fresh, { role: 'tool' })
  await fillReleased(filled, { packTransfer, packActivity })

  const store = await openStore(released, { role: 'tool' })
  expect(await store.info()).toMatchObject({ schemaVersion: (await filled.info()).schemaVersion })
  expect(await engine.schemaOf(released)).toEqual(await engine.schemaOf(fresh))
  // Its chains keep no index until one is named.
  for (const chain of [releasedChain, releasedOther]) {
    expect(await store.indexes.indexStates(chain)).toEqual([])
    await store.keepIndexes(chain, ['by_wallet', 'by_token', 'by_block'])
    while (await store.fillIndexes(chain, 100));
  }
  const rows = await rowsOf(released)
  expect(rows).toEqual(await rowsOf(fresh))
  for (const [part, held] of Object.entries(rows))
    if (!laterParts.has(part)) expect(held.length, part).toBeGreaterThan(0)

  const [contract, ranges] = releasedContracts
  for (const order of ['asc', 'desc'] as const) {
    const asked = { chain: releasedChain, contract, order, limit: 10 }
    expect(await store.transferPage(asked)).toEqual(await filled.transferPage(asked))
  }
  expect(await store.transferCount({ chain: releasedChain, contract: ranges })).toBe(70_000)
  expect(await store.activityOf(releasedWallet)).toEqual(await filled.activityOf(releasedWallet))
  expect((await store.secret()).length).toBe(32)

  // It goes on where it was: what follows gives the same as in the store that the present code made.
  for (const each of [store, filled]) {
    await each.finalize(releasedChain, 9_001)
    const head = { number: 5, hash: `0x${'5'.repeat(64)}`, timestamp: 5 } as never
    const row = { contract, block: 5, transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(36) }
    const commit = { covered: [], blocks: [head], transfers: [row], activity: packActivity([]) }
    await each.commitCold({ chain: 10 as never, ...commit })
    await each.putLabels([
      { chain: undefined, address: contract, label: 'new', source: 'me', rank: 'operator', updatedAt: 9 },
    ])
    await each.close()
  }
  expect(await rowsOf(released)).toEqual(await rowsOf(fresh))
})

test.each([sqlite, postgres])('a version that was never released is refused and left alone: $name', async engine => {
  const url = await engine.newStore()
  await engine.run(url, dumpOf(engine.name))
  for (const version of [1, releasedVersion - 1]) {
    await engine.run(url, engine.setVersion(version))
    const before = await engine.schemaOf(url)
    await expect(openStore(url, { role: 'owner' })).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining(`schema version ${version}; this version of Almanac knows 7 and later`),
      hint: expect.stringContaining('index again'),
      retryable: false,
    })
    expect(await engine.schemaOf(url)).toEqual(before)
  }
})

test('the shell shows the transactions of a wallet', async () => {
  const url = await sqlite.newStore()
  await sqlite.run(url, dumpOf('sqlite'))
  const raw = new DatabaseSync(pathOf(url))
  const shown = raw.prepare(`SELECT * FROM readable_activity WHERE temperature = 'cold' AND chain = 1 AND address = ?`)
  expect(shown.all(releasedWallet)).toEqual([
    {
      ...{ chain: 1, address: releasedWallet, temperature: 'cold', first_block: 7, first_tx: 0 },
      ...{ first_hash: `0x${'1a'.repeat(32)}`, first_time: '2023-11-14 22:13:20', last_block: 9_000 },
      ...{ last_tx: 1_048_575, last_hash: `0x${'2b'.repeat(32)}`, last_time: '2242-03-16 12:56:31' },
    },
  ])
  raw.close()
})
