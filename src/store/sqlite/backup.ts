// Copies the file while other processes read and write it: one consistent moment, compact, ready to replace the
// original.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { AlmanacError } from '../../errors.ts'
import { createPrivate } from '../../private-file.ts'
import { storeFailure } from './failures.ts'
import { prepareFile } from './open-file.ts'

/**
 * VACUUM INTO reads one snapshot and blocks no process; SQLite's backup API would restart at every commit of another
 * process. The copy gets its name once it is whole and checked.
 */
export async function backUpFile(path: string, target: string): Promise<{ bytes: number }> {
  if (!existsSync(path))
    throw new AlmanacError('not_found', `There is no store at file:${path}.`, { hint: 'name the store with --store.' })
  if (existsSync(target)) throw alreadyThere(target)
  await prepareFile(path)
  // A name of its own: another backup may be on its way to the same target.
  const partial = `${target}.${randomBytes(4).toString('hex')}.partial`
  try {
    const source = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
    try {
      createPrivate(partial)
      source.prepare('VACUUM INTO ?').run(partial)
    } finally {
      source.close()
    }
    check(partial)
    const file = openSync(partial, 'r')
    fsyncSync(file)
    closeSync(file)
    publish(partial, target)
    return { bytes: statSync(target).size }
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(partial + end, { force: true })
    throw storeFailure(error, `file:${target}`)
  }
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

/** Checks what a service expects of the copy: the log beside the file, and no damage. */
function check(path: string): void {
  const copy = new DatabaseSync(path)
  try {
    copy.exec('PRAGMA journal_mode = WAL')
    const verdict = Object.values(copy.prepare('PRAGMA quick_check(1)').get() ?? {})[0]
    if (verdict !== 'ok') throw new Error(`the copy is damaged: ${verdict}`)
  } finally {
    copy.close()
  }
}
