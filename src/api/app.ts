// The HTTP app: which path leads to which operation, and what every answer carries. No rule of an operation here.
import { type Context, Hono } from 'hono'
import type { Freshen } from '../query/freshen.ts'
import type { Answer } from './answer.ts'
import { AnswerCache } from './answer-cache.ts'
import { answerContracts } from './contracts.ts'
import { preflightHeaders } from './cors.ts'
import type { AppDependencies } from './dependencies.ts'
import { Desk, type Work } from './desk.ts'
import { apiVersions } from './dialect.ts'
import { type DirectListener, DirectPath } from './direct-path.ts'
import { answerEvents } from './events.ts'
import { type AppEnvironment, askedByContext, Exchange } from './exchange.ts'
import { answerExplain } from './explain.ts'
import { answerKeys, answerNewKey, answerRevocation } from './keys.ts'
import { NftTransfersRoute } from './nft-transfers.ts'
import { oncePerTurn } from './once-per-turn.ts'
import { openApiAnswer } from './openapi.ts'
import type { Workplace } from './operation.ts'
import { answerHealth, answerMetrics, answerReady, answerStatus, unknownRoute } from './ops.ts'
import { answerPortfolio } from './portfolio.ts'
import { allowedMethods, methodNotAllowed } from './problem.ts'
import { referenceFiles } from './reference-page.ts'
import { answerNoConsole, staticAnswer } from './static-files.ts'
import { WalletChainsRoute } from './wallet-chains.ts'
import { WorkGate } from './work-gate.ts'

export type { AppDependencies } from './dependencies.ts'

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
