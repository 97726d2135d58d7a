// Takes requests in and gives answers out: sizes, request ids, headers for all, errors, measurements. It knows neither the
// routes nor how an answer is sent, so that whatever way a request came in, its answer is the same.
import { AlmanacError } from '../errors.ts'
import { LogThrottle } from '../log.ts'
import type { Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Workplace } from './operation.ts'
import { codeOf, problemAnswer, rateLimitHeaders, statusOf } from './problem.ts'

export type Work = (exchange: Exchange) => Answer | Promise<Answer>

export class Desk {
  readonly #place: Workplace
  readonly #cors: (origin: string | undefined) => Readonly<Record<string, string>>
  readonly #variesByOrigin: boolean
  readonly #throttle = new LogThrottle()

  constructor(place: Workplace) {
    this.#place = place
    this.#cors = corsHeaders(place.settings.corsOrigins)
    this.#variesByOrigin = !place.settings.corsOrigins.includes('*')
  }

  /**
   * The answer with everything that goes out with it; it never throws. Stays without promises where the work does, so
   * that a kept answer is sent within the turn that asked for it.
   */
  answer(exchange: Exchange, route: string, work: Work): Answer | Promise<Answer> {
    try {
      this.#checkSize(exchange)
      const answer = work(exchange)
      if (!(answer instanceof Promise)) return this.#finish(exchange, route, answer)
      return answer.then(
        done => this.#finish(exchange, route, done),
        error => this.#failed(exchange, route, error),
      )
    } catch (error) {
      return this.#failed(exchange, route, error)
    }
  }

  #checkSize({ target }: Exchange): void {
    const { urlBytesMax } = this.#place.settings
    if (target.length > urlBytesMax) {
      throw new AlmanacError('uri_too_long', `The URL is longer than ${urlBytesMax} bytes`)
    }
  }

  #failed(exchange: Exchange, route: string, error: unknown): Answer {
    const { log, metrics } = this.#place
    const code = codeOf(error)
    if (code === 'unauthorized' || code === 'forbidden' || code === 'rate_limited' || code === 'quota_exceeded') {
      metrics.keys.refused.inc({ code })
    } else if (code === 'internal') {
      log.error({ err: error, request_id: exchange.requestId, route }, 'A request failed')
    } else if (statusOf(error) >= 500) {
      // A node or a store that is down fails every request alike.
      this.#throttle.say(`${route} ${code}`, repeated =>
        log.warn({ err: error, request_id: exchange.requestId, route, repeated }, 'A request failed'),
      )
    }
    const answer = problemAnswer(error, {
      requestId: exchange.requestId,
      accept: exchange.header('accept'),
      solana: exchange.target.startsWith('/account/'),
    })
    return this.#finish(exchange, route, answer)
  }

  #finish(exchange: Exchange, route: string, answer: Answer): Answer {
    const { metrics, log } = this.#place
    const { status, body } = answer
    const seconds = (performance.now() - exchange.startedMs) / 1_000
    const method = isOrdinary(exchange.method) ? exchange.method : 'other'
    metrics.http.duration.observe({ route, method, status }, seconds)
    if (body !== null) metrics.http.answerBytes.inc({ route }, body.length)
    if (log.isLevelEnabled('debug')) log.debug({ route, status, seconds, request_id: exchange.requestId }, 'answered')
    const headers: Record<string, string> = {
      ...answer.headers,
      ...(exchange.rateLimit && rateLimitHeaders(exchange.rateLimit)),
      ...this.#cors(exchange.header('origin')),
      'X-Request-Id': exchange.requestId,
    }
    if (this.#variesByOrigin) headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`
    return { ...answer, headers }
  }
}

function isOrdinary(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'POST' || method === 'DELETE'
}

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

// Asks once for all requests that arrived within one turn of the event loop: they are answered as of one moment.

/** Measured on kept answers: the store's revision was a tenth of a request's time. */
export function oncePerTurn<T>(ask: () => T): () => T {
  let answer: { value: T } | undefined
  const forget = (): void => {
    answer = undefined
  }
  return () => {
    if (answer === undefined) {
      answer = { value: ask() }
      setImmediate(forget)
    }
    return answer.value
  }
}
