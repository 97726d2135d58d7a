// Keys and their daily use. It sees only the hash of a key. Functions that take a connection run in their caller's
// transaction.
import type { AllowanceGrant, AllowanceRequest, IndexingRequest, KeyStore } from '../key-store.ts'
import { keyColumns, keyIdTaken, keyOf, keyValues, putKeySql } from '../key-store.ts'
import type { Connection } from './connection.ts'
import type { SharedFile } from './shared-file.ts'
import type { StoreFile } from './store-file.ts'

const put = putKeySql(() => '?')

export function keyStore(file: StoreFile, shared: SharedFile): KeyStore {
  return {
    putKey: key =>
      file.writing(({ connection }) => {
        const other = connection.get('SELECT 1 FROM keys WHERE id = ? AND hash <> ?', key.id, key.hash)
        if (other !== undefined) throw keyIdTaken(key)
        connection.run(put, ...keyValues(key))
      }),
    keyByHash: async hash =>
      file.reading(read => read.all(`SELECT ${keyColumns} FROM keys WHERE hash = ?`, hash).map(keyOf)[0]),
    keys: async () =>
      file.reading(read => read.all(`SELECT ${keyColumns} FROM keys ORDER BY created_at, id`).map(keyOf)),
    revokeKey: (id, revokedAt) =>
      file.writing(({ connection }) => {
        connection.run('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', revokedAt, id)
        return connection.get('SELECT 1 FROM keys WHERE id = ?', id) !== undefined
      }),
    expireKey: (id, expiresAt) =>
      file.writing(({ connection }) => {
        const earlier = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)'
        connection.run(`UPDATE keys SET expires_at = ? WHERE id = ? AND ${earlier}`, expiresAt, id, expiresAt)
        return connection.get('SELECT 1 FROM keys WHERE id = ?', id) !== undefined
      }),
    addUse: uses =>
      file.writingUnseen(connection => {
        const add = 'INSERT INTO key_uses VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count'
        for (const { keyId, day, operation, count } of uses) connection.run(add, day, keyId, operation, count)
      }),
    usesOf: async day => {
      const find = 'SELECT key_id, operation, count FROM key_uses WHERE day = ? ORDER BY key_id, operation'
      const rows = file.reading(read => read.all(find, day)) as [string, string, number][]
      return rows.map(([keyId, operation, count]) => ({ keyId, day, operation, count }))
    },
    lastUses: async since => {
      const find = 'SELECT key_id, max(day) FROM key_uses WHERE day >= ? GROUP BY key_id'
      return new Map(file.reading(read => read.all(find, since)) as [string, string][])
    },
    takeAllowance: request =>
      shared.writing(connection =>
        takeAllowance(connection, request, day => file.reading(read => usedOn(read, day, request.keyId))),
      ),
    takeIndexing: asked => shared.writing(connection => takeIndexing(connection, asked)),
  }
}

/** All operations of a key on a day. */
function usedOn(connection: Connection, day: string, keyId: string): number {
  const sum = 'SELECT coalesce(sum(count), 0) FROM key_uses WHERE day = ? AND key_id = ?'
  return connection.get(sum, day, keyId)?.[0] as number
}

// Rates and quotas of keys, which all processes on the store share: tables of the file beside it.

/** Calls `usedToday` where the table has no row of the day yet. */
function takeAllowance(
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
  // An end further away was written before the clock went back.
  const sameSecond = row !== undefined && now < row[0] && row[0] - now <= 1_000
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

function takeIndexing(connection: Connection, { keyId, targets, perDay }: IndexingRequest): boolean {
  const day = dayOf(Date.now())
  // Not at once: a clock that was ahead for a moment must not give a key its day again.
  connection.run('DELETE FROM indexing_uses WHERE day < ?', dayOf(Date.now() - 7 * 86_400_000))
  const known = 'SELECT 1 FROM indexing_uses WHERE day = ? AND key_id = ? AND target = ?'
  const fresh = [...new Set(targets)].filter(target => connection.get(known, day, keyId, target) === undefined)
  if (fresh.length === 0) return true
  const used = connection.get('SELECT count(*) FROM indexing_uses WHERE day = ? AND key_id = ?', day, keyId)
  if ((used?.[0] as number) + fresh.length > perDay) return false
  for (const target of fresh) connection.run('INSERT INTO indexing_uses VALUES (?, ?, ?)', day, keyId, target)
  return true
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
