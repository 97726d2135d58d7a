// First and last transactions of addresses, cold and hot. Callers hold the transaction.
import type { ActivityRow, Address, ChainId, Hash, TransactionRef } from '../../model.ts'
import type { ActivityReader } from '../activity-store.ts'
import { bytesOfHex } from '../bytes.ts'
import { mergeActivity, mergedByAddress } from '../merge-activity.ts'
import { byteaArray, int4Array, int8Array } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import type { Dictionary } from './dictionary.ts'
import type { StoreDatabase } from './store-database.ts'
import { hexTextOf } from './values.ts'

export function activityReader({ database, dictionary }: StoreDatabase): ActivityReader {
  return { activityOf: address => activityOf(database, dictionary, address) }
}

const columns = `first_block, first_tx, first_hash, first_timestamp, last_block, last_tx, last_hash, last_timestamp`

// A repeat changes no row: the WHERE is what keeps it from counting as a change, and from leaving dead rows behind.
function keepFirstAndLast(table: string): string {
  const earlier = `(excluded.first_block, excluded.first_tx) < (${table}.first_block, ${table}.first_tx)`
  const later = `(excluded.last_block, excluded.last_tx) > (${table}.last_block, ${table}.last_tx)`
  const keep = (column: string): string =>
    `${column} = CASE WHEN ${column.startsWith('first') ? earlier : later} THEN excluded.${column} ELSE ${table}.${column} END`
  return `DO UPDATE SET ${columns.split(', ').map(keep).join(', ')} WHERE ${earlier} OR ${later}`
}

const given = `unnest($2::bytea[], $3::int4[], $4::int4[], $5::bytea[], $6::int8[], $7::int4[], $8::int4[], $9::bytea[], $10::int8[])
  AS given (address, ${columns})`

const mergeColdSql = `INSERT INTO activity (address, chain, ${columns}) SELECT address, $1::int4, ${columns} FROM ${given}
  ON CONFLICT (address, chain) ${keepFirstAndLast('activity')}`
const mergeHotSql = `INSERT INTO hot_activity (address, chain, block, ${columns}) SELECT address, $1::int4, $11::int4, ${columns} FROM ${given}
  ON CONFLICT (address, chain, block) ${keepFirstAndLast('hot_activity')}`

export async function mergeCold(
  transaction: Transaction,
  ordinal: number,
  rows: readonly ActivityRow[],
): Promise<void> {
  if (rows.length > 0) await transaction.runCounted(mergeColdSql, ordinal, ...columnsOf(mergedByAddress(rows)))
}

export async function mergeHot(
  transaction: Transaction,
  ordinal: number,
  block: number,
  rows: readonly ActivityRow[],
): Promise<void> {
  if (rows.length > 0) await transaction.runCounted(mergeHotSql, ordinal, ...columnsOf(mergedByAddress(rows)), block)
}

function columnsOf(rows: readonly ActivityRow[]): Buffer[] {
  const refs = (pick: (row: ActivityRow) => TransactionRef): Buffer[] => [
    int4Array(rows.map(row => pick(row).block)),
    int4Array(rows.map(row => pick(row).transactionIndex)),
    byteaArray(rows.map(row => bytesOfHex(pick(row).hash))),
    int8Array(rows.map(row => pick(row).timestamp)),
  ]
  const addresses = byteaArray(rows.map(row => bytesOfHex(row.address)))
  return [addresses, ...refs(row => row.first), ...refs(row => row.last)]
}

export async function dropHotAbove(transaction: Transaction, ordinal: number, block: number): Promise<void> {
  await transaction.run('DELETE FROM hot_activity WHERE chain = $1 AND block > $2', ordinal, block)
}

export async function moveActivityToCold(transaction: Transaction, ordinal: number, upTo: number): Promise<void> {
  const moved = await transaction.write(
    `DELETE FROM hot_activity WHERE chain = $1 AND block <= $2 RETURNING address, ${columns}`,
    ordinal,
    upTo,
  )
  await mergeCold(
    transaction,
    ordinal,
    moved.map(row => activityOfRow(hexTextOf<Address>(row[0]), row)),
  )
}

async function activityOf(
  database: Database,
  dictionary: Dictionary,
  address: Address,
): Promise<Map<ChainId, ActivityRow>> {
  const rows = await database.read(
    `SELECT chain, ${columns} FROM activity WHERE address = $1
     UNION ALL SELECT chain, ${columns} FROM hot_activity WHERE address = $1`,
    bytesOfHex(address),
  )
  const byChain = new Map<ChainId, ActivityRow>()
  for (const row of rows) {
    const chain = await dictionary.chainOf(Number(row[0]))
    const found = activityOfRow(address, row)
    const known = byChain.get(chain)
    byChain.set(chain, known === undefined ? found : mergeActivity(known, found))
  }
  return byChain
}

/** The eight columns stand behind one other. */
function activityOfRow(address: Address, row: Row): ActivityRow {
  const refAt = (at: number): TransactionRef => ({
    block: Number(row[at]),
    transactionIndex: Number(row[at + 1]),
    hash: hexTextOf<Hash>(row[at + 2]),
    timestamp: Number(row[at + 3]),
  })
  return { address, first: refAt(1), last: refAt(5) }
}
