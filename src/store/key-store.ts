// Keys, their use, and the limits that all processes share. It never sees the secret of a key.

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

/** `lastUsedOn`: the last day on which it was used, if that was asked for. */
export type StoredKey = KeyRecord & { lastUsedOn?: string }

/** `hash`: the key that has it, alone. `usedSince`: with the last day of use from this day on. */
export type KeyFilter = { hash?: string; usedSince?: string }

/** The first revocation stays, and an end later than the known one changes nothing. */
export type KeyEnd = { revokedAt: number } | { expiresAt: number }

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
  /** The oldest first. */
  keys(asked?: KeyFilter): Promise<StoredKey[]>
  /** False: no key has this id. */
  endKey(id: string, end: KeyEnd): Promise<boolean>
  /** Adds to the counts of a day (`YYYY-MM-DD`, UTC). */
  addUse(uses: readonly KeyUse[]): Promise<void>
  usesOf(day: string): Promise<KeyUse[]>
  /** Grants each request to one process only. The first grant of a day starts from the uses counted on that day. */
  takeAllowance(request: AllowanceRequest): Promise<AllowanceGrant>
  /**
   * Whether the key may have all of these targets indexed today: at most `perDay` targets a day, each counted once.
   * Where it may not, none is counted.
   */
  takeIndexing(asked: IndexingRequest): Promise<boolean>
}
