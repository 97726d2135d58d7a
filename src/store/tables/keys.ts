// Keys, their daily use, and the rates and quotas that all processes share. It sees only the hash of a key.
import { AlmanacError } from '../../errors.ts'
import {
  type Engine,
  lastOfEach,
  lockNames,
  plain,
  plainUnseen,
  put,
  type Row,
  row,
  rows,
  run,
  type Value,
  type Work,
  written,
} from '../core/work.ts'
import type {
  AllowanceGrant,
  AllowanceRequest,
  IndexingRequest,
  KeyEnd,
  KeyFilter,
  KeyRecord,
  KeyStore,
  KeyUse,
  StoredKey,
} from '../key-store.ts'

export function keyStore(engine: Engine): KeyStore {
  const { shared } = engine
  return {
    putKey: key => engine.write(() => putKey(key), plain),
    keys: asked => engine.read(() => keys(asked)),
    endKey: (id, end) => engine.write(() => endKey(id, end), plain),
    addUse: uses => engine.write(() => addUse(uses), plainUnseen),
    usesOf: day => engine.read(() => usesOf(day)),
    async takeAllowance(request) {
      for (let attempt = 1; attempt <= takesMax; attempt++) {
        const grant = await shared.state(() => takeAllowance(request))
        if (grant !== undefined) return grant
        const used = await engine.read(() => usedToday(request.keyId))
        await shared.state(() => beginDay(request.keyId, ...used))
      }
      throw new AlmanacError('store_failed', `The day of key ${request.keyId} could not be begun.`, { retryable: true })
    },
    takeIndexing: asked => shared.write(() => takeIndexing(asked)),
  }
}

// A key as a row of the table.

const columnOf = {
  ...{ id: 'id', name: 'name', hash: 'hash', scopes: 'scopes', createdAt: 'created_at', expiresAt: 'expires_at' },
  ...{ revokedAt: 'revoked_at', ratePerSecond: 'rate_per_second', quotaPerDay: 'quota_per_day' },
  ...{ indexPerDay: 'index_per_day', indexWaiting: 'index_waiting', replaces: 'replaces' },
} as const satisfies Record<keyof KeyRecord, string>
const fields = Object.keys(columnOf) as (keyof KeyRecord)[]

function keyOf(cells: Row): KeyRecord {
  const key = Object.fromEntries(fields.map((field, at) => [field, cells[at] ?? undefined]))
  return { ...key, scopes: JSON.parse(key.scopes) } as KeyRecord
}

function* putKey(key: KeyRecord): Work<void> {
  const other = yield* row('SELECT 1 FROM keys WHERE id = $1 AND hash <> $2', key.id, key.hash)
  if (other !== undefined) throw new AlmanacError('conflict', `Another key has the id ${key.id}.`)
  const cells = { ...key, scopes: JSON.stringify(key.scopes) }
  yield* put('keys', [Object.fromEntries(fields.map(field => [columnOf[field], cells[field]]))], {
    key: ['hash'],
    set: { revoked_at: 'coalesce(keys.revoked_at, excluded.revoked_at)' },
  })
}

const find = `SELECT ${Object.values(columnOf)} FROM keys`
const lastUses = 'SELECT key_id, max(day) FROM key_uses WHERE day >= $1 GROUP BY key_id'

function* keys({ hash, usedSince }: KeyFilter = {}): Work<StoredKey[]> {
  const found = yield* hash === undefined
    ? rows(`${find} ORDER BY created_at, id`)
    : rows(`${find} WHERE hash = $1`, hash)
  if (usedSince === undefined) return found.map(keyOf)
  const lastDays = new Map((yield* rows(lastUses, usedSince)) as [string, string][])
  return found.map(keyOf).map(key => ({ ...key, ...withDay(lastDays.get(key.id)) }))
}

function withDay(lastUsedOn: string | undefined): Pick<StoredKey, 'lastUsedOn'> {
  return lastUsedOn === undefined ? {} : { lastUsedOn }
}

const revoke = 'UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL'
const expire = `UPDATE keys SET expires_at = $2
  WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`

/** Whether there is such a key, changed or not. */
function* endKey(id: string, end: KeyEnd): Work<boolean> {
  if ('revokedAt' in end) yield* run(revoke, id, end.revokedAt)
  else yield* run(expire, id, end.expiresAt)
  return (yield* row('SELECT 1 FROM keys WHERE id = $1', id)) !== undefined
}

function* addUse(uses: readonly KeyUse[]): Work<void> {
  const sums = new Map<string, KeyUse>()
  const keyOfUse = ({ day, keyId, operation }: KeyUse): string => JSON.stringify([day, keyId, operation])
  for (const use of uses) {
    const key = keyOfUse(use)
    sums.set(key, { ...use, count: use.count + (sums.get(key)?.count ?? 0) })
  }
  const sorted = lastOfEach([...sums.values()], keyOfUse)
  yield* put(
    'key_uses',
    sorted.map(({ day, keyId, operation, count }) => ({ day, key_id: keyId, operation, count })),
    { set: { count: 'key_uses.count + excluded.count' } },
  )
}

