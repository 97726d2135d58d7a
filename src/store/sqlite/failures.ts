// SQLite's failures as errors of Almanac. It decides nothing: callers throw what it returns.
import { AlmanacError, type AlmanacErrorOptions, type ErrorCode, messageOf } from '../../errors.ts'

const [busy, locked] = [5, 6]

/** The primary result code of SQLite; undefined for other errors. */
function resultOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

export function isBusy(error: unknown): boolean {
  const result = resultOf(error)
  return result === busy || result === locked
}

type Rule = { code: ErrorCode; message: (location: string) => string } & AlmanacErrorOptions

const isLocked: Rule = {
  code: 'store_locked',
  message: location => `Another process is writing to the store ${location}.`,
  ...{ hint: 'try again in a moment.', retryable: true, retryAfterMs: 1_000 },
}
const isUnreadable: Rule = {
  code: 'store_corrupt',
  message: location => `The store ${location} is not a readable database.`,
  hint: 'restore the file from a backup, or name another file under store; the damaged file was left as it is.',
}
/** Where not even the beginning is that of a database, a wrong name is likelier than damage. */
const isOtherFile: Rule = {
  ...isUnreadable,
  hint: 'name the file of the store under store or with --store; if this is it, restore it from a backup. It was left as it is.',
}
const isUnwritable: Rule = {
  code: 'store_failed',
  message: location => `The store ${location} cannot be opened for writing.`,
  hint: 'give this user the right to write to the file and its directory, where -wal and -shm files are kept beside it.',
}

/** By SQLite's result codes. */
const rules: Readonly<Record<number, Rule>> = {
  [busy]: isLocked,
  [locked]: isLocked,
  8: isUnwritable,
  10: {
    code: 'store_failed',
    message: location => `The disk of the store ${location} failed.`,
    hint: 'check the disk and its limits; the commit was rolled back and can be repeated.',
    retryable: true,
  },
  11: isUnreadable,
  13: {
    code: 'store_full',
    message: location => `The disk of the store ${location} is full; nothing of this commit was kept.`,
    hint: 'free space on that disk; the same commit then succeeds.',
    ...{ retryable: true, retryAfterMs: 10_000 },
  },
  14: isUnwritable,
  26: isOtherFile,
}

export function storeFailure(error: unknown, location: string): AlmanacError {
  if (error instanceof AlmanacError) return error
  const rule = rules[resultOf(error) ?? -1]
  if (rule !== undefined) return failure(rule, location, error)
  return new AlmanacError('store_failed', `The store ${location} failed: ${messageOf(error)}.`, { cause: error })
}

export function lockedFailure(location: string, cause: unknown): AlmanacError {
  return failure(isLocked, location, cause)
}

function failure({ code, message, ...options }: Rule, location: string, cause: unknown): AlmanacError {
  return new AlmanacError(code, message(location), { ...options, cause })
}
