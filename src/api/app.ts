// The HTTP app: from Node's request through the router and a handler to Node's response, the same way for every route.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { AlmanacError } from '../errors.ts'
import { keptFor, once } from '../once.ts'
import { Claims } from '../query/claims.ts'
import { CursorSigner } from '../query/cursor.ts'
import { TokenCalls } from '../query/erc20/token-calls.ts'
import { TokenFacts } from '../query/erc20/token-facts.ts'
import { TokenOwners } from '../query/erc20/token-owners.ts'
import { TouchedTokens } from '../query/erc20/touched-tokens.ts'
import { WalletTokens } from '../query/erc20/wallet-tokens.ts'
import type { Freshen } from '../query/freshen.ts'
import { Holdings } from '../query/holdings/holdings.ts'
import { HoldingsAdmission } from '../query/holdings/holdings-admission.ts'
import { KnownLabels } from '../query/known-labels.ts'
import { TokenUris } from '../query/metadata/token-uris.ts'
import { ShownContracts } from '../query/shown-contracts.ts'
import { AdmissionQueue, TurnLoad } from './admission-queue.ts'
import { documentOfKind, evm, solana } from './agents/documents.ts'
import { llmsText } from './agents/llms-text.ts'
import { operationPage, operationPagePath } from './agents/operation-page.ts'
import { atOrigin, originOf } from './agents/served-origin.ts'
import { type Answer, AnswerCache, documentHeaders, type Handler, jsonAnswer, textAnswer } from './answer.ts'
import { UnsentAnswers } from './answer-memory.ts'
import type { AppDependencies, Context } from './context.ts'
import type { FailureSchema } from './document/error-examples.ts'
import { Listeners } from './evm/changes/listeners.ts'
import { HeadAges } from './evm/head-ages.ts'
import { nothingAt, notServed } from './hosted/not-served.ts'
import { hostedOperations, isServed } from './hosted/operations.ts'
import { MediaLinks } from './media/media-links.ts'
import { mediaHandler } from './media/media-route.ts'
import { wholeDocument } from './openapi.ts'
import type { DocumentOptions } from './openapi-parts.ts'
import { methodNotAllowed } from './problem.ts'
import { ApiRequest, type ApiVersion, apiVersions, faultOf, pathOf, targetOf, versionPath } from './request.ts'
import { type Endpoint, preflight, Responder } from './responder.ts'
import { Router, segmentsOf } from './router.ts'
import { routes } from './routes.ts'
import { consoleHandlers, docsHandlers, docsSections, missingDocsPage } from './static-files.ts'
import { OpenStreams } from './streams/open-streams.ts'

export type App = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** What a path leads to. */
type PathEndpoint = Endpoint & { version: ApiVersion; names: readonly string[] }

export function createApp(dependencies: AppDependencies): App {
  const context = contextOf(dependencies)
  const responder = new Responder(context)
  const router = routerOf(context)
  return (incoming, outgoing) => {
    const values: string[] = []
    const fault = faultOf(incoming, context.settings.headerBytesMax)
    if (fault !== undefined) outgoing.shouldKeepAlive = false
    const target = fault === undefined ? targetOf(incoming) : undefined
    const endpoint =
      target === undefined
        ? refusing('unknown', fault ?? invalidTarget)
        : endpointOf(router, incoming.method!, target, values)
    const request = new ApiRequest(incoming, target ?? '', endpoint, values)
    const answer = responder.answer(request, endpoint)
    const exchange = { context, outgoing, request, route: endpoint.label }
    if (answer instanceof Promise) {
      outgoing.once('close', () => request.leave(clientLeft))
      answer.then(
        made => send(exchange, made),
        error => abandon(exchange, error),
      )
    } else send(exchange, answer)
  }
}

// Made once: every answer ends with its connection closed, or with this.
const clientLeft = new AlmanacError('interrupted', 'The client went away')

