// Writes the file of a store anew without its free pages, which returns them to the disk. No other process may use the
// file meanwhile.
import { randomBytes } from 'node:crypto'
import { renameSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AlmanacError } from '../../../errors.ts'
import { createPrivate } from '../../../private-file.ts'
import { checkCopy, removeAbandoned, removePartial } from '../backup.ts'
import { isBusy, storeFailure } from '../failures.ts'
import { Ownership, prepareFile, requireStoreFile } from '../open-file.ts'

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
  const partial = `${path}.${randomBytes(4).toString('hex')}.partial`
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    lockOut(file, path)
    createPrivate(partial)
    file.prepare('VACUUM INTO ?').run(partial)
    checkCopy(partial)
    // The log belongs to the old file: it must be gone before another one has the name. Nobody else opens either until
    // the lock ends.
    file.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    renameSync(partial, path)
  } catch (error) {
    removePartial(partial)
    throw storeFailure(error, `file:${path}`)
  } finally {
    file.close()
  }
}

/** Every open connection holds a lock on the file, so that nobody else has it open once this one has all of them. */
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
