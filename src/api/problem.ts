// From an error to the answer that a client gets: status, body and headers. Internals stay in the log.
import { STATUS_CODES } from 'node:http'
import { AlmanacError, type ErrorCode } from '../errors.ts'
import { redactText } from '../redact.ts'
import { type Answer, safetyHeaders } from './answer.ts'
import { namesType, type RateLimitFacts } from './request.ts'

/**
 * The status of each code. A message here replaces the error's own, which may name files, endpoints or other internals.
 * A portfolio that cannot be read keeps its own message: it says which part is missing.
 */
const answers: Record<ErrorCode, [status: number, message?: string]> = {
  bad_request: [400],
  unauthorized: [401],
  forbidden: [403],
  not_found: [404],
  chain_not_configured: [404],
  method_not_allowed: [405],
  request_timeout: [408],
  uri_too_long: [414],
  headers_too_large: [431],
  http_version_not_supported: [505],
  answer_too_large: [400],
  list_too_large: [422],
  rate_limited: [429],
  quota_exceeded: [429],
  budget_exceeded: [503],
  overloaded: [503],
  timeout: [504],
  upstream_failed: [502, 'An upstream node failed'],
  upstream_invalid: [502, 'An upstream node gave an answer that failed its check'],
  upstream_rate_limited: [503, 'An upstream node refused more requests for now'],
  not_configured: [503],
  not_implemented: [501],
  config_invalid: [500, 'Internal error'],
  store_newer: [503, 'The store cannot be read'],
  store_older: [503, 'The store cannot be read'],
  store_corrupt: [503, 'The store cannot be read'],
  store_full: [503, 'The store has no room left'],
  store_locked: [503, 'The store is busy'],
  store_failed: [503, 'The store failed'],
  conflict: [500, 'Internal error'],
  interrupted: [503, 'The service is stopping'],
  stream_cut: [503],
  position_gone: [410],
  internal: [500, 'Internal error'],
}

export type ProblemOptions = {
  requestId: string
  /** The request's Accept header. */
  accept: string | undefined
  /** Clients of the Solana operation read `statusCode` and `error`. */
  solana: boolean
}

export function statusOf(error: unknown): number {
  return answers[codeOf(error)][0]
}

export function codeOf(error: unknown): ErrorCode {
  return error instanceof AlmanacError ? error.code : 'internal'
}

export function problemAnswer(error: unknown, { requestId, accept, solana }: ProblemOptions): Answer {
  const code = codeOf(error)
  const [status] = answers[code]
  const hidden = publicMessageOf(error, { code, solana })
  const message = hidden ?? redactText((error as AlmanacError).message)
  const details = hidden === undefined ? publicDetails(error as AlmanacError) : undefined
  const facts = { code, ...(details === undefined ? {} : { details }), request_id: requestId }
  const reason = STATUS_CODES[status]!
  const asProblem = namesType(accept, 'application/problem+json')
  const body = asProblem
    ? { type: `/docs/errors.html#${code}`, title: reason, status, detail: message, ...facts }
    : { message, ...facts, ...(solana ? { statusCode: status, error: reason } : {}) }
  return {
    status,
    headers: {
      'Content-Type': asProblem ? 'application/problem+json' : 'application/json',
      'Cache-Control': 'no-store',
      Vary: 'Accept',
      ...safetyHeaders,
      ...codeHeaders(error, code),
    },
    body: Buffer.from(JSON.stringify(body)) as Buffer<ArrayBuffer>,
  }
}

/** Undefined where the error's own message may be shown. */
function publicMessageOf(error: unknown, { code, solana }: { code: ErrorCode; solana: boolean }): string | undefined {
  const [, message] = answers[code]
  if (error instanceof AlmanacError && error.operatorsOnly) return message ?? answers.upstream_failed[1]
  return solana && code === 'upstream_failed' ? undefined : message
}

export function rateLimitHeaders({ limit, remaining, resetSeconds }: RateLimitFacts): Record<string, string> {
  return { 'RateLimit-Limit': `${limit}`, 'RateLimit-Remaining': `${remaining}`, 'RateLimit-Reset': `${resetSeconds}` }
}

/** The rate limit goes into headers only. */
function publicDetails({ details }: AlmanacError): unknown {
  if (rateLimitOf(details) === undefined) return details
  const { rateLimit: _, ...rest } = details as Record<string, unknown>
  return Object.keys(rest).length === 0 ? undefined : rest
}

function rateLimitOf(details: unknown): RateLimitFacts | undefined {
  return typeof details === 'object' && details !== null && 'rateLimit' in details
    ? (details.rateLimit as RateLimitFacts)
    : undefined
}

function codeHeaders(error: unknown, code: ErrorCode): Record<string, string> {
  if (!(error instanceof AlmanacError)) return {}
  const headers: Record<string, string> = {}
  if (code === 'unauthorized') headers['WWW-Authenticate'] = 'ApiKey realm="almanac", header="X-API-Key"'
  if (code === 'method_not_allowed') headers.Allow = allowedOf(error.details) ?? allowedMethods([]).join(', ')
  if (error.retryAfterMs !== undefined) headers['Retry-After'] = `${Math.max(1, Math.ceil(error.retryAfterMs / 1_000))}`
  const rateLimit = rateLimitOf(error.details)
  return rateLimit === undefined ? headers : { ...headers, ...rateLimitHeaders(rateLimit) }
}

/** `known` are the methods that have a route; HEAD and OPTIONS come by themselves. Most routes have GET alone. */
export function allowedMethods(known: readonly string[]): string[] {
  const named = known.length === 0 ? ['GET'] : known
  return [...named.flatMap(name => (name === 'GET' ? ['GET', 'HEAD'] : [name])), 'OPTIONS']
}

export function methodNotAllowed(method: string, known: readonly string[]): AlmanacError {
  const allowed = allowedMethods(known)
  return new AlmanacError('method_not_allowed', `The method ${method} is not allowed here`, { details: { allowed } })
}

function allowedOf(details: unknown): string | undefined {
  return (details as { allowed?: string[] } | undefined)?.allowed?.join(', ')
}
