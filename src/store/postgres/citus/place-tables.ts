// Where tables are on Citus. Those that are not listed here stay on the coordinator, where every process connects: a
// block at the head is then a commit of one server, and a request reads from a worker only what is spread.
import { AlmanacError } from '../../../errors.ts'
import { arrayOf } from '../arrays.ts'
import type { Database, Transaction } from '../database.ts'

/** Tables by the column that decides which worker stores a row; rows of one group are stored together. */
const distributed: readonly { column: string; tables: readonly string[] }[] = [
  { column: 'chain', tables: ['blocks'] },
  { column: 'slot', tables: ['runs', 'packs'] },
  { column: 'owner', tables: ['solana_accounts', 'solana_holdings'] },
  { column: 'account', tables: ['solana_closed'] },
]

/** Read together with rows on the workers: a copy on every one. */
const reference = ['solana_mints']

/** Whether the rows of a table are on the workers. */
export function isSpread(table: string): boolean {
  return distributed.some(({ tables }) => tables.includes(table))
}

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

/** Distributes the tables that are not yet, with their rows, in one transaction. */
export async function placeTables(transaction: Transaction, location: string): Promise<void> {
  const names = [...reference, ...distributed.flatMap(({ tables }) => tables)]
  const local = new Set(await undistributed(transaction, names))
  if (local.size === 0) return
  await requireWorkers(transaction, location)
  await useOneConnection(transaction)
  // Rows of a restored store are copied to the workers, which can take long.
  await transaction.script('SET LOCAL statement_timeout = 0')
  for (const table of reference)
    if (local.has(table)) await transaction.slow(`SELECT create_reference_table('${table}')`)
  for (const { column, tables } of distributed)
    for (const table of tables) {
      const beside = table === tables[0] ? 'none' : tables[0]
      if (local.has(table))
        await transaction.slow(`SELECT create_distributed_table('${table}', '${column}', colocate_with => '${beside}')`)
    }
  if (local.has('packs')) await fillSlots(transaction)
  // What was copied is no longer read here.
  for (const table of local) await transaction.slow(`SELECT truncate_local_data_after_distributing_table('${table}')`)
}

/** A table whose rows lie with those of another, by a column of both. */
export async function placeBeside(
  transaction: Transaction,
  other: string,
  { name, column }: { name: string; column: string },
): Promise<void> {
  await transaction.query('SELECT create_distributed_table($1, $2, colocate_with => $3)::text', name, column, other)
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

async function undistributed(transaction: Transaction, names: readonly string[]): Promise<string[]> {
  const found = await transaction.query(
    `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass(name))`,
    arrayOf.text(names),
  )
  return found.map(([name]) => name as string)
}
