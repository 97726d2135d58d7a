// What a backup is, by the first bytes of the file.
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { AlmanacError } from '../../../errors.ts'
import { requireFormat } from '../../schema.ts'
import { applicationId } from '../tables.ts'

const headerBytes = 100

type Header = { application: number; version: number; bytes: number }

/** Undefined: not a SQLite file. */
export function headerOf(path: string): Header | undefined {
  const header = Buffer.alloc(headerBytes)
  const file = openSync(path, 'r')
  try {
    if (readSync(file, header) < headerBytes || header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
      return undefined
  } finally {
    closeSync(file)
  }
  // 1 stands for 65,536, which has no place in two bytes.
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  // Programs of 2010 and before count no pages here.
  const isCounted = header.readUInt32BE(24) === header.readUInt32BE(92)
  const bytes = isCounted ? pageBytes * header.readUInt32BE(28) : 0
  return { application: header.readUInt32BE(68), version: header.readUInt32BE(60), bytes }
}

/** Refuses at once what a look at the first bytes tells. Returns the size. */
export function requireBackup(backup: string): number {
  const facts = statSync(backup, { throwIfNoEntry: false })
  const made = 'name a file that `almanac store backup` made'
  if (facts === undefined) throw new AlmanacError('not_found', `There is no backup at ${backup}.`, { hint: `${made}.` })
  const header = facts.isFile() ? headerOf(backup) : undefined
  if (header === undefined)
    throw new AlmanacError('store_corrupt', `${backup} is not a backup of a store file.`, {
      hint: `${made}; if it is packed, unpack it first. Restore a dump of PostgreSQL with pg_restore.`,
    })
  const { application, version, bytes } = header
  if (application !== applicationId)
    throw new AlmanacError('store_corrupt', `${backup} is a database of another program.`, { hint: `${made}.` })
  requireFormat(version, `The backup ${backup}`)
  if (facts.size < bytes)
    throw damaged(backup, `it ends after ${facts.size} of ${bytes} bytes, as a copy that was interrupted does`)
  if ((statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new AlmanacError(
      'conflict',
      `${backup} is not a backup: it is a store with a part of its data in ${backup}-wal.`,
      {
        hint: `run \`almanac store backup FILE --store file:${backup}\` and restore FILE.`,
      },
    )
  return facts.size
}

export function damaged(backup: string, verdict: string): AlmanacError {
  return new AlmanacError('store_corrupt', `The backup ${backup} is damaged: ${verdict}.`, {
    hint: 'restore another backup; the present store was left as it is.',
  })
}
