// Keys and their daily use. Only the hash of a key is ever seen here.
import { AlmanacError } from '../../errors.ts'
import { keyColumns, keyValues, putKeyStatement } from '../key-row.ts'
import type { KeyRecord, KeyStore, KeyUse } from '../key-store.ts'
import { takeAllowance, takeIndexing } from './allowances.ts'
import { int8Array, textArray } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'
import { optionalNumber } from './values.ts'

export function keyStore(store: StoreDatabase): KeyStore {
  const { database } = store
  return {
    putKey: key => store.writing(transaction => putKey(transaction, key)),
    keyByHash: hash => keyByHash(database, hash),
    keys: () => allKeys(database),
    revokeKey: (id, revokedAt) => store.writing(transaction => revokeKey(transaction, id, revokedAt)),
    addUse: uses => store.writingUnseen(transaction => addUse(transaction, uses)),
    usesOf: day => usesOf(database, day),
    takeAllowance: request => takeAllowance(database, request),
    takeIndexing: asked => store.writingUnseen(transaction => takeIndexing(transaction, asked)),
  }
}

const putKeyText = putKeyStatement(at => `$${at}`)

async function putKey(transaction: Transaction, key: KeyRecord): Promise<void> {
  const others = await transaction.query('SELECT 1 FROM keys WHERE id = $1 AND hash <> $2', key.id, key.hash)
  if (others.length > 0) throw new AlmanacError('conflict', `Another key has the id ${key.id}.`)
  await transaction.run(putKeyText, ...keyValues(key))
}

async function keyByHash(database: Database, hash: string): Promise<KeyRecord | undefined> {
  const [row] = await database.read(`SELECT ${keyColumns} FROM keys WHERE hash = $1`, hash)
  return row === undefined ? undefined : keyOf(row)
}

async function allKeys(database: Database): Promise<KeyRecord[]> {
  return (await database.read(`SELECT ${keyColumns} FROM keys ORDER BY created_at, id COLLATE "C"`)).map(keyOf)
}

/** The first revocation stays. */
async function revokeKey(transaction: Transaction, id: string, revokedAt: number): Promise<boolean> {
  await transaction.run('UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL', id, revokedAt)
  return (await transaction.query('SELECT 1 FROM keys WHERE id = $1', id)).length > 0
}

/** Uses of one key, day and operation are summed first: one statement cannot write one row twice. */
async function addUse(transaction: Transaction, uses: readonly KeyUse[]): Promise<Map<string, number>> {
  const sums = new Map<string, KeyUse>()
  const latestDays = new Map<string, string>()
  for (const use of uses) {
    const key = JSON.stringify([use.day, use.keyId, use.operation])
    sums.set(key, { ...use, count: use.count + (sums.get(key)?.count ?? 0) })
    if ((latestDays.get(use.keyId) ?? '') < use.day) latestDays.set(use.keyId, use.day)
  }
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, use]) => use)
  await transaction.run(
    `INSERT INTO key_uses (day, key_id, operation, count)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
     ON CONFLICT (day, key_id, operation) DO UPDATE SET count = key_uses.count + excluded.count`,
    textArray(sorted.map(use => use.day)),
    textArray(sorted.map(use => use.keyId)),
    textArray(sorted.map(use => use.operation)),
    int8Array(sorted.map(use => use.count)),
  )
  const totals = await transaction.query(
    `SELECT key_id, sum(count) FROM key_uses
     WHERE (day, key_id) IN (SELECT * FROM unnest($1::text[], $2::text[])) GROUP BY key_id`,
    textArray([...latestDays.values()]),
    textArray([...latestDays.keys()]),
  )
  return new Map(totals.map(([keyId, total]) => [keyId as string, Number(total)]))
}

async function usesOf(database: Database, day: string): Promise<KeyUse[]> {
  const rows = await database.read(
    'SELECT key_id, operation, count FROM key_uses WHERE day = $1 ORDER BY key_id, operation',
    day,
  )
  return rows.map(([keyId, operation, count]) => ({
    keyId: keyId as string,
    day,
    operation: operation as string,
    count: Number(count),
  }))
}

function keyOf(row: Row): KeyRecord {
  return {
    id: row[0] as string,
    name: row[1] as string,
    hash: row[2] as string,
    scopes: JSON.parse(row[3] as string) as string[],
    createdAt: Number(row[4]),
    expiresAt: optionalNumber(row[5]),
    revokedAt: optionalNumber(row[6]),
    ratePerSecond: optionalNumber(row[7]),
    quotaPerDay: optionalNumber(row[8]),
    indexPerDay: optionalNumber(row[9]),
  }
}
