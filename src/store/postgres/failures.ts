// What PostgreSQL and the way to it say when they fail, in the words of the house. It decides nothing: callers throw what it returns.
import { AlmanacError, messageOf } from '../../errors.ts'

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
])
/** The driver's own words, which carry no code, for a connection that ended or could not be had in time. */
const connectionWords =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/

/** The SQLSTATE of a server's answer, or the system's code of a network failure. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return error.code
}

/** The connection, not the statement, failed: classes 08 and 57P, and the network below them. */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error && connectionWords.test(error.message)
  return networkCodes.has(code) || code.startsWith('08') || code.startsWith('57P') || code === '25P03'
}

/** The server rolled back because of others: a deadlock or a serialization failure. Repeating is right. */
export function isRolledBackForOthers(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40001' || code === '40P01'
}

/** A named statement that the session does not know, or knows already. */
export function isLostName(error: unknown): boolean {
  const code = codeOf(error)
  return code === '26000' || code === '42P05'
}

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** Citus passes a worker's refusal of a COPY on without its code. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === '23505' || (code === 'XX000' && /^duplicate key value violates/.test((error as Error).message))
}

export function storeFailure(error: unknown, location: string): AlmanacError {
  if (error instanceof AlmanacError) return error
  if (isConnectionFailure(error))
    return new AlmanacError('store_failed', `The database ${location} cannot be reached.`, {
      cause: error,
      hint: 'check that the server runs and accepts connections; the same call succeeds once it does.',
      retryable: true,
      retryAfterMs: 1_000,
    })
  const code = codeOf(error) ?? ''
  if (isRolledBackForOthers(error) || code === '55P03' || code === '57014')
    return new AlmanacError('store_locked', `Another process is writing to the same rows of ${location}.`, {
      cause: error,
      hint: 'try again in a moment.',
      retryable: true,
      retryAfterMs: 1_000,
    })
  if (code === '53100' || code === '53200')
    return new AlmanacError(
      'store_full',
      `The database server of ${location} ran out of space; nothing of this commit was kept.`,
      {
        cause: error,
        hint: 'free space on the server; the same commit then succeeds.',
        retryable: true,
        retryAfterMs: 10_000,
      },
    )
  if (code === '53300')
    return new AlmanacError('store_failed', `The database server of ${location} has no connection left.`, {
      cause: error,
      hint: 'raise max_connections, put PgBouncer in front, or lower the pool parameter of the address.',
      retryable: true,
      retryAfterMs: 1_000,
    })
  if (code.startsWith('28') || code === '3D000' || code === '42501')
    return new AlmanacError('store_failed', `The database ${location} refuses this user: ${messageOf(error)}.`, {
      cause: error,
      hint: 'check user, password, database and rights: the user must own the database or its schema.',
    })
  if (code === '25006')
    return new AlmanacError('store_failed', `The database ${location} is read-only, as a replica is.`, {
      cause: error,
      hint: 'name the primary server under store.',
      retryable: true,
      retryAfterMs: 1_000,
    })
  if (code === 'XX001' || code === 'XX002')
    return new AlmanacError('store_corrupt', `The database ${location} found damaged data: ${messageOf(error)}.`, {
      cause: error,
      hint: 'restore the server from a backup; nothing was changed by this call.',
    })
  return new AlmanacError('store_failed', `The database ${location} failed: ${messageOf(error)}.`, { cause: error })
}
