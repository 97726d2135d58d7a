// Keys and their daily use. Only the hash of a key is ever seen here.
import { AlmanacError } from '../../errors.ts'
import type { AllowanceGrant, AllowanceRequest, KeyRecord, KeyStore, KeyUse } from '../key-store.ts'
import { keyColumns, keyValues, putKeyStatement } from '../key-store.ts'
import { int8Array, optionalNumber, textArray } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

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

// Rates and quotas of keys, shared by every process on the database. Time is the server's.

const dayOfNow = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`

// One statement, so that a request waits for one round trip; the row's lock puts processes in line. LEAST leaves out what is NULL:
// a rate or a quota that the key has not.
const isNewSecond = `excluded.second_ends_at - interval '1 second' >= known.second_ends_at`
const usedInSecond = `CASE WHEN ${isNewSecond} THEN 0 ELSE known.used_in_second END`
const givenBack = `CASE WHEN $5::text = known.day THEN $6::int8 ELSE 0 END`
const usedInDay = `CASE WHEN excluded.day > known.day THEN excluded.used_in_day - excluded.granted
  ELSE greatest(0, known.used_in_day - ${givenBack}) END`
const grant = (inSecond: string, inDay: string): string =>
  `greatest(0, least($2::int8, floor($3::float8)::int8 - (${inSecond}), $4::int8 - (${inDay})))`

const takeSql = `INSERT INTO allowances AS known (key_id, second_ends_at, used_in_second, day, used_in_day, granted)
  SELECT $1::text, ends_at, granted, day, used + granted, granted FROM (
    SELECT *, ${grant('0', 'used')} AS granted FROM (
      SELECT clock_timestamp() + interval '1 second' AS ends_at, today.day,
        (SELECT coalesce(sum(count), 0)::int8 FROM key_uses WHERE key_uses.day = today.day AND key_id = $1::text) AS used
      FROM (SELECT ${dayOfNow} AS day) AS today
    ) AS start
  ) AS fresh
  ON CONFLICT (key_id) DO UPDATE SET
    second_ends_at = CASE WHEN ${isNewSecond} THEN excluded.second_ends_at ELSE known.second_ends_at END,
    used_in_second = ${usedInSecond} + ${grant(usedInSecond, usedInDay)},
    day = greatest(known.day, excluded.day),
    used_in_day = ${usedInDay} + ${grant(usedInSecond, usedInDay)},
    granted = ${grant(usedInSecond, usedInDay)}
  RETURNING granted, used_in_second, extract(epoch FROM second_ends_at - clock_timestamp()) * 1000, day, used_in_day`

export async function takeAllowance(database: Database, request: AllowanceRequest): Promise<AllowanceGrant> {
  const { keyId, wanted, ratePerSecond, quotaPerDay, unused } = request
  const [row = []] = await database.write(
    takeSql,
    keyId,
    wanted,
    ratePerSecond ?? null,
    quotaPerDay ?? null,
    unused?.day ?? null,
    unused?.count ?? 0,
  )
  return {
    granted: Number(row[0]),
    usedInSecond: Number(row[1]),
    secondEndsInMs: Math.max(0, Number(row[2])),
    day: row[3] as string,
    usedInDay: Number(row[4]),
  }
}

export async function takeIndexing(
  transaction: Transaction,
  { keyId, target, perDay }: { keyId: string; target: string; perDay: number },
): Promise<boolean> {
  // One at a time for each key, so that two processes cannot both take the last one.
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', `indexing ${keyId}`)
  const [[day] = []] = await transaction.query(`SELECT ${dayOfNow}`)
  await transaction.run('DELETE FROM indexing_uses WHERE day < $1 AND key_id = $2', day as string, keyId)
  const taken = await transaction.run(
    `INSERT INTO indexing_uses SELECT $1, $2, $3
     WHERE (SELECT count(*) FROM indexing_uses WHERE day = $1 AND key_id = $2) < $4
       OR EXISTS (SELECT 1 FROM indexing_uses WHERE day = $1 AND key_id = $2 AND target = $3)
     ON CONFLICT (day, key_id, target) DO UPDATE SET target = excluded.target`,
    day as string,
    keyId,
    target,
    perDay,
  )
  return taken > 0
}
