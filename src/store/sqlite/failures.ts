// What SQLite says when it fails, in the words of the house. It decides nothing: callers throw what it returns.
import { AlmanacError, messageOf } from '../../errors.ts'

const resultBusy = 5
const resultLocked = 6
const resultReadOnly = 8
const resultIo = 10
const resultCorrupt = 11
const resultFull = 13
const resultCannotOpen = 14
const resultNotADatabase = 26

/** The primary result code of SQLite; undefined for other errors. */
function resultOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

export function isBusy(error: unknown): boolean {
  const result = resultOf(error)
  return result === resultBusy || result === resultLocked
}

export function storeFailure(error: unknown, location: string): AlmanacError {
  if (error instanceof AlmanacError) return error
  switch (resultOf(error)) {
    case resultBusy:
    case resultLocked:
      return lockedFailure(location, error)
    case resultCorrupt:
    case resultNotADatabase:
      return new AlmanacError('store_corrupt', `The store ${location} is not a readable database.`, {
        cause: error,
        hint: 'restore the file from a backup, or name another file under store; the damaged file was left as it is.',
      })
    case resultFull:
      return new AlmanacError(
        'store_full',
        `The disk of the store ${location} is full; nothing of this commit was kept.`,
        {
          cause: error,
          hint: 'free space on that disk; the same commit then succeeds.',
          retryable: true,
          retryAfterMs: 10_000,
        },
      )
    case resultReadOnly:
    case resultCannotOpen:
      return new AlmanacError('store_failed', `The store ${location} cannot be opened for writing.`, {
        cause: error,
        hint: 'give this user the right to write to the file and its directory, where -wal and -shm files are kept beside it.',
      })
    case resultIo:
      return new AlmanacError('store_failed', `The disk of the store ${location} failed.`, {
        cause: error,
        hint: 'check the disk and its limits; the commit was rolled back and can be repeated.',
        retryable: true,
      })
    default:
      return new AlmanacError('store_failed', `The store ${location} failed: ${messageOf(error)}.`, { cause: error })
  }
}

export function lockedFailure(location: string, cause: unknown): AlmanacError {
  return new AlmanacError('store_locked', `Another process is writing to the store ${location}.`, {
    cause,
    hint: 'try again in a moment.',
    retryable: true,
    retryAfterMs: 1_000,
  })
}