type Exchange = { context: Context; outgoing: ServerResponse; request: ApiRequest; route: string }

function send(exchange: Exchange, answer: Answer): void {
  try {
    sendAnswer(exchange.outgoing, answer, exchange.context.unsent)
  } catch (error) {
    answer.stream?.destroy()
    abandon(exchange, error)
  }
}

/** The client sees its connection closed. */
function abandon({ context, outgoing, request, route }: Exchange, error: unknown): void {
  outgoing.destroy()
  context.log.error({ err: error, request_id: request.requestId, route }, 'Answer could not be sent')
}

/** For clients that do not take their answers. Those who ask meanwhile are refused with 503. */
const unsentBytesMax = 64 * 1024 * 1024

const indexModesMs = 1_000

function contextOf(dependencies: AppDependencies): Context {
  const { settings, metrics, store, replica } = dependencies
  const queue = new AdmissionQueue({
    concurrencyMax: settings.concurrencyMax,
    queueMax: settings.queueMax,
    timeoutMs: settings.requestTimeoutMs,
    onShed: () => metrics.http.shed.inc(),
  })
  const revision = readOncePerTurn(() => store.revision() + (replica?.revision() ?? 0))
  const contracts = new ShownContracts(store, revision)
  const bounds = dependencies.holdingsBounds
  const admission = new HoldingsAdmission({
    bytesMax: bounds?.bytesMax ?? settings.holdingsBytesMax,
    metrics: metrics.holdings,
    whileWaiting: wait => queue.withoutSlot(wait),
  })
  const claims = new Claims(store, revision, dependencies.chains)
  const shared = { claims, contracts, admission }
  const holdings = new Holdings(store, { ...shared, ...bounds })
  const tokenUris = new TokenUris(store, dependencies.freshen, {
    wait: waiting => queue.withoutSlot(waiting),
    web: dependencies.web,
  })
  const cursors = new CursorSigner(store.secret)
  const tokenCalls = new TokenCalls(store, wait => queue.withoutSlot(wait))
  const tokenFacts = new TokenFacts(contracts, tokenCalls)
  const touched = new TouchedTokens({ indexes: store.indexes, claims, admission })
  const streams = holdings.streams(tokenUris)
  const listeners = new Listeners(() => store.revision())
  dependencies.stopping?.addEventListener('abort', () => listeners.close())
  return {
    ...dependencies,
    labels: new KnownLabels(store, revision, { log: dependencies.log }),
    ...{
      claims,
      contracts,
      holdings,
      tokenUris,
      tokenCalls,
      tokenFacts,
      walletTokens: new WalletTokens({ touched, calls: tokenCalls, facts: tokenFacts }),
      tokenOwners: new TokenOwners({ holdings, streams, calls: tokenCalls, store }),
      holdingStreams: streams,
      holdingsAdmission: admission,
    },
    served: () => servedOperations(dependencies),
    indexModes: keptFor(indexModesMs, async () => {
      const { chains } = await dependencies.status()
      return Object.fromEntries(
        Object.entries(chains).map(([name, { index, erc20 }]) => [name, { nft: index, erc20: erc20?.index }]),
      )
    }),
    cursors,
    mediaLinks: new MediaLinks(store.secret),
    listeners,
    heads: new HeadAges({ ...dependencies, revision, cursors }),
    freshen: freshenWithoutSlot(dependencies.freshen, queue),
    cache: new AnswerCache(settings.answerCacheBytes),
    revision,
    queue,
    turnLoad: new TurnLoad(settings.overloadRequestsMax),
    unsent: new UnsentAnswers(unsentBytesMax),
    streams: new OpenStreams({
      max: settings.streamsMax,
      metrics: metrics.streams,
      rowsPerBatch: dependencies.rowsPerBatch,
      rate: dependencies.readerRate,
    }),
  }
}

