// A key as a row of the table `keys`, which is the same in every engine; only placeholders and types of values differ there.
import type { KeyRecord } from './key-store.ts'

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
