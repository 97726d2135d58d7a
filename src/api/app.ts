// The HTTP app: which path leads to which operation, and what every answer carries. No rule of an operation here.
import { type Context, Hono } from 'hono'
import { AlmanacError } from '../errors.ts'
import { LogThrottle } from '../log.ts'
import type { Freshen } from '../query/freshen.ts'
import type { Answer } from './answer.ts'
import { AnswerCache } from './answer-cache.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import type { AppDependencies } from './dependencies.ts'
import { apiVersions } from './dialect.ts'
import { answerEvents } from './events.ts'
import { type AppEnvironment, Exchange } from './exchange.ts'
import { answerKeys, answerNewKey, answerRevocation } from './keys.ts'
import { NftTransfersRoute } from './nft-transfers.ts'
import { oncePerTurn } from './once-per-turn.ts'
import { openApiAnswer } from './openapi.ts'
import type { Workplace } from './operation.ts'
import { answerHealth, answerMetrics, answerReady, answerStatus, unknownRoute } from './ops.ts'
import { answerPortfolio } from './portfolio.ts'
import { allowedMethods, codeOf, methodNotAllowed, problemAnswer, rateLimitHeaders, statusOf } from './problem.ts'
import { referenceFiles } from './reference-page.ts'
import { answerNoConsole, staticAnswer } from './static-files.ts'
import { WalletChainsRoute } from './wallet-chains.ts'
import { WorkGate } from './work-gate.ts'

export type { AppDependencies } from './dependencies.ts'

type Work = (exchange: Exchange) => Answer | Promise<Answer>

export function createApp(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { settings, metrics } = dependencies
  const gate = new WorkGate({
    concurrencyMax: settings.concurrencyMax,
    queueMax: settings.queueMax,
    timeoutMs: settings.requestTimeoutMs,
    onShed: () => metrics.http.shed.inc(),
  })
  const place: Workplace = {
    ...dependencies,
    freshen: freshenAside(dependencies.freshen, gate),
    cache: new AnswerCache(settings.answerCacheBytes),
    revision: oncePerTurn(() => dependencies.store.revision()),
    gate,
  }
  const desk = new Desk(place)
  // A slash at the end changes nothing: some clients join base and path with one too many.
  const app = new Hono<AppEnvironment>({ strict: false })
  const get = (route: string, work: Work) => app.get(route, context => desk.serve(context, route, work))

  const transfers = new NftTransfersRoute(place)
  const wallets = new WalletChainsRoute(place)
  for (const version of apiVersions) {
    get(`/api/${version}/nft/:address/transfers`, exchange => transfers.answer(exchange, version))
    get(`/api/${version}/wallets/:address/chains`, exchange => wallets.answer(exchange, version))
  }
  get('/account/:network/:address/portfolio', exchange => answerPortfolio(place, exchange))
  get('/health', answerHealth)
  get('/ready', () => answerReady(place))
  get('/status', exchange => answerStatus(place, exchange))
  get('/metrics', exchange => answerMetrics(place, exchange))
  get('/events', exchange => answerEvents(place, exchange))
  get('/keys', exchange => answerKeys(place, exchange))
  app.post('/keys', context => desk.serve(context, '/keys', exchange => answerNewKey(place, exchange)))
  app.delete('/keys/:id', context => desk.serve(context, '/keys/:id', exchange => answerRevocation(place, exchange)))
  const document = openApiAnswer({
    chains: dependencies.chains,
    pageSizeMax: settings.pageSizeMax,
    version: dependencies.version,
  })
  get('/openapi.json', () => document)
  for (const [path, file] of referenceFiles()) get(path, () => file)
  if (dependencies.console === undefined) get('/', answerNoConsole)
  for (const [path, file] of dependencies.console ?? []) get(path, exchange => staticAnswer(file, exchange))

  app.options('*', context => desk.serve(context, 'preflight', preflight))
  app.notFound(context => {
    // Hono asks here also when the path is known and the method is not.
    const methods = ['GET', 'POST', 'DELETE'].filter(method => app.router.match(method, context.req.path)[0].length > 0)
    return desk.serve(context, methods.length > 0 ? 'method' : 'unknown', () => {
      throw methods.length > 0 ? methodNotAllowed(context.req.method, methods) : unknownRoute(context.req.path)
    })
  })
  return app
}

/** Whoever waits for an indexer does no work here, so it takes nobody's place. */
function freshenAside(freshen: Freshen | undefined, gate: WorkGate): Freshen | undefined {
  if (freshen === undefined) return undefined
  const { contract, wallet } = freshen
  return {
    ...freshen,
    ...(contract === undefined ? {} : { contract: (...asked) => gate.aside(() => contract(...asked)) }),
    ...(wallet === undefined ? {} : { wallet: (...asked) => gate.aside(() => wallet(...asked)) }),
  }
}

function preflight(): Answer {
  return { status: 204, headers: preflightHeaders(allowedMethods), body: null }
}

/** Takes requests in and sends answers out: sizes, request ids, headers for all, errors, measurements. */
class Desk {
  readonly #place: Workplace
  readonly #cors: (origin: string | undefined) => Readonly<Record<string, string>>
  readonly #variesByOrigin: boolean
  readonly #throttle = new LogThrottle()

  constructor(place: Workplace) {
    this.#place = place
    this.#cors = corsHeaders(place.settings.corsOrigins)
    this.#variesByOrigin = !place.settings.corsOrigins.includes('*')
  }

  /** Stays without promises where the work does, so that a kept answer is sent within the turn that asked for it. */
  serve(context: Context<AppEnvironment>, route: string, work: Work): Response | Promise<Response> {
    const exchange = new Exchange(context)
    try {
      this.#checkSize(exchange)
      const answer = work(exchange)
      if (!(answer instanceof Promise)) return this.#send(exchange, route, answer)
      return answer.then(
        done => this.#send(exchange, route, done),
        error => this.#sendError(exchange, route, error),
      )
    } catch (error) {
      return this.#sendError(exchange, route, error)
    }
  }

  #checkSize({ target }: Exchange): void {
    const { urlBytesMax } = this.#place.settings
    if (target.length > urlBytesMax) {
      throw new AlmanacError('uri_too_long', `The URL is longer than ${urlBytesMax} bytes`)
    }
  }

  #sendError(exchange: Exchange, route: string, error: unknown): Response {
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
    return this.#send(exchange, route, answer)
  }

  #send(exchange: Exchange, route: string, { status, headers, body, stream }: Answer): Response {
    const { metrics, log } = this.#place
    const seconds = (performance.now() - exchange.startedMs) / 1_000
    const method = isOrdinary(exchange.method) ? exchange.method : 'other'
    metrics.http.duration.observe({ route, method, status }, seconds)
    if (body !== null) metrics.http.answerBytes.inc({ route }, body.length)
    if (log.isLevelEnabled('debug')) log.debug({ route, status, seconds, request_id: exchange.requestId }, 'answered')
    const all: Record<string, string> = {
      ...headers,
      ...(exchange.rateLimit && rateLimitHeaders(exchange.rateLimit)),
      ...this.#cors(exchange.header('origin')),
      'X-Request-Id': exchange.requestId,
    }
    if (this.#variesByOrigin) all.Vary = all.Vary === undefined ? 'Origin' : `${all.Vary}, Origin`
    return new Response(stream ?? body, { status, headers: all })
  }
}

function isOrdinary(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'POST' || method === 'DELETE'
}
