// PostgreSQL's and the network's failures as errors of Almanac. It decides nothing: callers throw what it returns.
import { AlmanacError, type AlmanacErrorOptions, type ErrorCode, messageOf } from '../../errors.ts'

const networkCodes = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/
/** The driver's own words, which carry no code, for a connection that ended or did not open in time. */
const connectionWords =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/

/** The SQLSTATE of a server's answer, or the system's code of a network failure. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return error.code
}

/** The connection, not the statement, failed: classes 08 and 57P, and the network below them. */
export function isConnectionFailure(error: unknown): boolean {
  const code = sqlStateOf(error)
  if (code === undefined) return error instanceof Error && connectionWords.test(error.message)
  return networkCodes.test(code) || code.startsWith('08') || code.startsWith('57P') || code === '25P03'
}

/** Waiting was given up; a second try would wait as long again. */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** The server rolled back because of others: a deadlock or a serialization failure. Repeating is right. */
export function isRolledBackForOthers(error: unknown): boolean {
  const code = sqlStateOf(error)
  return code === '40001' || code === '40P01'
}

/** A named statement that the session does not know, or knows already. */
export function isLostName(error: unknown): boolean {
  const code = sqlStateOf(error)
  return code === '26000' || code === '42P05'
}

export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03'
}

/** Host and port, where the server of a cluster says that it cannot reach a worker. */
function lostWorker(error: unknown): string | undefined {
  const words = /connection to the remote node (?:\S+@)?(\S+:\d+) failed/
  return error instanceof Error ? words.exec(error.message)?.[1] : undefined
}

const soon = { retryable: true, retryAfterMs: 1_000 }

type Rule = { code: ErrorCode; fits: (code: string, error: unknown) => boolean; says: string } & AlmanacErrorOptions

/**
 * The first rule that fits. `says` follows "The database …"; a colon at its end is followed by the server's own words.
 */
const rules: readonly Rule[] = [
  {
    code: 'store_failed',
    fits: (_code, error) => lostWorker(error) !== undefined,
    says: 'cannot reach its worker:',
    hint: 'check that the worker runs; what other workers hold is answered.',
    ...soon,
  },
  {
    code: 'store_failed',
    fits: (_code, error) => isConnectionFailure(error),
    says: 'cannot be reached.',
    hint: 'check that the server runs and accepts connections; the same call succeeds once it does.',
    ...soon,
  },
  {
    code: 'store_locked',
    fits: (code, error) => isRolledBackForOthers(error) || code === '55P03' || code === '57014',
    says: 'is locked: another process writes to the same rows.',
    hint: 'try again in a moment.',
    ...soon,
  },
  {
    code: 'store_full',
    fits: code => code === '53100' || code === '53200',
    says: 'ran out of space; nothing of this commit was kept.',
    hint: 'free space on the server; the same commit then succeeds.',
    ...{ retryable: true, retryAfterMs: 10_000 },
  },
  {
    code: 'store_failed',
    fits: code => code === '53300',
    says: 'has no connection left.',
    hint: 'raise max_connections, put PgBouncer in front, or lower the pool parameter of the address.',
    ...soon,
  },
  {
    code: 'store_failed',
    fits: code => code.startsWith('28') || code === '3D000' || code === '42501',
    says: 'refuses this user:',
    hint: 'check user, password, database and rights: the user must own the database or its schema.',
  },
  {
    code: 'store_failed',
    fits: code => code === '25006',
    says: 'is read-only, as a replica is.',
    hint: 'name the primary server under store.',
    ...soon,
  },
  {
    code: 'store_corrupt',
    fits: code => code === 'XX001' || code === 'XX002',
    says: 'found damaged data:',
    hint: 'restore the server from a backup; nothing was changed by this call.',
  },
  { code: 'store_failed', fits: () => true, says: 'failed:' },
]

export function storeFailure(error: unknown, location: string): AlmanacError {
  if (error instanceof AlmanacError) return error
  const { code, fits, says, ...options } = rules.find(rule => rule.fits(sqlStateOf(error) ?? '', error)) as Rule
  const words = says.endsWith(':') ? `${says} ${lostWorker(error) ?? messageOf(error)}.` : says
  return new AlmanacError(code, `The database ${location} ${words}`, { ...options, cause: error })
}
