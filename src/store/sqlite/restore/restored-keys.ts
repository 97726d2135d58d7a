// What a restore means for keys: which stay revoked, which changed, which become valid again and which are gone. It
// compares rows of the table `keys` and changes none.
import type { DatabaseSync } from 'node:sqlite'

/** A row of the table `keys`, with the columns that its store has. Times are unix milliseconds. */
export type KeyRow = {
  id: string
  name: string
  hash: string
  expires_at: number | null
  revoked_at: number | null
} & Readonly<Record<string, unknown>>

export type NamedKey = Pick<KeyRow, 'id' | 'name'>

export type RestoredKeys = {
  /** Valid in the backup; revoked or expired in the present store, and so in the restored one. */
  revoked: NamedKey[]
  /** Get scopes, expiry or limits of the present store, which differ from those of the backup. */
  changed: NamedKey[]
  /** Valid in the backup, and the present store cannot say whether they were revoked since. */
  returned: NamedKey[]
  /** Valid in the present store and not in the backup. */
  gone: NamedKey[]
  /** The rows of the restored store that differ from the backup. */
  rows: KeyRow[]
}

export function keysIn(file: DatabaseSync): KeyRow[] {
  return file.prepare('SELECT * FROM keys ORDER BY created_at, id').all() as unknown as KeyRow[]
}

/** `present` is undefined if there is no present store, or if it is damaged. */
export function restoredKeys(backup: KeyRow[], present: KeyRow[] | undefined, nowMs: number): RestoredKeys {
  const isValid = ({ revoked_at, expires_at }: KeyRow): boolean =>
    revoked_at === null && (expires_at === null || expires_at > nowMs)
  const known = new Map(present?.map(key => [key.hash, key]))
  const keys: RestoredKeys = { revoked: [], changed: [], returned: [], gone: [], rows: [] }
  for (const key of backup) {
    const now = known.get(key.hash)
    if (now === undefined) {
      if (isValid(key)) keys.returned.push(named(key))
      continue
    }
    // A revocation is never taken back, whichever of the two stores is the older one.
    const revoked_at = now.revoked_at ?? key.revoked_at
    const row: KeyRow = { ...key, ...now, id: key.id, revoked_at }
    if (Object.keys(key).every(column => row[column] === key[column])) continue
    keys.rows.push(row)
    if (isValid(key)) keys[isValid(row) ? 'changed' : 'revoked'].push(named(key))
  }
  const kept = new Set(backup.map(({ hash }) => hash))
  for (const key of present ?? []) if (isValid(key) && !kept.has(key.hash)) keys.gone.push(named(key))
  return keys
}

function named({ id, name }: KeyRow): NamedKey {
  return { id, name }
}
