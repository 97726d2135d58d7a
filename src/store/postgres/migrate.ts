// Brings a database to the current schema and, where Citus is installed, distributes its tables. Any number of
// processes may start at once: the first one migrates, the others wait.
import { randomBytes } from 'node:crypto'
import { AlmanacError } from '../../errors.ts'
import { nextStep, noStoreAt, requireKnown, versionAfter } from '../schema.ts'
import { textArray } from './arrays.ts'
import type { Database, Transaction } from './database.ts'
import { migrations } from './migrations.ts'

/** "ALMN": the advisory lock of migrations. */
const migrationLock = 0x414c4d4e

/** Each step is its own transaction: a later failure does not undo it. */
export async function migrate(database: Database, steps = migrations): Promise<void> {
  while (!(await database.transaction(transaction => migrateOnce(transaction, database.location, steps))));
}

/** For callers that must not create a store. */
export async function requireStore(database: Database): Promise<void> {
  const [[table] = []] = await database.read("SELECT to_regclass('almanac_schema')::text")
  if (table === null) throw noStoreAt(database.location)
}

/** Returns whether nothing is left to do. */
async function migrateOnce(transaction: Transaction, location: string, steps: readonly string[]): Promise<boolean> {
  // A lock of the transaction: PgBouncer does not support those of the session.
  await transaction.query('SELECT pg_advisory_xact_lock($1)::text', migrationLock)
  const version = await versionOf(transaction)
  requireKnown(version, steps, location)
  const step = nextStep(steps, version)
  const onCitus = await hasCitus(transaction)
  if (step === undefined) {
    // A dump was restored, or the extension came after the tables.
    if (onCitus) await placeTables(transaction, location)
    return true
  }
  if (version === 0) await requireEmpty(transaction, location)
  if (onCitus) await useOneConnection(transaction)
  // One by one, because Citus passes whole texts on to its workers, which take one statement at a time.
  for (const statement of step.sql.split(/;\s*\n/)) if (statement.trim() !== '') await transaction.script(statement)
  if (onCitus) await placeTables(transaction, location)
  if (version === 0) {
    await transaction.script('CREATE TABLE almanac_schema (version int4 NOT NULL)')
    await transaction.run('INSERT INTO almanac_schema VALUES ($1)', step.version)
    await transaction.run('INSERT INTO secrets VALUES ($1, $2)', 'cursor', randomBytes(32))
  } else await transaction.run('UPDATE almanac_schema SET version = $1', step.version)
  return step.version === versionAfter(steps)
}

async function versionOf(transaction: Transaction): Promise<number> {
  const [[table] = []] = await transaction.query("SELECT to_regclass('almanac_schema')::text")
  if (table === null) return 0
  const [[version] = []] = await transaction.query('SELECT version FROM almanac_schema')
  return Number(version)
}

/** A table of another program with one of our names would fail a step halfway with an unclear message. */
async function requireEmpty(transaction: Transaction, location: string): Promise<void> {
  const [[taken] = []] = await transaction.query("SELECT to_regclass('transfers')::text")
  if (taken !== null)
    throw new AlmanacError('store_corrupt', `The database ${location} holds tables of another program.`, {
      hint: 'name an empty database under store; this one was left as it is.',
    })
}

// Where tables are on Citus. Statements are the same; what differs in commits is `citus/commits.ts`.

/**
 * Tables by the column that decides which worker stores a row; rows of one group are stored together, and with those
 * of the table that they are beside.
 */
const distributed: readonly { column: string; tables: readonly string[]; beside?: string }[] = [
  { column: 'contract', tables: ['transfers', 'transfer_counts'] },
  { column: 'chain', tables: ['blocks'] },
  { column: 'address', tables: ['activity'] },
  { column: 'slot', tables: ['runs', 'packs', 'view_records'], beside: 'transfers' },
  { column: 'owner', tables: ['solana_accounts', 'solana_holdings'] },
  { column: 'account', tables: ['solana_closed'] },
]

