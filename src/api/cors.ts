// What browsers must be told before pages of other origins may call the service.

export const allowedHeaders = [
  'X-API-Key',
  'Authorization',
  'Accept',
  'Content-Type',
  'If-None-Match',
  'Prefer',
  'X-Request-Id',
  'X-Moralis-Platform',
  'X-Moralis-Platform-Version',
  'X-Moralis-Build-Target',
]

const exposedHeaders = [
  'ETag',
  'Age',
  'Deprecation',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Request-Id',
  'X-Dialect',
  'X-Index-Complete',
  'X-Index-Evidence',
  'X-Index-Incomplete-Chains',
  'X-Solana-Slot',
].join(', ')

type Headers = Readonly<Record<string, string>>

const anyOrigin: Headers = { 'Access-Control-Allow-Origin': '*' }
const anyOriginExposed: Headers = { ...anyOrigin, 'Access-Control-Expose-Headers': exposedHeaders }
const none: Headers = {}

/** The headers for an answer to a request with this Origin header. */
export function corsHeaders(origins: readonly string[]): (origin: string | undefined) => Headers {
  if (origins.includes('*')) return origin => (origin === undefined ? anyOrigin : anyOriginExposed)
  return origin =>
    origin !== undefined && origins.includes(origin)
      ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposedHeaders }
      : none
}

export function preflightHeaders(methods: string): Headers {
  return {
    Allow: methods,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': allowedHeaders.join(', '),
    'Access-Control-Max-Age': '86400',
  }
}
