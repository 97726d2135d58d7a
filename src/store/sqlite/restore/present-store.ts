// The store that a restore replaces: whether it may be, that no process uses it meanwhile, and what the restore means
// for its keys.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { AlmanacError, messageOf } from '../../../errors.ts'
import { storeFailure } from '../failures.ts'
import { applicationId } from '../tables.ts'
import { damaged, headerOf } from './backup-file.ts'

export function requireTarget(target: string, backup: string): void {
  const facts = statSync(target, { throwIfNoEntry: false })
  if (facts === undefined) return
  const { dev, ino } = statSync(backup)
  if (facts.dev === dev && facts.ino === ino)
    throw new AlmanacError('conflict', `${backup} is the store itself, not a backup of it.`, {
      hint: 'name the file to restore from; --store or --config names the store to replace.',
    })
  const header = headerOf(target)
  if (header !== undefined && header.application !== applicationId)
    throw new AlmanacError('conflict', `${target} is a database of another program and was left as it is.`, {
      hint: 'name the store to replace with --store or --config.',
    })
  const user = process.getuid?.()
  if (user !== undefined && user !== 0 && user !== facts.uid)
    throw new AlmanacError(
      'forbidden',
      `The store ${target} belongs to another user, who could not read what you restore.`,
      {
        hint: `run this as the user with the id ${facts.uid}, or as root.`,
      },
    )
}

export type Present = { keys: KeyRow[] | undefined; emptyLog: () => void; close: () => void }

/**
 * Holds the present store until it is replaced: no key can be revoked in it meanwhile, and no process can have it open,
 * which would go on with the old file and the log of the new one. Undefined: there is none.
 */
export function openPresent(target: string): Present | undefined {
  if ((statSync(target, { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined
  const file = new DatabaseSync(target, { timeout: 1_000 })
  const close = (): void => file.close()
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    close()
    const failure = storeFailure(error, `file:${target}`)
    if (failure.code === 'store_corrupt') return { keys: undefined, emptyLog: () => {}, close: () => {} }
    if (failure.code !== 'store_locked') throw failure
    throw new AlmanacError('store_locked', `Another process has the store file:${target} open.`, { cause: error })
  }
  /** Damage may lie anywhere: what cannot be read is not compared. */
  const unlessDamaged = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch {
      return undefined
    }
  }
  return {
    keys: unlessDamaged(() => keysIn(file)),
    emptyLog: () => unlessDamaged(() => file.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
    close,
  }
}

// Keys: which stay revoked, which changed, which become valid again and which are gone. Rows are compared, and none is
// changed.

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

/** Without creating or locking anything beside it: a backup may lie on a medium that cannot be written to. */
export function keysOfBackup(backup: string): KeyRow[] {
  const url = pathToFileURL(backup)
  url.search = 'immutable=1'
  try {
    const file = new DatabaseSync(url, { readOnly: true })
    try {
      return keysIn(file)
    } finally {
      file.close()
    }
  } catch (error) {
    throw damaged(backup, messageOf(error))
  }
}

const namedMax = 20

export function wouldReturn(keys: readonly NamedKey[], target: string, present: Present | undefined): AlmanacError {
  const why =
    present === undefined
      ? `there is no store at ${target} to compare with`
      : present.keys === undefined
        ? `the keys of ${target} cannot be read`
        : `${target} does not know them`
  const names = keys.slice(0, namedMax).map(({ id, name }) => `${id} (${name})`)
  const more = keys.length > namedMax ? ` and ${keys.length - namedMax} more` : ''
  const which = `${keys.length} ${keys.length === 1 ? 'key' : 'keys'}: ${names.join(', ')}${more}`
  return new AlmanacError(
    'conflict',
    `The backup would make keys valid that may have been revoked since; ${why}. ${which}.`,
    { hint: 'add --keys-of-backup to accept them, then revoke those that must not be valid before clients come.' },
  )
}
