// Keys and their daily use. It sees only the hash of a key.
import type { AllowanceGrant, AllowanceRequest, IndexingRequest, KeyStore, KeyUse } from '../key-store.ts'
import { keyColumns, keyIdTaken, keyOf, keyValues, putKeySql } from '../key-store.ts'
import { int8Array, textArray } from './arrays.ts'
import type { Database, Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

const put = putKeySql(at => `$${at}`)

export function keyStore(store: StoreDatabase): KeyStore {
  const { database } = store
  return {
    putKey: key =>
      store.writing(async transaction => {
        const others = await transaction.query('SELECT 1 FROM keys WHERE id = $1 AND hash <> $2', key.id, key.hash)
        if (others.length > 0) throw keyIdTaken(key)
        await transaction.run(put, ...keyValues(key))
      }),
    keyByHash: async hash =>
      (await database.read(`SELECT ${keyColumns} FROM keys WHERE hash = $1`, hash)).map(keyOf)[0],
    keys: async () =>
      (await database.read(`SELECT ${keyColumns} FROM keys ORDER BY created_at, id COLLATE "C"`)).map(keyOf),
    revokeKey: (id, revokedAt) =>
      store.writing(async transaction => {
        await transaction.run('UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL', id, revokedAt)
        return (await transaction.query('SELECT 1 FROM keys WHERE id = $1', id)).length > 0
      }),
    expireKey: (id, expiresAt) =>
      store.writing(async transaction => {
        const earlier = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)'
        await transaction.run(`UPDATE keys SET expires_at = $2 WHERE id = $1 AND ${earlier}`, id, expiresAt)
        return (await transaction.query('SELECT 1 FROM keys WHERE id = $1', id)).length > 0
      }),
    addUse: uses => store.writingUnseen(transaction => addUse(transaction, uses)),
    usesOf: async day => {
      const find = 'SELECT key_id, operation, count FROM key_uses WHERE day = $1 ORDER BY key_id, operation'
      const rows = (await database.read(find, day)) as [string, string, string][]
      return rows.map(([keyId, operation, count]) => ({ keyId, day, operation, count: Number(count) }))
    },
    lastUses: async since => {
      const find = 'SELECT key_id, max(day) FROM key_uses WHERE day >= $1 GROUP BY key_id'
      return new Map((await database.read(find, since)) as [string, string][])
    },
    takeAllowance: request => takeAllowance(database, request),
    takeIndexing: asked => store.writingUnseen(transaction => takeIndexing(transaction, asked)),
  }
}

/** Sums the uses of one key, day and operation first: one statement cannot write one row twice. */
async function addUse(transaction: Transaction, uses: readonly KeyUse[]): Promise<void> {
  const sums = new Map<string, KeyUse>()
  for (const use of uses) {
    const key = JSON.stringify([use.day, use.keyId, use.operation])
    sums.set(key, { ...use, count: use.count + (sums.get(key)?.count ?? 0) })
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
}

// Rates and quotas of keys, which all processes on the database share. Time is the server's.

const dayOfNow = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`

// One statement, so a request waits for one round trip; the lock of the row queues processes. LEAST skips NULL: a rate
// or a quota that the key does not have.
// Whoever waited for the lock finds an end that is a little later than its own. One that is later by more than a second
// was written before the clock went back.
const isClockBack = `known.second_ends_at > excluded.second_ends_at + interval '1 second'`
const isNewSecond = `(excluded.second_ends_at - interval '1 second' >= known.second_ends_at OR ${isClockBack})`
const isNewDay = `(excluded.day > known.day OR excluded.day < known.day AND ${isClockBack})`
const usedInSecond = `CASE WHEN ${isNewSecond} THEN 0 ELSE known.used_in_second END`
const givenBack = `CASE WHEN $5::text = known.day THEN $6::int8 ELSE 0 END`
const usedInDay = `CASE WHEN ${isNewDay} THEN excluded.used_in_day - excluded.granted
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
    day = CASE WHEN ${isNewDay} THEN excluded.day ELSE known.day END,
    used_in_day = ${usedInDay} + ${grant(usedInSecond, usedInDay)},
    granted = ${grant(usedInSecond, usedInDay)}
  RETURNING granted, used_in_second, extract(epoch FROM second_ends_at - clock_timestamp()) * 1000, day, used_in_day`

async function takeAllowance(database: Database, request: AllowanceRequest): Promise<AllowanceGrant> {
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

async function takeIndexing(transaction: Transaction, { keyId, targets, perDay }: IndexingRequest): Promise<boolean> {
  // One at a time for each key: two processes must not both take the last target.
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', `indexing ${keyId}`)
  const [[day] = []] = await transaction.query(`SELECT ${dayOfNow}`)
  // Not at once: a clock that was ahead for a moment must not give a key its day again.
  const kept = `to_char($1::date - 7, 'YYYY-MM-DD')`
  await transaction.run(`DELETE FROM indexing_uses WHERE day < ${kept} AND key_id = $2`, day as string, keyId)
  const asked = [day as string, keyId, JSON.stringify([...new Set(targets)])] as const
  const values = 'json_array_elements_text($3::json) AS value'
  const [[known, used] = []] = await transaction.query(
    `SELECT (SELECT count(*) FROM indexing_uses WHERE day = $1 AND key_id = $2 AND target IN (SELECT value FROM ${values})),
            (SELECT count(*) FROM indexing_uses WHERE day = $1 AND key_id = $2)`,
    ...asked,
  )
  const fresh = new Set(targets).size - Number(known)
  if (fresh === 0) return true
  if (Number(used) + fresh > perDay) return false
  await transaction.run(
    `INSERT INTO indexing_uses SELECT $1, $2, value FROM ${values} ON CONFLICT (day, key_id, target) DO NOTHING`,
    ...asked,
  )
  return true
}
