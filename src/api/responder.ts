// Turns the work of a handler into the whole answer: headers, errors, metrics. It knows no route and sends nothing.
import { AlmanacError } from '../errors.ts'
import { LogThrottle } from '../log.ts'
import type { Answer, Handler } from './answer.ts'
import type { Context } from './context.ts'
import type { DocumentOptions, OperationFacts } from './openapi-parts.ts'
import { allowedMethods, codeOf, problemAnswer, rateLimitHeaders, statusOf } from './problem.ts'
import type { ApiRequest, ApiVersion } from './request.ts'

/** What a route file gives to the table of routes. */
export type RouteParts = {
  /** Called once for each app. */
  answer: (context: Context) => Handler
  /** For the OpenAPI document. */
  document: OperationFacts | ((options: DocumentOptions, version: ApiVersion) => OperationFacts)
}

export class Responder {
  readonly #context: Context
  readonly #cors: (origin: string | undefined) => Readonly<Record<string, string>>
  readonly #variesByOrigin: boolean
  readonly #throttle = new LogThrottle()

  constructor(context: Context) {
    this.#context = context
    this.#cors = corsHeaders(context.settings.corsOrigins)
    this.#variesByOrigin = !context.settings.corsOrigins.includes('*')
  }

  /**
   * The answer with everything that goes out with it. Never throws. Makes no promise unless the handler does, so that a
   * kept answer is sent in the turn that asked for it.
   */
  answer(request: ApiRequest, route: string, handler: Handler): Answer | Promise<Answer> {
    try {
      this.#checkSize(request)
      const answer = handler(request)
      if (!(answer instanceof Promise)) return this.#finish(request, route, answer)
      return answer.then(
        done => this.#finish(request, route, done),
        error => this.#failed(request, route, error),
      )
    } catch (error) {
      return this.#failed(request, route, error)
    }
  }

  #checkSize({ target }: ApiRequest): void {
    const { urlBytesMax } = this.#context.settings
    if (target.length > urlBytesMax) {
      throw new AlmanacError('uri_too_long', `The URL is longer than ${urlBytesMax} bytes`)
    }
  }

  #failed(request: ApiRequest, route: string, error: unknown): Answer {
    const { log, metrics } = this.#context
    const code = codeOf(error)
    if (code === 'unauthorized' || code === 'forbidden' || code === 'rate_limited' || code === 'quota_exceeded') {
      metrics.keys.refused.inc({ code })
    } else if (code === 'internal') {
      log.error({ err: error, request_id: request.requestId, route }, 'Request failed')
    } else if (statusOf(error) >= 500) {
      // A node or store that is down fails every request alike.
      this.#throttle.say(`${route} ${code}`, repeated =>
        log.warn({ err: error, request_id: request.requestId, route, repeated }, 'Request failed'),
      )
    }
    const answer = problemAnswer(error, {
      requestId: request.requestId,
      accept: request.header('accept'),
      solana: request.target.startsWith('/account/'),
    })
    return this.#finish(request, route, answer)
  }

  #finish(request: ApiRequest, route: string, answer: Answer): Answer {
    const { metrics, log } = this.#context
    const { status, body } = answer
    const seconds = (performance.now() - request.startedMs) / 1_000
    const method = isOrdinary(request.method) ? request.method : 'other'
    metrics.http.duration.observe({ route, method, status }, seconds)
    if (body !== null) metrics.http.answerBytes.inc({ route }, body.length)
    if (log.isLevelEnabled('debug'))
      log.debug({ route, status, seconds, request_id: request.requestId }, 'Request answered')
    const headers: Record<string, string> = {
      ...answer.headers,
      ...(request.rateLimit && rateLimitHeaders(request.rateLimit)),
      ...this.#cors(request.header('origin')),
      'X-Request-Id': request.requestId,
    }
    if (this.#variesByOrigin) headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`
    return { ...answer, headers }
  }
}

function isOrdinary(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'POST' || method === 'DELETE'
}

// CORS: what browsers must be told before pages of other origins may call the service.

const allowedHeaders =
  'X-API-Key, Authorization, Accept, Content-Type, If-None-Match, Prefer, X-Request-Id, ' +
  'X-Moralis-Platform, X-Moralis-Platform-Version, X-Moralis-Build-Target'

const exposedHeaders =
  'ETag, Age, Deprecation, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, ' +
  'X-Dialect, X-Index-Complete, X-Index-Evidence, X-Index-Incomplete-Chains, X-Solana-Slot'

type Headers = Readonly<Record<string, string>>

const anyOrigin: Headers = { 'Access-Control-Allow-Origin': '*' }
const anyOriginExposed: Headers = { ...anyOrigin, 'Access-Control-Expose-Headers': exposedHeaders }
const none: Headers = {}

/** From the Origin header of a request to the headers of its answer. */
function corsHeaders(origins: readonly string[]): (origin: string | undefined) => Headers {
  if (origins.includes('*')) return origin => (origin === undefined ? anyOrigin : anyOriginExposed)
  return origin =>
    origin !== undefined && origins.includes(origin)
      ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposedHeaders }
      : none
}

export function preflight(): Answer {
  return {
    status: 204,
    headers: {
      Allow: allowedMethods,
      'Access-Control-Allow-Methods': allowedMethods,
      'Access-Control-Allow-Headers': allowedHeaders,
      'Access-Control-Max-Age': '86400',
    },
    body: null,
  }
}
