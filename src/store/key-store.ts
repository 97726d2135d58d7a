// Keys, their use, and the limits that all processes share. The secret of a key is never seen here.

/** Moments are in unix milliseconds. */
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
  /** Contracts and wallets a day that may be indexed because this key asks for them. */
  indexPerDay: number | undefined
}

export type KeyUse = { keyId: string; day: string; operation: string; count: number }

/** What a process asks of a key's rate and quota, which all processes share. */
export type AllowanceRequest = {
  keyId: string
  /** How many requests it would admit. */
  wanted: number
  ratePerSecond: number | undefined
  quotaPerDay: number | undefined
  /** What it was granted before and did not use: the quota of that day gets it back. */
  unused: { count: number; day: string } | undefined
}

/** A second begins with the first request that it counts, by the store's clock; days are UTC. */
export type AllowanceGrant = {
  /** How many it may admit: fewer than wanted where the rate or the quota ends. */
  granted: number
  usedInSecond: number
  secondEndsInMs: number
  day: string
  usedInDay: number
}

export interface KeyStore {
  /** Adds a key, or replaces the one with the same hash. */
  putKey(key: KeyRecord): Promise<void>
  keyByHash(hash: string): Promise<KeyRecord | undefined>
  keys(): Promise<KeyRecord[]>
  /** Returns false when there is no such key. */
  revokeKey(id: string, revokedAt: number): Promise<boolean>
  /** Adds to the counts of a day (`YYYY-MM-DD`, UTC) and returns each key's total of that day afterwards. */
  addUse(uses: readonly KeyUse[]): Promise<ReadonlyMap<string, number>>
  usesOf(day: string): Promise<KeyUse[]>
  /** No process is granted what another one was. A quota that is met first on a day begins with the uses of that day. */
  takeAllowance(request: AllowanceRequest): Promise<AllowanceGrant>
  /** Whether the key may have this indexed today: at most `perDay` targets a day, each counted once. */
  takeIndexing(asked: { keyId: string; target: string; perDay: number }): Promise<boolean>
}

// A key as a row of the table `keys`, which is the same in every engine; only placeholders and types of values differ there.

/** Each column and what stands in it. */
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
}

const names = Object.keys(cells)
export const keyColumns = names.join(', ')

/** Puts a key in, or replaces the one with the same hash; takes the values of `keyValues`. */
export function putKeyStatement(placeholder: (at: number) => string): string {
  const values = names.map((_, index) => placeholder(index + 1)).join(', ')
  const replaced = names.filter(name => name !== 'hash').map(name => `${name} = excluded.${name}`)
  return `INSERT INTO keys (${keyColumns}) VALUES (${values}) ON CONFLICT (hash) DO UPDATE SET ${replaced.join(', ')}`
}

export function keyValues(key: KeyRecord): (string | number | null)[] {
  return Object.values(cells).map(cell => cell(key))
}