/** A request that waits for an indexer or a node does no work, so it takes no slot. */
function freshenWithoutSlot(freshen: Freshen | undefined, queue: AdmissionQueue): Freshen | undefined {
  if (freshen === undefined) return undefined
  const { asked, tokenUris, ...waitedFor } = freshen
  type Ask = (...asked: unknown[]) => Promise<unknown>
  const free = Object.entries(waitedFor as Record<string, Ask>).map(([name, ask]) => {
    const withoutSlot: Ask = (...asked) => queue.withoutSlot(() => ask(...asked))
    return [name, withoutSlot]
  })
  return { ...freshen, ...(Object.fromEntries(free) as Freshen) }
}

/** Requests of one turn of the event loop share a reading: one for each took a tenth of a kept answer's time. */
function readOncePerTurn<Value>(read: () => Value): () => Value {
  let known: { value: Value } | undefined
  const forget = (): void => {
    known = undefined
  }
  return () => {
    if (known === undefined) {
      known = { value: read() }
      setImmediate(forget)
    }
    return known.value
  }
}

/** The operations that clients call, under the ids of the OpenAPI document. To make it takes some 50 ms. */
function servedOperations(dependencies: AppDependencies): ReturnType<Context['served']> {
  const options = documentOptions(dependencies)
  return routes.flatMap(({ path, document, crossOrigin }) => {
    if (crossOrigin !== true) return []
    return [{ id: (typeof document === 'function' ? document(options, 'v2') : document).id, path }]
  })
}

function documentOptions({ chains, settings, version, sandboxKey }: AppDependencies): DocumentOptions {
  return { chains, pageSizeMax: settings.pageSizeMax, version, sandboxKey }
}

/** Documents that need no key, by path. */
function documentHandlers(options: DocumentOptions, docs: Context['docs']): [path: string, Handler][] {
  const json = (document: object) => jsonAnswer(document, { headers: documentHeaders })
  const list = once(async () => llmsText(options) + (await docsSections(docs)))
  const documents = {
    evm: once(() => documentOfKind(evm, options)),
    solana: once(() => documentOfKind(solana, options)),
  }
  const pages = hostedOperations
    .filter(operation => isServed(operation, routes))
    .map(({ id, isSolana }): [string, Handler] => {
      const [kind, document] = isSolana ? [solana, documents.solana] : [evm, documents.evm]
      const page = once(() => operationPage(document(), kind, id)!)
      return [operationPagePath(id, isSolana), request => textHere('text/markdown', page(), request)]
    })
  return [
    ['/openapi.json', onceAsked(() => json(wholeDocument(options)))],
    [evm.documentPath, onceAsked(() => json(documents.evm()))],
    [solana.documentPath, onceAsked(() => json(documents.solana()))],
    ['/llms.txt', async request => textHere('text/plain', await list(), request)],
    ...pages,
  ]
}

/** A text that names this service, by the address that its reader asked. */
function textHere(type: string, text: string, request: ApiRequest): Answer {
  return textAnswer(`${type}; charset=utf-8`, atOrigin(text, originOf(request)), documentHeaders)
}

/** A document takes some 50 ms to make, which no start should wait for. */
function onceAsked(make: () => Answer | Promise<Answer>): Handler {
  return once(make)
}

