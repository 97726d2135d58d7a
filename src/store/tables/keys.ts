// Keys, their daily use, and the rates and quotas that all processes share. It sees only the hash of a key.
import { AlmanacError } from '../../errors.ts'
import type {
  AllowanceGrant,
  AllowanceRequest,
  IndexingRequest,
  KeyEnd,
  KeyRecord,
  KeyStore,
  KeysAsked,
  KeyUse,
  StoredKey,
} from '../key-store.ts'
import {
  type Cell,
  lastOfEach,
  lock,
  over,
  type Row,
  row,
  rows,
  run,
  runOver,
  type Sql,
  type Tables,
  written,
} from './sql.ts'

export function keyStore(tables: Tables): KeyStore {
  const { shared } = tables
  return {
    putKey: key => tables.writing(() => putKey(key)),
    keys: asked => tables.reading(() => keys(asked)),
    endKey: (id, end) => tables.writing(() => endKey(id, end)),
    addUse: uses => tables.writingUnseen(() => addUse(uses)),
    usesOf: day => tables.reading(() => usesOf(day)),
    async takeAllowance(request) {
      for (let attempt = 1; attempt <= takesMax; attempt++) {
        const grant = await shared.stating(() => takeAllowance(request))
        if (grant !== undefined) return grant
        const used = await tables.reading(() => usedToday(request.keyId))
        await shared.stating(() => beginDay(request.keyId, ...used))
      }
      throw new AlmanacError('store_failed', `The day of key ${request.keyId} could not be begun.`, { retryable: true })
    },
    takeIndexing: asked => shared.writing(() => takeIndexing(asked)),
  }
}

// A key as a row of the table.

const cells: Readonly<Record<string, (key: KeyRecord) => string | number | undefined>> = {
  id: key => key.id,
  name: key => key.name,
  hash: key => key.hash,
  scopes: key => JSON.stringify(key.scopes),
  created_at: key => key.createdAt,
  expires_at: key => key.expiresAt,
  revoked_at: key => key.revokedAt,
  rate_per_second: key => key.ratePerSecond,
  quota_per_day: key => key.quotaPerDay,
  index_per_day: key => key.indexPerDay,
  index_waiting: key => key.indexWaiting,
  replaces: key => key.replaces,
}
const columns = Object.keys(cells)

function keyOf([id, name, hash, scopes, createdAt, ...optional]: Row): KeyRecord {
  const replaces = (optional.pop() ?? undefined) as string | undefined
  const [expiresAt, revokedAt, ratePerSecond, quotaPerDay, indexPerDay, indexWaiting] = optional.map(
    value => (value ?? undefined) as number | undefined,
  )
  return {
    ...{ id: id as string, name: name as string, hash: hash as string },
    ...{ scopes: JSON.parse(scopes as string) as string[], createdAt: createdAt as number },
    ...{ expiresAt, revokedAt, ratePerSecond, quotaPerDay, indexPerDay, indexWaiting, replaces },
  }
}

const replaced = columns
  .filter(name => name !== 'hash')
  .map(name =>
    name === 'revoked_at' ? `${name} = coalesce(keys.${name}, excluded.${name})` : `${name} = excluded.${name}`,
  )
const put = `INSERT INTO keys (${columns}) VALUES (${columns.map((_, index) => `$${index + 1}`)})
  ON CONFLICT (hash) DO UPDATE SET ${replaced}`

function* putKey(key: KeyRecord): Sql<void> {
  const other = yield* row('SELECT 1 FROM keys WHERE id = $1 AND hash <> $2', key.id, key.hash)
  if (other !== undefined) throw new AlmanacError('conflict', `Another key has the id ${key.id}.`)
  yield* run(put, ...Object.values(cells).map(cell => cell(key) ?? null))
}

const find = `SELECT ${columns} FROM keys`
const lastUses = 'SELECT key_id, max(day) FROM key_uses WHERE day >= $1 GROUP BY key_id'

function* keys({ hash, usedSince }: KeysAsked = {}): Sql<StoredKey[]> {
  const found = yield* hash === undefined
    ? rows(`${find} ORDER BY created_at, id`)
    : rows(`${find} WHERE hash = $1`, hash)
  if (usedSince === undefined) return found.map(keyOf)
  const lastDays = new Map(yield* rows<[string, string]>(lastUses, usedSince))
  return found.map(keyOf).map(key => ({ ...key, ...withDay(lastDays.get(key.id)) }))
}

function withDay(lastUsedOn: string | undefined): Pick<StoredKey, 'lastUsedOn'> {
  return lastUsedOn === undefined ? {} : { lastUsedOn }
}

