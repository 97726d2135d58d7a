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
