// The HTTP app: which path leads to which operation, and what every answer carries. No rule of an operation here.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Context, Hono } from 'hono'
import type { Log } from '../log.ts'
import type { Freshen } from '../query/freshen.ts'
import type { Answer } from './answer.ts'
import { AnswerCache } from './answer-cache.ts'
import { Desk, oncePerTurn, preflightHeaders, type Work } from './desk.ts'
import { answerEvents } from './events.ts'
import { type AppEnvironment, askedByContext, Exchange } from './exchange.ts'
import { answerExplain } from './explain.ts'
import { answerKeys, answerNewKey, answerRevocation } from './keys.ts'
import { NftTransfersRoute } from './nft-transfers.ts'
import { openApiAnswer } from './openapi.ts'
import type { AppDependencies, Workplace } from './operation.ts'
import { answerContracts, answerHealth, answerMetrics, answerReady, answerStatus, unknownRoute } from './ops.ts'
import { apiVersions } from './params.ts'
import { answerPortfolio } from './portfolio.ts'
import { allowedMethods, methodNotAllowed } from './problem.ts'
import { answerNoConsole, referenceFiles, staticAnswer } from './static-files.ts'
import { WalletChainsRoute } from './wallet-chains.ts'
import { WorkGate } from './work-gate.ts'

export type { AppDependencies } from './operation.ts'

/** `direct` answers what it can before the framework is asked. */
export type App = Hono<AppEnvironment> & { direct: DirectListener }

export function createApp(dependencies: AppDependencies): App {
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
    revision: oncePerTurn(() => dependencies.store.revision() + (dependencies.replica?.revision() ?? 0)),
    gate,
  }
  const desk = new Desk(place)
  // A slash at the end changes nothing: some clients join base and path with one too many.
  const app = new Hono<AppEnvironment>({ strict: false })
  const get = (route: string, work: Work) => app.get(route, context => respond(desk, context, route, work))
  const direct = new DirectPath(desk, dependencies.log)
  const operation = (route: string, work: Work) => {
    direct.add(route, work)
    get(route, work)
  }

  const transfers = new NftTransfersRoute(place)
  const wallets = new WalletChainsRoute(place)
  for (const version of apiVersions) {
    operation(`/api/${version}/nft/:address/transfers`, exchange => transfers.answer(exchange, version))
    operation(`/api/${version}/wallets/:address/chains`, exchange => wallets.answer(exchange, version))
  }
  operation('/account/:network/:address/portfolio', exchange => answerPortfolio(place, exchange))
  get('/health', answerHealth)
  get('/ready', () => answerReady(place))
  get('/status', exchange => answerStatus(place, exchange))
  get('/metrics', exchange => answerMetrics(place, exchange))
  get('/events', exchange => answerEvents(place, exchange))
  get('/explain/:chain/:contract', exchange => answerExplain(place, exchange))
  get('/chains/:chain/contracts', exchange => answerContracts(place, exchange))
  get('/keys', exchange => answerKeys(place, exchange))
  app.post('/keys', context => respond(desk, context, '/keys', exchange => answerNewKey(place, exchange)))
  app.delete('/keys/:id', context => respond(desk, context, '/keys/:id', exchange => answerRevocation(place, exchange)))
  const document = openApiAnswer({
    chains: dependencies.chains,
    pageSizeMax: settings.pageSizeMax,
    version: dependencies.version,
  })
  get('/openapi.json', () => document)
  for (const [path, file] of referenceFiles()) get(path, () => file)
  if (dependencies.console === undefined) get('/', answerNoConsole)
  for (const [path, file] of dependencies.console ?? []) get(path, exchange => staticAnswer(file, exchange))

  app.options('*', context => respond(desk, context, 'preflight', preflight))
  app.notFound(context => {
    // Hono asks here also when the path is known and the method is not.
    const methods = ['GET', 'POST', 'DELETE'].filter(method => app.router.match(method, context.req.path)[0].length > 0)
    return respond(desk, context, methods.length > 0 ? 'method' : 'unknown', () => {
      throw methods.length > 0 ? methodNotAllowed(context.req.method, methods) : unknownRoute(context.req.path)
    })
  })
  return Object.assign(app, { direct: direct.listener })
}

function respond(
  desk: Desk,
  context: Context<AppEnvironment>,
  route: string,
  work: Work,
): Response | Promise<Response> {
  const answer = desk.answer(new Exchange(askedByContext(context)), route, work)
  return answer instanceof Promise ? answer.then(responseOf) : responseOf(answer)
}

/** A lent body is never given back from here: nobody says when it was sent. */
function responseOf({ status, headers, body, stream }: Answer): Response {
  return new Response(stream ?? body, { status, headers })
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

// The short way for the operations: plain GET requests go from Node's request to Node's response, past the framework, which
// takes as long as everything else that a kept answer costs. Whatever is unusual about a request leaves it to the framework.

/** Takes a request and answers it, or leaves it alone and says so. */
export type DirectListener = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

type DirectRoute = { route: string; pattern: RegExp; names: readonly string[]; work: Work }

/** Both mean the same to every reader of URLs: nothing to decode, nothing to normalise. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const plainQuery = '(?:\\?[\\w.~=&,;:+*\\[\\]-]*)?'

export class DirectPath {
  readonly #routes: DirectRoute[] = []
  readonly #desk: Desk
  readonly #log: Log

  constructor(desk: Desk, log: Log) {
    this.#desk = desk
    this.#log = log
  }

  /** `route` is written as for the framework: `:name` stands for a part of the path. */
  add(route: string, work: Work): void {
    const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!)
    const path = route.replace(/\./g, '\\.').replace(/:\w+/g, '([0-9A-Za-z]+)')
    this.#routes.push({ route, pattern: new RegExp(`^${path}/?${plainQuery}$`), names, work })
  }

  readonly listener: DirectListener = (incoming, outgoing) => {
    const { method, url, headers } = incoming
    if ((method !== 'GET' && method !== 'HEAD') || !isPlain(incoming)) return false
    for (const { route, pattern, names, work } of this.#routes) {
      const found = pattern.exec(url!)
      if (found === null) continue
      const pathParameter = (name: string) => found[names.indexOf(name) + 1]
      this.#answer(new Exchange({ method, target: url!, headers, pathParameter }), route, work, outgoing)
      return true
    }
    return false
  }

  #answer(exchange: Exchange, route: string, work: Work, outgoing: ServerResponse): void {
    const send = (answer: Answer): void => {
      try {
        sendAnswer(outgoing, answer)
      } catch (error) {
        this.#log.error({ err: error, request_id: exchange.requestId, route }, 'An answer could not be sent')
        outgoing.destroy()
      }
    }
    const answer = this.#desk.answer(exchange, route, work)
    if (answer instanceof Promise) answer.then(send)
    else send(answer)
  }
}

function isPlain({ headers }: IncomingMessage): boolean {
  return (
    headers.host !== undefined &&
    plainHost.test(headers.host) &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

function sendAnswer(outgoing: ServerResponse, { status, headers, body, release }: Answer): void {
  if (body === null || outgoing.req.method === 'HEAD') {
    outgoing.writeHead(status, headers).end()
    release?.()
    return
  }
  const hasLength = headers['Content-Length'] !== undefined
  outgoing.writeHead(status, hasLength ? headers : { ...headers, 'Content-Length': `${Buffer.byteLength(body)}` })
  outgoing.end(body, release)
}
