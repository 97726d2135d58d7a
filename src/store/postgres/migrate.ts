// Brings a database to the current schema and, where Citus is installed, distributes its tables. Any number of
// processes may start at once: the first one migrates, the others wait.
import { randomBytes } from 'node:crypto'
import { AlmanacError } from '../../errors.ts'
import { nextStep, noStoreAt, requireKnown, versionAfter } from '../schema.ts'
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
  if (step === undefined) return true
  if (version === 0) await requireEmpty(transaction, location)
  const onCitus = await hasCitus(transaction)
  if (onCitus) await useOneConnection(transaction)
  // One by one, because Citus passes whole texts on to its workers, which take one statement at a time.
  for (const statement of step.sql.split(/;\s*\n/)) if (statement.trim() !== '') await transaction.script(statement)
  if (onCitus) await distributeTables(transaction)
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

// How tables are distributed where the Citus extension is installed. Statements are the same; what differs in commits
// is `citus-commits.ts`.

/** Tables by the column that decides which worker stores a row; rows of one group are stored together. */
const distributed: readonly { column: string; tables: readonly string[] }[] = [
  { column: 'contract', tables: ['transfers', 'hot_transfers', 'transfer_counts'] },
  { column: 'chain', tables: ['blocks', 'hot_blocks'] },
  { column: 'address', tables: ['activity', 'hot_activity'] },
  { column: 'owner', tables: ['solana_accounts', 'solana_holdings'] },
  { column: 'account', tables: ['solana_closed'] },
]

/**
 * Small, and read beside the others: a copy on every worker. Tables not listed here (revisions, label_changes, leases,
 * checkpoints, keys) stay on the coordinator, where every process connects.
 */
const reference = [
  'chains',
  'contracts',
  'coverage',
  'pending_ranges',
  'watched_contracts',
  'solana_mints',
  'labels',
  'contract_facts',
  'contract_marks',
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

/** After a step of the schema, in the same transaction: distributes new tables, with their rows. */
export async function distributeTables(transaction: Transaction): Promise<void> {
  for (const table of reference)
    if (await isLocal(transaction, table)) await transaction.query('SELECT create_reference_table($1)::text', table)
  for (const { column, tables } of distributed) {
    const [head, ...others] = tables as [string, ...string[]]
    if (!(await isLocal(transaction, head))) continue
    await transaction.query("SELECT create_distributed_table($1, $2, colocate_with => 'none')::text", head, column)
    for (const table of others)
      await transaction.query('SELECT create_distributed_table($1, $2, colocate_with => $3)::text', table, column, head)
  }
}

/** Whether the table exists and is not distributed yet. */
async function isLocal(transaction: Transaction, table: string): Promise<boolean> {
  const found = await transaction.query(
    `SELECT 1 WHERE to_regclass($1) IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass($1))`,
    table,
  )
  return found.length > 0
}
