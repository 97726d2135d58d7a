// Puts a backup in the place of a store file. The present store stays until a whole and checked copy takes its name in
// one step: a process that is killed at any moment leaves the one or the other.
import {
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { AlmanacError, messageOf } from '../../../errors.ts'
import { blockEnd } from '../../core/runs.ts'
import { createPrivate } from '../../private-file.ts'
import { Connection } from '../connection.ts'
import { verdictOf } from '../damage.ts'
import { storeFailure } from '../failures.ts'
import { logEnds, Ownership, prepareFile, removeDatabase, requirePlace, syncFile, writeOptions } from '../open-file.ts'
import { damaged, requireBackup } from './backup-file.ts'
import {
  type KeyRow,
  keysOfBackup,
  openPresent,
  type Present,
  type RestoredKeys,
  requireTarget,
  restoredKeys,
  wouldReturn,
} from './present-store.ts'

export type RestoreProgress =
  | { phase: 'begin'; bytes: number; freeBytes: number }
  | { phase: 'copy'; bytes: number; bytesDone: number }
  | { phase: 'check'; bytes: number }

export type RestoreOptions = {
  /** Accepts keys that become valid again because the present store cannot say whether they were revoked. */
  keysOfBackup: boolean
  /** Removes the present store instead of keeping it under another name. */
  discard: boolean
  onProgress: (progress: RestoreProgress) => void
}

export type Restored = { store: string; bytes: number; kept: string | undefined; keys: Omit<RestoredKeys, 'rows'> }

export async function restoreFile(backup: string, path: string, options: RestoreOptions): Promise<Restored> {
  requirePlace(path)
  const bytes = requireBackup(backup)
  // The name may be a link to a file elsewhere, whose log lies beside that file.
  const target = existsSync(path) ? realpathSync(path) : path
  requireTarget(target, backup)
  const partial = `${target}.restoring`
  const ownership = new Ownership(path)
  let present: Present | undefined
  try {
    // Of a restore that was killed: no other one is under way.
    removeDatabase(partial)
    present = openPresent(target)
    const { rows, ...keys } = restoredKeys(keysOfBackup(backup), present?.keys, Date.now())
    if (keys.returned.length > 0 && !options.keysOfBackup) throw wouldReturn(keys.returned, target, present)
    const freeBytes = requireRoom(target, bytes)
    options.onProgress({ phase: 'begin', bytes, freeBytes })
    copyFile(backup, partial, options.onProgress)
    options.onProgress({ phase: 'check', bytes })
    await finishCopy(partial, backup, rows)
    giveToOwner(target, [partial, `${path}-lock`])
    syncFile(partial)
    const kept = options.discard || !isFilled(target) ? undefined : nameForKept(target)
    present?.emptyLog()
    replace(target, { partial, kept, shared: `${path}-shared` })
    return { store: target, bytes: statSync(target).size, kept, keys }
  } catch (error) {
    removeDatabase(partial)
    throw storeFailure(error, `file:${target}`)
  } finally {
    present?.close()
    ownership.release()
  }
}

function requireRoom(target: string, bytes: number): number {
  const { bavail, bsize } = statfsSync(dirname(target))
  const freeBytes = bavail * bsize
  if (freeBytes >= bytes) return freeBytes
  const [needed, free] = [bytes, freeBytes].map(count => `${Math.ceil(count / 1e6)} MB`)
  const needs = `Restoring needs ${needed} beside ${target}; ${free} is free.`
  throw new AlmanacError('store_full', needs, {
    hint: 'free space on that disk; the present store is replaced only after the backup was copied beside it.',
  })
}

// The copy.

const chunkBytes = 4 * 2 ** 20

function copyFile(from: string, to: string, onProgress: RestoreOptions['onProgress']): void {
  createPrivate(to)
  const source = openSync(from, 'r')
  const copy = openSync(to, 'w')
  try {
    const { size: bytes } = statSync(from)
    const chunk = Buffer.alloc(chunkBytes)
    let bytesDone = 0
    while (true) {
      const length = readSync(source, chunk)
      if (length === 0) return
      for (let written = 0; written < length; ) written += writeSync(copy, chunk, written, length - written)
      bytesDone += length
      onProgress({ phase: 'copy', bytes, bytesDone })
    }
  } finally {
    closeSync(copy)
    closeSync(source)
  }
}

/** Brings the copy to the current schema, checks all of it, and writes the keys that differ from the backup. */
async function finishCopy(partial: string, backup: string, rows: readonly KeyRow[]): Promise<void> {
  try {
    await prepareFile(partial)
    const copy = new Connection(partial, writeOptions)
    try {
      copy.database.exec('PRAGMA journal_mode = WAL')
      const verdict = verdictOf(copy)
      if (verdict !== 'ok') throw damaged(backup, verdict)
      for (const row of rows) putKey(copy.database, row)
      copy.database.prepare(noteRestored).run(Date.now(), blockEnd)
      copy.database.exec(restartWebhooks)
    } finally {
      copy.close()
    }
  } catch (error) {
    const failure = storeFailure(error, `file:${partial}`)
    throw failure.code === 'store_corrupt' && failure.cause !== undefined
      ? damaged(backup, messageOf(failure.cause))
      : failure
  }
}

/**
 * What was told of blocks above those of the backup is not known here (core/gone-blocks.ts). No era of the store that
 * is replaced is as high.
 */
const noteRestored = `INSERT INTO taken_back
  SELECT ordinal, (SELECT max(coalesce(max(era), 0) + 1, ?) FROM taken_back WHERE chain = ordinal), NULL,
    max(tip, finalized) + 1, ? FROM chains`

/** Their receivers may have been told of later blocks. */
const restartWebhooks = `UPDATE webhook_progress SET turn = turn + 1, restart = 1, batch = NULL, batch_end = NULL,
  batch_digest = NULL, batch_changes = NULL`

/** The present store may have fewer columns than the copy, or more. */
function putKey(copy: DatabaseSync, row: KeyRow): void {
  const columns = copy.prepare("SELECT name FROM pragma_table_info('keys')").all() as { name: string }[]
  const changed = columns.map(({ name }) => name).filter(name => name in row && name !== 'hash')
  const values = changed.map(name => row[name] as SQLInputValue)
  copy.prepare(`UPDATE keys SET ${changed.map(name => `${name} = ?`)} WHERE hash = ?`).run(...values, row.hash)
}

/** A service of another user than root, who restores, must be able to open it. */
function giveToOwner(target: string, paths: readonly string[]): void {
  const { uid, gid } = statSync(existsSync(target) ? target : dirname(target))
  if (process.getuid?.() === 0 && uid !== 0) for (const path of paths) chownSync(path, uid, gid)
}

// The swap.

function nameForKept(target: string): string {
  return `${target}.replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
}

type Replacement = { partial: string; kept: string | undefined; shared: string }

/**
 * The log of the present store is empty, or belongs to a damaged file and is kept with it: beside the restored file it
 * would be taken for that one's. What processes told each other about the present store goes too.
 */
function replace(target: string, { partial, kept, shared }: Replacement): void {
  if (kept !== undefined)
    for (const end of ['-wal', '-journal', '']) if (isFilled(target + end)) keep(target + end, kept + end)
  for (const end of logEnds) rmSync(target + end, { force: true })
  removeDatabase(shared)
  renameSync(partial, target)
  syncFile(dirname(target))
}

function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function keep(path: string, kept: string): void {
  try {
    linkSync(path, kept)
  } catch {
    // Some file systems have no links: for a moment there is no store of that name.
    renameSync(path, kept)
  }
}