/** Read together with rows on the workers: a copy on every one. */
const reference = ['solana_mints']

/**
 * On the coordinator, where every process connects, like all that are not listed: a block at the head is then a commit
 * of one server, and a request reads from a worker only what is spread. Earlier versions had these on the workers.
 */
const broughtBack = [
  ...['hot_transfers', 'hot_blocks', 'hot_activity', 'chains', 'contracts', 'coverage', 'pending_ranges'],
  ...['watched_contracts', 'labels', 'contract_facts', 'contract_marks'],
]

export async function hasCitus(from: Database | Transaction): Promise<boolean> {
  const sql = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"
  return ('read' in from ? await from.read(sql) : await from.query(sql)).length > 0
}

/**
 * A transaction that writes to a reference table or reads shards, and then distributes tables, needs one connection to
 * each worker.
 */
export async function useOneConnection(transaction: Transaction): Promise<void> {
  await transaction.script("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
}

/** Distributes the tables that are not yet, with their rows, and brings others back, in one transaction. */
async function placeTables(transaction: Transaction, location: string): Promise<void> {
  const names = [...reference, ...distributed.flatMap(({ tables }) => tables)]
  const local = new Set(await tablesWhere(transaction, 'NOT EXISTS', names))
  const away = await tablesWhere(transaction, 'EXISTS', broughtBack)
  if (local.size + away.length === 0) return
  await requireWorkers(transaction, location)
  await useOneConnection(transaction)
  // Rows of a restored store are copied to the workers, which can take long.
  await transaction.script('SET LOCAL statement_timeout = 0')
  for (const table of away) await transaction.slow(`SELECT undistribute_table('${table}')`)
  for (const table of reference)
    if (local.has(table)) await transaction.slow(`SELECT create_reference_table('${table}')`)
  for (const { column, tables, beside: other = 'none' } of distributed) {
    const [head] = tables
    for (const table of tables) {
      const beside = table === head ? other : head
      if (local.has(table))
        await transaction.slow(`SELECT create_distributed_table('${table}', '${column}', colocate_with => '${beside}')`)
    }
  }
  if (local.has('packs')) await fillSlots(transaction)
  // What was copied is no longer read here.
  for (const table of local) await transaction.slow(`SELECT truncate_local_data_after_distributing_table('${table}')`)
}

/** One for each shard. A store that has runs keeps its slots: those of one server are one shard here. */
async function fillSlots(transaction: Transaction): Promise<void> {
  if ((await transaction.query('SELECT 1 FROM runs LIMIT 1')).length > 0) return
  await transaction.run('DELETE FROM slots')
  await transaction.run(
    `INSERT INTO slots SELECT min(slot) FROM (SELECT slot, get_shard_id_for_distribution_column('packs', slot) AS shard
       FROM generate_series(0, 4095) AS slot) AS tried GROUP BY shard`,
  )
}

/**
 * Without workers Citus would put every row on the coordinator under the name localhost, and then refuse workers. A
 * cluster of one server names itself: `citus_set_coordinator_host`.
 */
async function requireWorkers(transaction: Transaction, location: string): Promise<void> {
  const workers = await transaction.query('SELECT 1 FROM pg_dist_node WHERE shouldhaveshards AND isactive LIMIT 1')
  if (workers.length > 0) return
  throw new AlmanacError('store_failed', `The database ${location} has the extension Citus and no workers.`, {
    hint: "add them and start again: SELECT citus_add_node('worker', 5432), in this database; docs/scale.md says what each needs.",
  })
}

/** Those of the tables of this schema that Citus manages, or does not. */
async function tablesWhere(
  transaction: Transaction,
  exists: 'EXISTS' | 'NOT EXISTS',
  names: readonly string[],
): Promise<string[]> {
  const found = await transaction.query(
    `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL
       AND ${exists} (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass(name))`,
    textArray(names),
  )
  return found.map(([name]) => name as string)
}
