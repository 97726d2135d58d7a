// Rates and quotas of keys, shared by every process on the database. Time is the server's.
import type { AllowanceGrant, AllowanceRequest } from '../key-store.ts'
import type { Database, Transaction } from './database.ts'

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
