// Copies the file while other processes read and write it: one consistent moment, compact, ready to replace the
// original.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AlmanacError } from '../../errors.ts'
import { createPrivate } from '../../private-file.ts'
import { Connection } from './connection.ts'
import { verdictOf } from './damage.ts'
import { isBusy, storeFailure } from './failures.ts'
import { prepareFile, requireStoreFile, writeOptions } from './open-file.ts'

/**
 * VACUUM INTO reads one snapshot and blocks no process; SQLite's backup API would restart at every commit of another
 * process. The copy gets its name once it is whole and checked.
 */
export async function backUpFile(path: string, target: string): Promise<{ bytes: number }> {
  requireStoreFile(path)
  if (existsSync(target)) throw alreadyThere(target)
  if (!existsSync(dirname(target)))
    throw new AlmanacError('not_found', `The folder ${dirname(target)} does not exist.`, {
      hint: 'create it, or pass a file in another folder.',
    })
  removeAbandoned(target)
  await prepareFile(path)
  // A name of its own: another backup may be on its way to the same target.
  const partial = `${target}.${randomBytes(4).toString('hex')}.partial`
  try {
    const source = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
    try {
      requireContent(source, path)
      createPrivate(partial)
      source.prepare('VACUUM INTO ?').run(partial)
    } finally {
      source.close()
    }
    checkCopy(partial)
    publish(partial, target)
    return { bytes: statSync(target).size }
  } catch (error) {
    removePartial(partial)
    throw storeFailure(error, `file:${target}`)
  }
}

export function removePartial(partial: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(partial + end, { force: true })
}

/** A backup under way writes, or holds a lock while it checks. */
const abandonedMs = 60_000

/** Removes what killed backups to the same target have left. */
export function removeAbandoned(target: string): void {
  const folder = dirname(target)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const own = `${basename(target)}.`
  for (const name of names) {
    if (!name.startsWith(own) || !/^[0-9a-f]{8}\.partial$/.test(name.slice(own.length))) continue
    const partial = join(folder, name)
    const changedAtMs = statSync(partial, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - changedAtMs > abandonedMs && !isInUse(partial)) removePartial(partial)
  }
}

function isInUse(path: string): boolean {
  try {
    const file = new DatabaseSync(path, { timeout: 0 })
    try {
      file.exec('BEGIN EXCLUSIVE')
      return false
    } finally {
      file.close()
    }
  } catch (error) {
    return isBusy(error)
  }
}

/** A service has at least a key: a store with nothing in it is the wrong one. */
function requireContent(source: DatabaseSync, path: string): void {
  const parts = ['keys', 'chains', 'labels', 'solana_accounts'].map(part => `EXISTS (SELECT 1 FROM ${part})`)
  const [holds] = Object.values(source.prepare(`SELECT ${parts.join(' OR ')}`).get() ?? {})
  if (holds === 1) return
  throw new AlmanacError('not_found', `The store at ${path} is empty: there is nothing to back up.`, {
    hint: 'name the store of the service with --store or --config.',
  })
}

/** A rename would replace what another backup has made meanwhile; a link does not. */
function publish(partial: string, target: string): void {
  try {
    linkSync(partial, target)
  } catch {
    if (existsSync(target)) throw alreadyThere(target)
    // Some file systems have no links.
    renameSync(partial, target)
  }
  rmSync(partial, { force: true })
}

function alreadyThere(target: string): AlmanacError {
  return new AlmanacError('conflict', `${target} already exists and was left as it is.`, {
    hint: 'name a file that does not exist yet.',
  })
}

/** Checks what a service expects of the copy: the log beside the file, and no damage. It is on the disk then. */
export function checkCopy(path: string): void {
  const copy = new Connection(path, writeOptions)
  try {
    copy.database.exec('PRAGMA journal_mode = WAL')
    const verdict = verdictOf(copy)
    if (verdict !== 'ok') throw new Error(`the copy is damaged: ${verdict}`)
  } finally {
    copy.close()
  }
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
