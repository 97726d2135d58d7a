// Turns the work of a handler into the whole answer: headers, errors, metrics. It knows no route and sends nothing.
import { AlmanacError } from '../errors.ts'
import { refusedKeyOf } from '../keys/gatekeeper.ts'
import { LogThrottle } from '../log.ts'
import { type Answer, type Handler, headAgeHeader, jsonAnswer } from './answer.ts'
import type { Context } from './context.ts'
import type { FailureSchema } from './document/error-examples.ts'
import type { DocumentOptions, OperationFacts } from './openapi-parts.ts'
import { allowedMethods, codeOf, problemAnswer, rateLimitHeaders, statusOf } from './problem.ts'
import type { ApiRequest, ApiVersion } from './request.ts'

/** What a route file gives to the table of routes. */
export type RouteParts = {
  /** Called once for each app. */
  answer: (context: Context) => Handler
  /** For the OpenAPI document. */
  document: OperationFacts | ((options: DocumentOptions, version: ApiVersion) => OperationFacts)
  /** The shape of its errors, as sent and as documented. Absent: `Failure`. */
  failureSchema?: FailureSchema
}

/** What the responder has to know of a route. Metrics and logs name it by `label`. */
export type Endpoint = {
  label: string
  handler: Handler
  failureSchema: FailureSchema | undefined
  /** Pages of other origins may ask. */
  crossOrigin: boolean
}

