// How the tables are spread where the Citus extension is there. The only file that knows Citus: statements are the same.
import type { Transaction } from './database.ts'

/** Tables by the column that decides on which worker a row lies; those of one group lie together. */
const distributed: readonly { column: string; tables: readonly string[] }[] = [
  { column: 'contract', tables: ['transfers', 'hot_transfers', 'transfer_counts'] },
  { column: 'chain', tables: ['blocks', 'hot_blocks'] },
  { column: 'address', tables: ['activity', 'hot_activity'] },
  { column: 'owner', tables: ['solana_accounts', 'solana_holdings'] },
  { column: 'account', tables: ['solana_closed'] },
]

/**
 * Small, and read beside the others: a copy on every worker. The tables that are missing here (revisions, label_changes, leases,
 * checkpoints, keys) stay on the coordinator, where every process connects.
 */
const reference = [
  'chains',
  'contracts',
  'coverage',
  'watched_contracts',
  'solana_mints',
  'labels',
  'contract_facts',
  'contract_marks',
]

export async function hasCitus(transaction: Transaction): Promise<boolean> {
  return (await transaction.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0
}

/** A transaction that writes to a reference table or reads shards, and then spreads tables, must use one connection to each worker. */
export async function useOneConnection(transaction: Transaction): Promise<void> {
  await transaction.script("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
}

/** After a step of the schema, in the same transaction: tables that are new are spread, with the rows that the step gave them. */
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

/** Whether the table is there and was not spread yet. */
async function isLocal(transaction: Transaction, table: string): Promise<boolean> {
  const found = await transaction.query(
    `SELECT 1 WHERE to_regclass($1) IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass($1))`,
    table,
  )
  return found.length > 0
}
