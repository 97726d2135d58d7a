// Copies the file without its free pages: while other processes read and write it, one consistent moment, ready to
// replace the original; or in its own place, which returns the free pages to the disk.
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AlmanacError } from '../../errors.ts'
import { createPrivate } from '../private-file.ts'
import { Connection } from './connection.ts'
import { verdictOf } from './damage.ts'
import { isBusy, storeFailure } from './failures.ts'
import { Ownership, prepareFile, removeDatabase, requireStoreFile, syncFile, writeOptions } from './open-file.ts'

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
  const partial = partialOf(target)
  try {
    const source = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
    try {
      requireContent(source, path)
      writeCopy(source, partial)
    } finally {
      source.close()
    }
    checkCopy(partial)
    publish(partial, target)
    return { bytes: statSync(target).size }
  } catch (error) {
    removeDatabase(partial)
    throw storeFailure(error, `file:${target}`)
  }
}

/** A name of its own: another backup may be on its way to the same target. */
function partialOf(target: string): string {
  return `${target}.${randomBytes(4).toString('hex')}.partial`
}

function writeCopy(source: DatabaseSync, partial: string): void {
  createPrivate(partial)
  source.prepare('VACUUM INTO ?').run(partial)
}

/** A backup under way writes, or holds a lock while it checks. */
const abandonedMs = 60_000

/** Removes what killed backups to the same target have left. */
function removeAbandoned(target: string): void {
  const folder = dirname(target)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const own = `${basename(target)}.`
  for (const name of names) {
    if (!name.startsWith(own) || !/^[0-9a-f]{8}\.partial$/.test(name.slice(own.length))) continue
    const partial = join(folder, name)
    const changedAtMs = statSync(partial, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - changedAtMs > abandonedMs && !isInUse(partial)) removeDatabase(partial)
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
function checkCopy(path: string): void {
  const copy = new Connection(path, writeOptions)
  try {
    copy.database.exec('PRAGMA journal_mode = WAL')
    const verdict = verdictOf(copy)
    if (verdict !== 'ok') throw new Error(`the copy is damaged: ${verdict}`)
  } finally {
    copy.close()
  }
  syncFile(path)
}

// In its own place: no other process may use the file meanwhile.

export type FileRoom = {
  /** Of the file. */
  bytes: number
  /** Of the pages that hold something: compacting needs as much beside the file, and leaves as much. */
  usedBytes: number
  /** Of the disk. */
  freeBytes: number
}

/** The file may be in use. */
export function roomOf(path: string): FileRoom {
  requireStoreFile(path)
  const file = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    const [pages, free, pageBytes] = ['page_count', 'freelist_count', 'page_size'].map(name =>
      Number(Object.values(file.prepare(`PRAGMA ${name}`).get() ?? {})[0]),
    ) as [number, number, number]
    const { bavail, bsize } = statfsSync(dirname(path))
    return { bytes: pages * pageBytes, usedBytes: (pages - free) * pageBytes, freeBytes: bavail * bsize }
  } catch (error) {
    throw storeFailure(error, `file:${path}`)
  } finally {
    file.close()
  }
}

/** A crash leaves the file as it was. Returns the size before and after. */
export async function compactFile(path: string, room?: FileRoom): Promise<{ before: number; after: number }> {
  requireStoreFile(path)
  await prepareFile(path)
  const ownership = new Ownership(path)
  try {
    removeAbandoned(path)
    requireRoom(path, room ?? roomOf(path))
    const before = statSync(path).size
    replaceFile(path)
    return { before, after: statSync(path).size }
  } finally {
    ownership.release()
  }
}

function requireRoom(path: string, { usedBytes, freeBytes }: FileRoom): void {
  if (usedBytes <= freeBytes) return
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`
  throw new AlmanacError(
    'store_full',
    `Compacting file:${path} needs ${megabytes(usedBytes)} on its disk; ${megabytes(freeBytes)} are free.`,
    { hint: 'make room first, or copy the store to another disk with almanac store backup and use the copy.' },
  )
}

function replaceFile(path: string): void {
  const partial = partialOf(path)
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    lockOut(file, path)
    writeCopy(file, partial)
    checkCopy(partial)
    // The log belongs to the old file: it must be gone before another one has the name. No other process opens
    // either until the lock ends.
    file.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    renameSync(partial, path)
  } catch (error) {
    removeDatabase(partial)
    throw storeFailure(error, `file:${path}`)
  } finally {
    file.close()
  }
}

/** Every open connection holds a lock on the file: no other process has it open once this one has all of them. */
function lockOut(file: DatabaseSync, path: string): void {
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT')
  } catch (error) {
    if (!isBusy(error)) throw error
    throw new AlmanacError('store_locked', `Another process uses the store file:${path}.`, {
      cause: error,
      hint: 'stop every process of Almanac on this file first, those with --only api too.',
    })
  }
}