const revoke = 'UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL'
const expire = `UPDATE keys SET expires_at = $2
  WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`

/** Whether there is such a key, changed or not. */
function* endKey(id: string, end: KeyEnd): Sql<boolean> {
  if ('revokedAt' in end) yield* run(revoke, id, end.revokedAt)
  else yield* run(expire, id, end.expiresAt)
  return (yield* row('SELECT 1 FROM keys WHERE id = $1', id)) !== undefined
}

const putUses = over(
  'day text, key_id text, operation text, count int8',
  `INSERT INTO key_uses (day, key_id, operation, count) SELECT * FROM given WHERE true
   ON CONFLICT (day, key_id, operation) DO UPDATE SET count = key_uses.count + excluded.count`,
)

function* addUse(uses: readonly KeyUse[]): Sql<void> {
  const sums = new Map<string, KeyUse>()
  const keyOfUse = ({ day, keyId, operation }: KeyUse): string => JSON.stringify([day, keyId, operation])
  for (const use of uses) {
    const key = keyOfUse(use)
    sums.set(key, { ...use, count: use.count + (sums.get(key)?.count ?? 0) })
  }
  const sorted = lastOfEach([...sums.values()], keyOfUse)
  yield* runOver(
    putUses,
    sorted.map(({ day, keyId, operation, count }) => [day, keyId, operation, count]),
  )
}

function* usesOf(day: string): Sql<KeyUse[]> {
  const find = 'SELECT key_id, operation, count FROM key_uses WHERE day = $1 ORDER BY key_id, operation'
  const found = yield* rows<[string, string, number]>(find, day)
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

function* takeAllowance(request: AllowanceRequest): Sql<AllowanceGrant | undefined> {
  const { keyId, wanted, ratePerSecond = unlimited, quotaPerDay = unlimited, unused } = request
  const limits = [wanted, ratePerSecond, quotaPerDay].map(Math.floor)
  const givenBack: Cell[] = [unused?.day ?? '', unused?.count ?? 0]
  const [found] = yield* written<[number, number, number, string, number]>(take, keyId, ...limits, ...givenBack)
  if (found === undefined) return undefined
  const [taken, inSecond, secondEndsInMs, day, inDay] = found
  return { granted: taken, usedInSecond: inSecond, secondEndsInMs, day, usedInDay: inDay }
}

const sumOfDay = 'SELECT CAST(coalesce(sum(count), 0) AS int8) FROM key_uses WHERE day = $1 AND key_id = $2'

function* usedToday(keyId: string): Sql<[string, number]> {
  const [day] = (yield* row<[string]>('SELECT today()'))!
  const [used] = (yield* row<[number]>(sumOfDay, day, keyId))!
  return [day, used]
}

/** Does nothing where another process was faster, or the day is over. */
const begin = `INSERT INTO allowances AS known (key_id, second_ends_at, used_in_second, day, used_in_day, granted)
  VALUES ($1, 0, 0, $2, $3, 0) ON CONFLICT (key_id) DO UPDATE SET day = excluded.day, used_in_day = excluded.used_in_day
  WHERE known.day <> excluded.day AND excluded.day = today()`

function* beginDay(keyId: string, day: string, used: number): Sql<void> {
  yield* run(begin, keyId, day, used)
}

const countTargets = `SELECT count(*) FROM indexing_uses WHERE day = $1 AND key_id = $2`
const putTargets = `INSERT INTO indexing_uses (day, key_id, target) SELECT $1, $2, value FROM items($3) AS item WHERE true
  ON CONFLICT (day, key_id, target) DO NOTHING`

function* takeIndexing({ keyId, targets, perDay }: IndexingRequest): Sql<boolean> {
  // One at a time for each key: two processes must not both take the last target.
  yield* lock([`indexing ${keyId}`])
  const [day] = (yield* row<[string]>('SELECT today()'))!
  // Not at once: a clock that was ahead for a moment must not give a key its day again.
  const weekBefore = new Date(Date.parse(day) - 7 * 86_400_000).toISOString().slice(0, 10)
  yield* run('DELETE FROM indexing_uses WHERE day < $1', weekBefore)
  const asked = JSON.stringify([...new Set(targets)])
  const [known] = (yield* row<[number]>(`${countTargets} AND target IN items($3)`, day, keyId, asked))!
  const fresh = new Set(targets).size - known
  if (fresh === 0) return true
  const [used] = (yield* row<[number]>(countTargets, day, keyId))!
  if (used + fresh > perDay) return false
  yield* run(putTargets, day, keyId, asked)
  return true
}