/** For metrics, of an answer whose client has left: as proxies count it. */
const clientLeftStatus = 499

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
  answer(request: ApiRequest, endpoint: Endpoint): Answer | Promise<Answer> {
    try {
      this.#checkSize(request)
      const answer = endpoint.handler(request)
      if (!(answer instanceof Promise)) return this.#finish(request, endpoint, answer)
      return answer.then(
        done => this.#finish(request, endpoint, done),
        error => this.#failed(request, endpoint, error),
      )
    } catch (error) {
      return this.#failed(request, endpoint, error)
    }
  }

  #checkSize({ target }: ApiRequest): void {
    const { urlBytesMax } = this.#context.settings
    if (target.length > urlBytesMax) {
      throw new AlmanacError('uri_too_long', `The URL is longer than ${urlBytesMax} bytes`)
    }
  }

  #failed(request: ApiRequest, endpoint: Endpoint, error: unknown): Answer {
    try {
      if (error === request.left && codeOf(error) === 'interrupted')
        return this.#finish(request, endpoint, { status: clientLeftStatus, headers: {}, body: null })
      request.refusal = { code: codeOf(error), keyId: refusedKeyOf(error) }
      this.#report(request, endpoint.label, error)
      const answer = problemAnswer(error, {
        requestId: request.requestId,
        accept: request.header('accept'),
        solana: endpoint.failureSchema === 'SolanaFailure',
      })
      // What is refused as it was asked says nothing of data.
      const age = answer.status === 400 ? {} : headAgeHeader(request.heads)
      return this.#finish(request, endpoint, { ...answer, headers: { ...answer.headers, ...age } })
    } catch (second) {
      return this.#bareAnswer(request, endpoint, second)
    }
  }

  #report(request: ApiRequest, route: string, error: unknown): void {
    const { log, metrics } = this.#context
    const code = codeOf(error)
    if (code === 'unauthorized' || code === 'forbidden' || code === 'rate_limited' || code === 'quota_exceeded') {
      metrics.keys.refused.inc({ code })
    } else if (code === 'internal') {
      log.error({ err: error, request_id: request.requestId, route }, 'Request failed')
    } else if (code === 'not_implemented') {
      // Who moves over finds here all that is missed.
      const { operation = route } = (error as { details?: { operation?: string } }).details ?? {}
      metrics.http.notServed.inc({ operation })
      this.#warn(`${code} ${operation}`, { operation, request_id: request.requestId }, 'Operation not served')
    } else if (statusOf(error) >= 500) {
      // A node or store that is down fails every request alike.
      this.#warn(`${route} ${code}`, { err: error, request_id: request.requestId, route }, 'Request failed')
    }
  }

  /** What repeats itself is logged from time to time, with how often it did. */
  #warn(subject: string, fields: object, message: string): void {
    this.#throttle.say(subject, repeated =>
      this.#context.log.warn({ ...fields, ...(repeated > 0 && { repeated }) }, message),
    )
  }

  #finish(request: ApiRequest, endpoint: Endpoint, answer: Answer): Answer {
    try {
      this.#observe(request, endpoint, answer)
      return { ...answer, headers: this.#headers(request, endpoint, answer) }
    } catch (error) {
      answer.release?.()
      answer.stream?.destroy()
      return this.#bareAnswer(request, endpoint, error)
    }
  }

  /** Where making the answer itself failed: what failed once is not tried again for it. */
  #bareAnswer({ requestId }: ApiRequest, { label }: Endpoint, error: unknown): Answer {
    try {
      this.#context.log.error({ err: error, request_id: requestId, route: label }, 'Answer could not be made')
    } catch {
      // The log may be what failed.
    }
    const { headers, ...answer } = jsonAnswer(
      { message: 'Internal error', code: 'internal', request_id: requestId },
      { status: 500 },
    )
    return { ...answer, headers: { ...headers, 'X-Request-Id': requestId } }
  }

  #observe(request: ApiRequest, { label: route, crossOrigin }: Endpoint, answer: Answer): void {
    const { metrics, meter, log } = this.#context
    const { status, body } = answer
    const atMs = performance.now()
    const durationMs = atMs - request.startedMs
    const seconds = durationMs / 1_000
    const method = isOrdinary(request.method) ? request.method : 'other'
    metrics.http.duration.observe({ route, method, status }, seconds)
    if (body !== null) metrics.http.answerBytes.inc({ route }, body.length)
    // What clients ask for, and not what this console or a monitor does.
    if (crossOrigin && !request.isConsole)
      meter?.count({ atMs, durationMs, status, route, keyId: request.keyId, refusal: request.refusal })
    if (log.isLevelEnabled('debug'))
      log.debug({ route, status, seconds, request_id: request.requestId }, 'Request answered')
  }

  #headers(request: ApiRequest, { crossOrigin }: Endpoint, answer: Answer): Answer['headers'] {
    const headers: Record<string, string> = {
      ...answer.headers,
      ...(request.rateLimit && rateLimitHeaders(request.rateLimit)),
      ...(crossOrigin ? this.#cors(request.header('origin')) : none),
      'X-Request-Id': request.requestId,
    }
    if (crossOrigin && this.#variesByOrigin)
      headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`
    return headers
  }
}

const ordinaryMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PATCH', 'DELETE'])

function isOrdinary(method: string): boolean {
  return ordinaryMethods.has(method)
}

// CORS: what browsers need to know before pages of other origins may call the service.

const allowedHeaders =
  'X-API-Key, Authorization, Accept, Content-Type, If-None-Match, Prefer, X-Request-Id, ' +
  'X-Moralis-Platform, X-Moralis-Platform-Version, X-Moralis-Build-Target'

const exposedHeaders =
  'ETag, Age, Deprecation, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, ' +
  'X-Dialect, X-Index-Complete, X-Index-Evidence, X-Index-Incomplete-Chains, X-Index-Incomplete-Reason, ' +
  'X-Solana-Slot, X-Solana-Unknown-Mints, X-Block-Number, X-Tokens-Looked-At, X-Head-Age'

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

/** `known` are the methods that have a route at the path. */
export function preflight(known: readonly string[], crossOrigin: boolean): Answer {
  const methods = allowedMethods(known).join(', ')
  const allowed = {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': allowedHeaders,
    'Access-Control-Max-Age': '86400',
  }
  return { status: 204, headers: { Allow: methods, ...(crossOrigin ? allowed : none) }, body: null }
}
