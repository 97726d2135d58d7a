// Makes the tables of a new database (`../tables/store-tables.ts` in the words of PostgreSQL, and what it alone has)
// and, on a cluster, has them distributed. Any number of processes may start at once: the first one makes them, the
// others wait.
import { randomBytes } from 'node:crypto'
import { AlmanacError } from '../../errors.ts'
import { type ColumnType, noStoreAt, requireFormat, storeFormat, type TableDialect, tablesIn } from '../schema.ts'
import { sharedTables, storeTables } from '../tables/store-tables.ts'
import { hasCitus, placeTables, useOneConnection } from './citus/place-tables.ts'
import type { Database, Transaction } from './database.ts'
import { labelRevisionRow } from './revision.ts'

/** Text that comes from chains is bytea, because PostgreSQL's text cannot hold every character. */
export const columnTypes: Readonly<Record<ColumnType, string>> = {
  int: 'int4',
  big: 'int8',
  float: 'float8',
  text: 'text',
  utf8: 'bytea',
  bytes: 'bytea',
}

/** Empty after a crash of the server: allowances start again from the counted uses, work is requested again. */
const unlogged = ['allowances', 'work', 'heartbeats']
/** Of tables with rows that are written again and again. */
const fillFactors: Readonly<Record<string, number>> = {
  ...{
    chains: 50,
    row_changes: 50,
    runs: 50,
    solana_accounts: 90,
    solana_holdings: 90,
    key_uses: 50,
    webhook_progress: 50,
  },
  ...{ allowances: 20, work: 50, heartbeats: 50 },
}

const dialect: TableDialect = {
  types: columnTypes,
  words: [
    [' BY BYTES', ' COLLATE "C"'],
    [/ NUMBERED BY (\w+)/g, " DEFAULT nextval('$1')"],
    [' REFERENCES chains', ''],
    // Columns of one width come first.
    [/^( {2}label .*\n)(.*\n)/gm, '$2$1'],
  ],
  // No primary key has an order.
  keyBeside: ['blocks'],
  kindOf: name => (unlogged.includes(name) ? 'UNLOGGED TABLE' : 'TABLE'),
  optionsOf: name => (name in fillFactors ? ` WITH (fillfactor = ${fillFactors[name]})` : ''),
}

const tables = `
CREATE TABLE revisions (id int4 PRIMARY KEY, value int8 NOT NULL) WITH (fillfactor = 20);
INSERT INTO revisions SELECT id, 0 FROM generate_series(0, ${labelRevisionRow}) AS id;
-- Not identity columns: a cluster takes those only as int8.
CREATE SEQUENCE chain_ordinals AS int4;
CREATE SEQUENCE contract_numbers AS int4;
CREATE SEQUENCE run_numbers;
${tablesIn(dialect, storeTables)}
${tablesIn(dialect, sharedTables)}
ALTER TABLE blocks REPLICA IDENTITY USING INDEX blocks_key;
-- Packs fit into pages as they are: they are neither compressed nor stored elsewhere.
ALTER TABLE packs ALTER COLUMN bytes SET STORAGE PLAIN;
ALTER TABLE packs SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE recent_blocks ALTER COLUMN activity SET STORAGE EXTERNAL;
ALTER TABLE runs ALTER COLUMN contracts SET STORAGE EXTERNAL;
CREATE INDEX runs_by_view ON runs (slot, view, chain);
-- Names and labels for a search box. Names are bytes of UTF-8: encode makes text of them that every database can sort,
-- and "C" folds ASCII alone. Contracts give names of any length.
CREATE INDEX contract_facts_by_name ON contract_facts (left(lower(encode(name, 'escape') COLLATE "C"), 64));
CREATE INDEX contract_facts_by_symbol ON contract_facts (left(lower(encode(symbol, 'escape') COLLATE "C"), 64));
CREATE INDEX labels_by_label ON labels (left(lower(encode(label, 'escape') COLLATE "C"), 64));
CREATE TABLE almanac_schema (version int4 NOT NULL);
`

/** "ALMN": the advisory lock of the process that makes them. */
const creationLock = 0x414c4d4e

export async function createTables(database: Database): Promise<void> {
  await database.transaction(async transaction => {
    // A lock of the transaction: PgBouncer does not support those of the session.
    await transaction.query('SELECT pg_advisory_xact_lock($1)::text', creationLock)
    const onCitus = await hasCitus(transaction)
    if (!(await hasTables(transaction, database.location))) {
      if (onCitus) await useOneConnection(transaction)
      // One by one, because a cluster passes whole texts on to its workers, which take one statement at a time.
      for (const statement of tables.split(/;\s*\n/)) if (statement.trim() !== '') await transaction.script(statement)
      await transaction.run('INSERT INTO almanac_schema VALUES ($1)', storeFormat)
      await transaction.run('INSERT INTO secrets VALUES ($1, $2)', 'cursor', randomBytes(32))
    }
    // Also where a dump was restored, or the extension came after the tables.
    if (onCitus) await placeTables(transaction, database.location)
  })
}

/** For callers that must not create a store. */
export async function requireStore(database: Database): Promise<void> {
  const [[table] = []] = await database.read("SELECT to_regclass('almanac_schema')::text")
  if (table === null) throw noStoreAt(database.location)
}

const tableNames = Array.from(tables.matchAll(/CREATE TABLE (\w+)/g), ([, name]) => name!)

/** False for an empty database; throws for one that is not for this version. */
async function hasTables(transaction: Transaction, location: string): Promise<boolean> {
  const [[known, taken] = []] = await transaction.query(
    `SELECT to_regclass('almanac_schema')::text, (SELECT min(name) FROM unnest(ARRAY['${tableNames.join("','")}']) AS name
      WHERE to_regclass(name) IS NOT NULL)`,
  )
  if (known !== null) {
    const [[format] = []] = await transaction.query('SELECT version FROM almanac_schema')
    requireFormat(Number(format), `The store ${location}`)
    return true
  }
  // A table of another program with one of our names would fail halfway with an unclear message.
  if (taken !== null)
    throw new AlmanacError(
      'store_corrupt',
      `The database ${location} holds tables of another program, such as ${taken}.`,
      {
        hint: 'name an empty database under store; this one was left as it is.',
      },
    )
  return false
}
