// Rates and quotas of keys, shared by every process on the store: tables of the file beside it. Callers hold the transaction.
import type { AllowanceGrant, AllowanceRequest } from '../key-store.ts'
import type { Connection } from './connection.ts'

/** `usedToday` is asked for where the table does not know of the day yet. */
export function takeAllowance(
  connection: Connection,
  request: AllowanceRequest,
  usedToday: (day: string) => number,
): AllowanceGrant {
  const { keyId, wanted, ratePerSecond, quotaPerDay, unused } = request
  const now = Date.now()
  const day = dayOf(now)
  const row = connection.get(
    'SELECT second_ends_at, used_in_second, day, used_in_day FROM allowances WHERE key_id = ?',
    keyId,
  ) as [number, number, string, number] | undefined
  const sameSecond = row !== undefined && now < row[0]
  const secondEndsAt = sameSecond ? row[0] : now + 1_000
  const usedInSecond = sameSecond ? row[1] : 0
  const givenBack = unused?.day === day ? unused.count : 0
  const usedInDay = row?.[2] === day ? Math.max(0, row[3] - givenBack) : usedToday(day)
  const left = Math.min(
    (ratePerSecond ?? Number.POSITIVE_INFINITY) - usedInSecond,
    (quotaPerDay ?? Number.POSITIVE_INFINITY) - usedInDay,
  )
  const granted = Math.max(0, Math.floor(Math.min(wanted, left)))
  connection.run(
    'INSERT OR REPLACE INTO allowances VALUES (?, ?, ?, ?, ?)',
    keyId,
    secondEndsAt,
    usedInSecond + granted,
    day,
    usedInDay + granted,
  )
  return {
    granted,
    usedInSecond: usedInSecond + granted,
    secondEndsInMs: secondEndsAt - now,
    day,
    usedInDay: usedInDay + granted,
  }
}

export function takeIndexing(
  connection: Connection,
  { keyId, target, perDay }: { keyId: string; target: string; perDay: number },
): boolean {
  const day = dayOf(Date.now())
  connection.run('DELETE FROM indexing_uses WHERE day < ?', day)
  const known = 'SELECT 1 FROM indexing_uses WHERE day = ? AND key_id = ? AND target = ?'
  if (connection.get(known, day, keyId, target) !== undefined) return true
  const used = connection.get('SELECT count(*) FROM indexing_uses WHERE day = ? AND key_id = ?', day, keyId)
  if ((used?.[0] as number) >= perDay) return false
  connection.run('INSERT INTO indexing_uses VALUES (?, ?, ?)', day, keyId, target)
  return true
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