function* usesOf(day: string): Work<KeyUse[]> {
  const find = 'SELECT key_id, operation, count FROM key_uses WHERE day = $1 ORDER BY key_id, operation'
  const found = yield* rows(find, day)
  return found.map(([keyId, operation, count]) => ({ keyId, day, operation, count }))
}

// Rates and quotas. One statement takes, so a request waits for one round trip and the lock of the row queues
// processes. It finds no row before the first request of a day, which begins it with the uses that were counted.

/** A day may end between two statements; more often than that a clock steps to and fro. */
const takesMax = 5

// A second that seems to end later than in a second was begun before the clock went back.
const isSameSecond = 'second_ends_at > now_ms() AND second_ends_at <= now_ms() + 1000'
const take = `UPDATE allowances SET (second_ends_at, used_in_second, used_in_day, granted) = (
    SELECT ends_at, in_second + taken, in_day + taken, taken FROM (
      SELECT ends_at, in_second, in_day, greatest(0, least($2, $3 - in_second, $4 - in_day)) AS taken FROM (
        SELECT CASE WHEN ${isSameSecond} THEN second_ends_at ELSE now_ms() + 1000 END AS ends_at,
          CASE WHEN ${isSameSecond} THEN used_in_second ELSE 0 END AS in_second,
          CASE WHEN day = $5 THEN greatest(0, used_in_day - $6) ELSE used_in_day END AS in_day
      ) AS before
    ) AS after
  ) WHERE key_id = $1 AND day = today()
  RETURNING granted, used_in_second, greatest(0, second_ends_at - now_ms()), day, used_in_day`

const unlimited = Number.MAX_SAFE_INTEGER

function* takeAllowance(request: AllowanceRequest): Work<AllowanceGrant | undefined> {
  const { keyId, wanted, ratePerSecond = unlimited, quotaPerDay = unlimited, unused } = request
  const limits = [wanted, ratePerSecond, quotaPerDay].map(Math.floor)
  const givenBack: Value[] = [unused?.day ?? '', unused?.count ?? 0]
  const [found] = yield* written(take, keyId, ...limits, ...givenBack)
  if (found === undefined) return undefined
  const [taken, inSecond, secondEndsInMs, day, inDay] = found
  return { granted: taken, usedInSecond: inSecond, secondEndsInMs, day, usedInDay: inDay }
}

const sumOfDay = 'SELECT CAST(coalesce(sum(count), 0) AS int8) FROM key_uses WHERE day = $1 AND key_id = $2'

function* usedToday(keyId: string): Work<[string, number]> {
  const [day] = (yield* row('SELECT today()'))!
  const [used] = (yield* row(sumOfDay, day, keyId))!
  return [day, used]
}

/** Does nothing where another process was faster, or the day is over. */
const begin = `INSERT INTO allowances AS known (key_id, second_ends_at, used_in_second, day, used_in_day, granted)
  VALUES ($1, 0, 0, $2, $3, 0) ON CONFLICT (key_id) DO UPDATE SET day = excluded.day, used_in_day = excluded.used_in_day
  WHERE known.day <> excluded.day AND excluded.day = today()`

function* beginDay(keyId: string, day: string, used: number): Work<void> {
  yield* run(begin, keyId, day, used)
}

const countTargets = `SELECT count(*) FROM indexing_uses WHERE day = $1 AND key_id = $2`
const putTargets = `INSERT INTO indexing_uses (day, key_id, target) SELECT $1, $2, value FROM EACH $3:texts AS item WHERE true
  ON CONFLICT (day, key_id, target) DO NOTHING`

function* takeIndexing({ keyId, targets, perDay }: IndexingRequest): Work<boolean> {
  // One at a time for each key: two processes must not both take the last target.
  yield* lockNames([`indexing ${keyId}`])
  const [day] = (yield* row('SELECT today()'))!
  // Not at once: a clock that was ahead for a moment must not give a key its day again.
  const weekBefore = new Date(Date.parse(day) - 7 * 86_400_000).toISOString().slice(0, 10)
  yield* run('DELETE FROM indexing_uses WHERE day < $1', weekBefore)
  const asked = [...new Set(targets)]
  const [known] = (yield* row(`${countTargets} AND target IN $3:texts`, day, keyId, asked))!
  const fresh = asked.length - known
  if (fresh === 0) return true
  const [used] = (yield* row(countTargets, day, keyId))!
  if (used + fresh > perDay) return false
  yield* run(putTargets, day, keyId, asked)
  return true
}
