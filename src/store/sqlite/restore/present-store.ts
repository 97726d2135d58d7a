// The store that a restore replaces: whether it may be, which keys it has, and that no process uses it meanwhile.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { AlmanacError } from '../../../errors.ts'
import { storeFailure } from '../failures.ts'
import { applicationId } from '../tables.ts'
import { headerOf } from './backup-file.ts'
import { type KeyRow, keysIn, type NamedKey } from './restored-keys.ts'

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