function routerOf(context: Context): Router<PathEndpoint> {
  const router = new Router<PathEndpoint>()
  const add = (method: string, path: string, handler: Handler, facts: Partial<PathEndpoint> = {}): void => {
    const names = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name!)
    const { version = 'v2', failureSchema, crossOrigin = false } = facts
    const label = facts.label ?? path.replace(/{(\w+)}/g, ':$1')
    router.add(method, path, { label, version, names, handler, failureSchema, crossOrigin })
  }
  for (const { method = 'GET', path, versions, answer, failureSchema, crossOrigin = false } of routes) {
    const handler = answer(context)
    const facts = { failureSchema, crossOrigin }
    if (versions === undefined) add(method, path, handler, facts)
    else for (const version of versions) add(method, versionPath(version, path), handler, { version, ...facts })
  }
  for (const operation of hostedOperations) {
    if (isServed(operation, routes)) continue
    const { method, path, isSolana } = operation
    const failureSchema = isSolana ? ('SolanaFailure' as const) : undefined
    const facts = { failureSchema, crossOrigin: true, label: 'not_served' }
    const paths = isSolana ? [path] : apiVersions.map(version => versionPath(version, path))
    for (const each of paths) add(method, each, notServed(operation), facts)
  }
  add('GET', '/media/{chain}/{address}/{token_id}', mediaHandler(context), { label: '/media' })
  for (const [path, handler] of documentHandlers(documentOptions(context), context.docs)) add('GET', path, handler)
  for (const [path, handler] of consoleHandlers(context.console)) add('GET', path, handler)
  for (const [path, handler] of docsHandlers(context.docs)) add('GET', path, handler, { label: '/docs' })
  return router
}

function endpointOf(router: Router<PathEndpoint>, method: string, target: string, values: string[]): PathEndpoint {
  const segments = segmentsOf(pathOf(target))
  const found = router.find(method === 'HEAD' ? 'GET' : method, segments, values)
  if (found !== undefined) return found
  const methods = router.methodsAt(segments)
  // What is at no path has nothing to hide, and a page may learn that.
  const crossOrigin =
    methods.length === 0 || methods.some(each => router.find(each, segments, [])?.crossOrigin === true)
  if (method === 'OPTIONS')
    return { ...withoutPath, label: 'preflight', handler: () => preflight(methods, crossOrigin), crossOrigin }
  const failureSchema = failureSchemaNear(segments)
  if (methods.length > 0)
    return { ...refusing('method', methodNotAllowed(method, methods), failureSchema), crossOrigin }
  const nothing = refusing('unknown', nothingAt(target), failureSchema)
  if (segments[0] !== 'docs') return nothing
  const page = router.find('GET', ['docs', '404.html'], [])?.handler
  return { ...nothing, handler: async request => (await missingDocsPage(page, request)) ?? nothing.handler(request) }
}

/** A client of one operation that errs in the path reads the error as those of that operation. */
function failureSchemaNear(segments: readonly string[]): FailureSchema | undefined {
  return routes.find(({ path }) => segmentsOf(path)[0] === segments[0])?.failureSchema
}

const withoutPath = { version: 'v2', names: [], failureSchema: undefined, crossOrigin: true } as const

const invalidTarget = new AlmanacError('bad_request', 'The request target or the Host header is not valid')

function refusing(label: string, error: AlmanacError, failureSchema?: FailureSchema): PathEndpoint {
  return {
    ...withoutPath,
    label,
    failureSchema,
    handler: () => {
      throw error
    },
  }
}

/** Lent memory is released once the response closes: it was sent, the client went away, or sending failed. */
export function sendAnswer(
  outgoing: ServerResponse,
  { status, headers, body, stream, send: sendBody, release }: Answer,
  unsent: UnsentAnswers,
): void {
  if (outgoing.destroyed) {
    stream?.destroy()
    release?.()
    return
  }
  if (release !== undefined) outgoing.once('close', release)
  if (stream !== undefined) {
    outgoing.writeHead(status, headers).flushHeaders()
    pipeline(stream, outgoing, () => undefined)
  } else if (sendBody !== undefined) {
    outgoing.writeHead(status, headers)
    void sendBody(outgoing)
  } else if (body === null || outgoing.req.method === 'HEAD') {
    outgoing.writeHead(status, headers).end()
  } else {
    const hasLength = headers['Content-Length'] !== undefined
    outgoing.writeHead(status, hasLength ? headers : { ...headers, 'Content-Length': `${body.length}` })
    outgoing.end(body)
    // Most of the time the system has taken it all.
    if (outgoing.writableLength > 0) unsent.add(outgoing, body)
  }
}
