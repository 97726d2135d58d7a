// Opens the file: checks what it is and whether this version may use it, makes the tables of a new one, and locks out a
// second indexing process (`Ownership`). A refused file is left exactly as it was.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { AlmanacError } from '../../errors.ts'
import { createPrivate, makeDatabasePrivate, makePrivate } from '../private-file.ts'
import { noStoreAt, requireFormat, storeFormat } from '../schema.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { isBusy, lockedFailure, storeFailure } from './failures.ts'
import { applicationId, tables } from './tables.ts'

const waitMsMax = 30_000
const pollMs = 5

// Nothing is mapped into memory: a page of the file that is missing there would be read with those around it, as many
// as the system likes (8 MB on some), which pushes out what is used when the store is larger than memory.
export const readOptions: ConnectionOptions = {
  readOnly: true,
  // Only for the moments in which another process recovers or removes the log; a writer never makes a reader wait.
  busyTimeoutMs: 250,
  // For what pages of a large store touch again and again: with 8 MB they took a third longer at 20 million transfers.
  cacheMegabytes: 64,
  logPagesMax: 0,
}

/** Short writes: moving the log is left to the owner, unless there is none and the log has become long. */
export const writeOptions: ConnectionOptions = {
  readOnly: false,
  busyTimeoutMs: 0,
  cacheMegabytes: 2,
  logPagesMax: 16_000,
}

/** Bulk commits: a log of 16 MB takes a tenth less time than SQLite's usual 4 MB. */
export const ownerWriteOptions: ConnectionOptions = { ...writeOptions, cacheMegabytes: 32, logPagesMax: 4_000 }

/** Checks the place first, because SQLite has one message for all of these. */
export function requirePlace(path: string): void {
  const location = `file:${path}`
  const parent = dirname(path)
  if (!existsSync(parent))
    throw new AlmanacError('store_failed', `The store ${location} cannot be opened: there is no directory ${parent}.`, {
      hint: `make the directory ${parent}, or name another file under store.`,
    })
  if (existsSync(path) && statSync(path).isDirectory())
    throw new AlmanacError('store_failed', `The store ${location} cannot be opened: it is a directory.`, {
      hint: 'name a file under store, such as file:./almanac.db.',
    })
}

/** For callers that must not create a store. An empty file is not one. */
export function requireStoreFile(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) throw noStoreAt(`file:${path}`)
}

/** Creates the file where there is none, waiting for others without blocking the thread. */
export async function prepareFile(path: string): Promise<void> {
  requirePlace(path)
  createPrivate(path)
  const deadline = performance.now() + waitMsMax
  while (true) {
    try {
      prepareOnce(path)
      makeDatabasePrivate(path)
      return
    } catch (error) {
      if (!isBusy(error)) throw storeFailure(error, `file:${path}`)
      if (performance.now() >= deadline) throw lockedFailure(`file:${path}`, error)
    }
    await delay(pollMs)
  }
}

function prepareOnce(path: string): void {
  const connection = new Connection(path, writeOptions)
  try {
    if (isReady(connection, path)) return
    connection.database.exec('PRAGMA journal_mode = WAL')
    connection.run('BEGIN IMMEDIATE')
    if (hasTables(connection, path)) return
    connection.database.exec(tables)
    connection.database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${storeFormat}; COMMIT`)
  } finally {
    connection.close()
  }
}

function isReady(connection: Connection, path: string): boolean {
  // A process that was killed while it compacted the file leaves it without a log.
  return hasTables(connection, path) && connection.get('PRAGMA journal_mode')?.[0] === 'wal'
}

/** For callers that change nothing. */
export function requireReady(path: string): void {
  const connection = new Connection(path, readOptions)
  try {
    if (isReady(connection, path)) return
    throw new AlmanacError('store_failed', `The store file:${path} was not closed in order.`, {
      hint: 'start the service, which sets it right.',
    })
  } finally {
    connection.close()
  }
}

/** False for an empty file; throws for a file that is not for this version. */
function hasTables(connection: Connection, path: string): boolean {
  const [application] = connection.get('PRAGMA application_id') ?? []
  const [format] = connection.get('PRAGMA user_version') ?? []
  if (application === 0 && format === 0 && connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined)
    return false
  if (application !== applicationId)
    throw new AlmanacError('store_corrupt', `The file ${path} is a database of another program.`, {
      hint: 'name another file under store; this one was left as it is.',
    })
  requireFormat(format as number, `The store file:${path}`)
  return true
}

export const logEnds = ['-wal', '-shm', '-journal']

/** With what SQLite puts beside it. */
export function removeDatabase(path: string): void {
  for (const end of ['', ...logEnds]) rmSync(path + end, { force: true })
}

/** Returns when the file or folder is on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

// The right to index into a store, held by one process at a time: a kernel lock on a file beside the store, which ends
// with the process. Other processes may do short writes meanwhile.

export class Ownership {
  readonly #lock: DatabaseSync

  constructor(path: string) {
    // Any process that may read the file may hold its lock.
    createPrivate(`${path}-lock`)
    makePrivate(`${path}-lock`)
    this.#lock = new DatabaseSync(`${path}-lock`, { timeout: 0 })
    try {
      // Nothing is ever written, so it needs no journal.
      this.#lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    } catch (error) {
      this.#lock.close()
      if (!isBusy(error)) throw error
      throw new AlmanacError('store_locked', `Another process is already indexing into the store file:${path}.`, {
        cause: error,
        hint: 'stop it first, start this one with --only api, or give this one another file under store.',
      })
    }
  }

  release(): void {
    if (this.#lock.isOpen) this.#lock.close()
  }
}
