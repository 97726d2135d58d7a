// The one error class of the house and its closed list of codes. It knows no HTTP: `api/problem.ts` maps codes to statuses.

export const errorCodes = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'answer_too_large',
  'rate_limited',
  'quota_exceeded',
  'overloaded',
  'timeout',
  'upstream_failed',
  'upstream_invalid',
  'upstream_rate_limited',
  'not_configured',
  'config_invalid',
  'store_newer',
  'store_corrupt',
  'store_full',
  'store_locked',
  'store_failed',
  'conflict',
  'interrupted',
  'internal',
] as const
export type ErrorCode = (typeof errorCodes)[number]

export type AlmanacErrorOptions = {
  cause?: unknown
  /** What the reader can do about it, one imperative sentence. */
  hint?: string
  /** Facts for programs: the list of accepted values, the parameter's name. Shown to clients, so never a secret. */
  details?: unknown
  /** Whether the same call may succeed later with nothing changed. */
  retryable?: boolean
  retryAfterMs?: number
}

export class AlmanacError extends Error {
  override readonly name = 'AlmanacError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: unknown
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, options: AlmanacErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.details = options.details
    this.retryable = options.retryable ?? false
    this.retryAfterMs = options.retryAfterMs
  }
}

/** The two lines that a terminal shows. */
export function describeError(error: unknown): string {
  if (!(error instanceof AlmanacError)) return `Error: ${messageOf(error)}`
  const cause = error.cause === undefined ? '' : ` (${messageOf(error.cause)})`
  const hint = error.hint === undefined ? '' : `\nTry:   ${error.hint}`
  return `Error: ${error.message}${cause}${hint}`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
