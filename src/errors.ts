// The only error class, its closed list of codes, and its form between threads and processes. It knows no HTTP:
// `api/problem.ts` maps codes to statuses.

export const errorCodes = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'chain_not_configured',
  'method_not_allowed',
  'request_timeout',
  'http_version_not_supported',
  'uri_too_long',
  'headers_too_large',
  'answer_too_large',
  'list_too_large',
  'rate_limited',
  'quota_exceeded',
  'budget_exceeded',
  'overloaded',
  'timeout',
  'upstream_failed',
  'upstream_invalid',
  'upstream_rate_limited',
  'not_configured',
  'not_implemented',
  'config_invalid',
  'store_newer',
  'store_older',
  'store_corrupt',
  'store_full',
  'store_locked',
  'store_failed',
  'conflict',
  'interrupted',
  'stream_cut',
  'position_gone',
  'internal',
] as const
export type ErrorCode = (typeof errorCodes)[number]

export type AlmanacErrorOptions = {
  cause?: unknown
  /** What the reader can do about it: one imperative sentence, or several on lines of their own to choose from. */
  hint?: string
  /**
   * Facts for programs, such as the parameter and its accepted values. Clients see them: JSON values and no secrets.
   */
  details?: unknown
  /** The message names endpoints or repeats what a node said: clients get the sentence of the code instead. */
  operatorsOnly?: boolean
  /** The same call may succeed later with nothing changed. */
  retryable?: boolean
  retryAfterMs?: number
}

export class AlmanacError extends Error {
  override readonly name = 'AlmanacError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: unknown
  readonly operatorsOnly: boolean
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, options: AlmanacErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.details = options.details
    this.operatorsOnly = options.operatorsOnly ?? false
    this.retryable = options.retryable ?? false
    this.retryAfterMs = options.retryAfterMs
  }
}

/** A key, or all requests together, have used up their day: trying again before it ends does not help. */
export function isUsedUp(error: unknown): error is AlmanacError {
  return error instanceof AlmanacError && (error.code === 'budget_exceeded' || error.code === 'quota_exceeded')
}

/** An error as data that JSON and messages between threads carry. */
export type PlainError = { code: string; message: string; cause?: string } & Omit<AlmanacErrorOptions, 'cause'>

/**
 * Keeps every field; a cause keeps its message. Any other error becomes `internal`. Never throws, whatever was thrown:
 * the other side waits for it.
 */
export function toPlain(error: unknown): PlainError {
  if (!(error instanceof AlmanacError)) return { code: 'internal', message: messageOf(error) }
  const { code, message, cause, hint, details, operatorsOnly, retryable, retryAfterMs } = error
  return {
    ...{ code, message, retryable },
    ...(operatorsOnly ? { operatorsOnly } : {}),
    ...(cause === undefined ? {} : { cause: messageOf(cause) }),
    ...(hint === undefined ? {} : { hint }),
    ...(isJson(details) ? { details } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** Functions, cycles and the like would not arrive. */
function isJson(value: unknown): boolean {
  try {
    structuredClone(value)
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

/** A code from another version of Almanac becomes `internal`. */
export function fromPlain({ code, message, cause, ...options }: PlainError): AlmanacError {
  const known = errorCodes.find(each => each === code) ?? 'internal'
  return new AlmanacError(known, message, cause === undefined ? options : { ...options, cause: new Error(cause) })
}

/** With the messages of the causes, which may be a node's own words: for operators, never for clients. */
export function messageWithCauses(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause === undefined ? messageOf(error) : `${messageOf(error).replace(/\.$/, '')}: ${messageWithCauses(cause)}`
}

/** What a terminal shows: the error, and each thing to try on a line. */
export function describeError(error: unknown): string {
  if (!(error instanceof AlmanacError)) return `Error: ${messageOf(error)}`
  const cause = error.cause === undefined ? '' : ` (${messageOf(error.cause)})`
  const hint = error.hint === undefined ? '' : `\nTry:   ${error.hint.replaceAll('\n', '\nOr:    ')}`
  return `Error: ${error.message}${cause}${hint}`
}

export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'something that cannot be shown'
  }
}
