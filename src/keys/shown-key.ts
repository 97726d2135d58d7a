// A key as lists and answers show it: what it may do, its state and what it used today. Never its hash.
import type { KeyRecord, KeyStore } from '../store/key-store.ts'

export type ShownKey = ReturnType<typeof showKey>

export function showKey(key: KeyRecord, usedToday: number) {
  const moment = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  const expired = key.expiresAt !== undefined && key.expiresAt <= Date.now()
  const state: 'active' | 'expired' | 'revoked' =
    key.revokedAt !== undefined ? 'revoked' : expired ? 'expired' : 'active'
  return {
    id: key.id,
    name: key.name,
    state,
    scopes: key.scopes,
    rate_per_second: key.ratePerSecond ?? null,
    quota_per_day: key.quotaPerDay ?? null,
    index_per_day: key.indexPerDay ?? null,
    used_today: usedToday,
    created_at: moment(key.createdAt),
    expires_at: moment(key.expiresAt),
    revoked_at: moment(key.revokedAt),
  }
}

/** Every key, the oldest first. */
export async function listKeys(store: KeyStore): Promise<ShownKey[]> {
  const today = new Date().toISOString().slice(0, 10)
  const [keys, uses] = await Promise.all([store.keys(), store.usesOf(today)])
  const usedBy = new Map<string, number>()
  for (const { keyId, count } of uses) usedBy.set(keyId, (usedBy.get(keyId) ?? 0) + count)
  return keys.map(key => showKey(key, usedBy.get(key.id) ?? 0))
}
