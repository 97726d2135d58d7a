// Keys, their use, and the limits that all processes share. It never sees the secret of a key.
import { AlmanacError } from '../errors.ts'

/** Times are unix milliseconds. */
export type KeyRecord = {
  id: string
  name: string
  /** SHA-256 of the secret, hex. The secret itself is never stored. */
  hash: string
  scopes: readonly string[]
  createdAt: number
  expiresAt: number | undefined
  revokedAt: number | undefined
  ratePerSecond: number | undefined
  quotaPerDay: number | undefined
  /** Contracts, wallets and Solana owners a day, not kept yet, that requests with this key may have indexed. */
  indexPerDay: number | undefined
  /** How many of them may wait to be indexed at once. */
  indexWaiting: number | undefined
  /** The id of the key that it was made to replace. */
  replaces: string | undefined
}

export type KeyUse = { keyId: string; day: string; operation: string; count: number }

/** A process asks for a share of a key's rate and quota, which all processes use up together. */
export type AllowanceRequest = {
  keyId: string
  /** The number of requests that it would admit. */
  wanted: number
  ratePerSecond: number | undefined
  quotaPerDay: number | undefined
  /**
   * Requests granted earlier and not used: they return to the quota of that day. Below zero it takes as many from that
   * quota, and nothing from the rate.
   */
  unused: { count: number; day: string } | undefined
}

/** A second starts with the first request that it counts, by the store's clock; days are UTC. */
export type AllowanceGrant = {
  /** The number of requests that it may admit: less than wanted where the rate or the quota ends. */
  granted: number
  usedInSecond: number
  secondEndsInMs: number
  day: string
  usedInDay: number
}

export type IndexingRequest = { keyId: string; targets: readonly string[]; perDay: number }

export interface KeyStore {
  /** Adds a key, or replaces the one with the same hash. One that was revoked meanwhile stays so. */
  putKey(key: KeyRecord): Promise<void>
  keyByHash(hash: string): Promise<KeyRecord | undefined>
  keys(): Promise<KeyRecord[]>
  /** False: no key has this id. The first revocation stays. */
  revokeKey(id: string, revokedAt: number): Promise<boolean>
  /** Ends a key at this moment, unless it ends earlier or is revoked. False: no key has this id. */
  expireKey(id: string, expiresAt: number): Promise<boolean>
  /** Adds to the counts of a day (`YYYY-MM-DD`, UTC). */
  addUse(uses: readonly KeyUse[]): Promise<void>
  usesOf(day: string): Promise<KeyUse[]>
  /** The last day on which each key was used, of those that were since a day. */
  lastUses(since: string): Promise<ReadonlyMap<string, string>>
  /** Grants each request to one process only. The first grant of a day starts from the uses counted on that day. */
  takeAllowance(request: AllowanceRequest): Promise<AllowanceGrant>
  /**
   * Whether the key may have all of these targets indexed today: at most `perDay` targets a day, each counted once.
   * Where it may not, none is counted.
   */
  takeIndexing(asked: IndexingRequest): Promise<boolean>
}

// A key as a row of the table `keys`, which both engines share; they differ in placeholders and in the types of values.

const cells: Readonly<Record<string, (key: KeyRecord) => string | number | null>> = {
  id: key => key.id,
  name: key => key.name,
  hash: key => key.hash,
  scopes: key => JSON.stringify(key.scopes),
  created_at: key => key.createdAt,
  expires_at: key => key.expiresAt ?? null,
  revoked_at: key => key.revokedAt ?? null,
  rate_per_second: key => key.ratePerSecond ?? null,
  quota_per_day: key => key.quotaPerDay ?? null,
  index_per_day: key => key.indexPerDay ?? null,
  index_waiting: key => key.indexWaiting ?? null,
  replaces: key => key.replaces ?? null,
}

export const keyColumns = Object.keys(cells)

const stillRevoked = 'revoked_at = COALESCE(keys.revoked_at, excluded.revoked_at)'

/** Adds a key, or replaces the one with the same hash; takes the values of `keyValues`. */
export function putKeySql(placeholder: (at: number) => string): string {
  const values = keyColumns.map((_, index) => placeholder(index + 1))
  const replaced = keyColumns
    .filter(name => name !== 'hash')
    .map(name => (name === 'revoked_at' ? stillRevoked : `${name} = excluded.${name}`))
  return `INSERT INTO keys (${keyColumns}) VALUES (${values}) ON CONFLICT (hash) DO UPDATE SET ${replaced}`
}

export function keyValues(key: KeyRecord): (string | number | null)[] {
  return Object.values(cells).map(cell => cell(key))
}

/** Numbers are numbers or their text. */
export function keyOf([id, name, hash, scopes, createdAt, ...optional]: readonly unknown[]): KeyRecord {
  const replaces = optional.pop()
  const [expiresAt, revokedAt, ratePerSecond, quotaPerDay, indexPerDay, indexWaiting] = optional.map(value =>
    value === null ? undefined : Number(value),
  )
  return {
    ...{ id: id as string, name: name as string, hash: hash as string },
    ...{ scopes: JSON.parse(scopes as string) as string[], createdAt: Number(createdAt) },
    ...{ expiresAt, revokedAt, ratePerSecond, quotaPerDay, indexPerDay, indexWaiting },
    replaces: (replaces as string | null) ?? undefined,
  }
}

export function keyIdTaken({ id }: KeyRecord): AlmanacError {
  return new AlmanacError('conflict', `Another key has the id ${id}.`)
}
