// Keys and their daily use. Only the hash of a key is ever seen here. Functions that take a connection run
// in their caller's transaction.
import { AlmanacError } from '../../errors.ts'
import type { AllowanceGrant, AllowanceRequest, KeyRecord, KeyStore, KeyUse } from '../key-store.ts'
import { keyColumns, keyValues, putKeyStatement } from '../key-store.ts'
import type { Connection, Row } from './connection.ts'
import type { SharedFile } from './shared-file.ts'
import type { StoreFile } from './store-file.ts'

export function keyStore(file: StoreFile, shared: SharedFile): KeyStore {
  return {
    putKey: key => file.writing(({ connection }) => putKey(connection, key)),
    keyByHash: async hash => file.reading(read => keyByHash(read, hash)),
    keys: async () => file.reading(allKeys),
    revokeKey: (id, revokedAt) => file.writing(({ connection }) => revokeKey(connection, id, revokedAt)),
    addUse: uses => file.writingUnseen(connection => addUse(connection, uses)),
    usesOf: async day => file.reading(read => usesOf(read, day)),
    takeAllowance: request =>
      shared.writing(connection =>
        takeAllowance(connection, request, day => file.reading(read => usedOn(read, day, request.keyId))),
      ),
    takeIndexing: asked => shared.writing(connection => takeIndexing(connection, asked)),
  }
}

const putKeyText = putKeyStatement(() => '?')

function putKey(connection: Connection, key: KeyRecord): void {
  const other = connection.get('SELECT 1 FROM keys WHERE id = ? AND hash <> ?', key.id, key.hash)
  if (other !== undefined) throw new AlmanacError('conflict', `Another key has the id ${key.id}.`)
  connection.run(putKeyText, ...keyValues(key))
}

function keyByHash(connection: Connection, hash: string): KeyRecord | undefined {
  const row = connection.get(`SELECT ${keyColumns} FROM keys WHERE hash = ?`, hash)
  return row === undefined ? undefined : keyOf(row)
}

function allKeys(connection: Connection): KeyRecord[] {
  return connection.all(`SELECT ${keyColumns} FROM keys ORDER BY created_at, id`).map(keyOf)
}

/** The first revocation stays. */
function revokeKey(connection: Connection, id: string, revokedAt: number): boolean {
  connection.run('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', revokedAt, id)
  return connection.get('SELECT 1 FROM keys WHERE id = ?', id) !== undefined
}

function addUse(connection: Connection, uses: readonly KeyUse[]): Map<string, number> {
  const latestDays = new Map<string, string>()
  for (const { keyId, day, operation, count } of uses) {
    connection.run(
      'INSERT INTO key_uses VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count',
      day,
      keyId,
      operation,
      count,
    )
    const known = latestDays.get(keyId)
    if (known === undefined || known < day) latestDays.set(keyId, day)
  }
  const totals = new Map<string, number>()
  for (const [keyId, day] of latestDays) totals.set(keyId, usedOn(connection, day, keyId))
  return totals
}

/** All operations of a key on a day. */
function usedOn(connection: Connection, day: string, keyId: string): number {
  const row = connection.get('SELECT coalesce(sum(count), 0) FROM key_uses WHERE day = ? AND key_id = ?', day, keyId)
  return (row as Row)[0] as number
}

function usesOf(connection: Connection, day: string): KeyUse[] {
  return connection
    .all('SELECT key_id, operation, count FROM key_uses WHERE day = ? ORDER BY key_id, operation', day)
    .map(([keyId, operation, count]) => ({
      keyId: keyId as string,
      day,
      operation: operation as string,
      count: count as number,
    }))
}

function keyOf(row: Row): KeyRecord {
  const optional = (value: Row[number] | undefined) => (value as number | null) ?? undefined
  return {
    id: row[0] as string,
    name: row[1] as string,
    hash: row[2] as string,
    scopes: JSON.parse(row[3] as string) as string[],
    createdAt: row[4] as number,
    expiresAt: optional(row[5]),
    revokedAt: optional(row[6]),
    ratePerSecond: optional(row[7]),
    quotaPerDay: optional(row[8]),
    indexPerDay: optional(row[9]),
  }
}

// Rates and quotas of keys, shared by every process on the store: tables of the file beside it. Callers hold the transaction.

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
