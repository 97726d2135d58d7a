// The routes for operators: health, readiness, status, metrics and the contracts of a chain.
import type { ErrorCode } from '../errors.ts'
import { jsonAnswer, textAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { shownStore } from './live-feed.ts'
import {
  type DocumentOptions,
  inPath,
  inQuery,
  type Json,
  jsonSuccess,
  operation,
  textSuccess,
} from './openapi-parts.ts'
import { contractListParameters, readParameter } from './params.ts'
import { codeOf } from './problem.ts'
import type { ApiRequest } from './request.ts'
import type { Handler } from './responder.ts'

const operatorErrors: ErrorCode[] = ['unauthorized', 'forbidden', 'internal']

/** Returns the admitted secret; undefined where none is needed. */
export async function admitOperator(
  { settings, gatekeeper }: Context,
  request: ApiRequest,
): Promise<string | undefined> {
  if (settings.opsOpen) return undefined
  const secret = request.header('x-api-key') ?? bearerOf(request.header('authorization'))
  await gatekeeper.admit(secret, 'ops')
  return secret
}

/** How Prometheus sends its credentials. */
function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

export function answerHealth(): Handler {
  return () => jsonAnswer({ status: 'ok' })
}

export function healthDocument(): Json {
  return operation({
    id: 'getHealth',
    summary: 'The process runs',
    answers: { 200: jsonSuccess('Health', 'The process runs.', { ok: { status: 'ok' } }) },
    open: true,
  })
}

const readinessMs = 1_000

/** Ready: the store answers and no followed chain lags more than allowed. Otherwise a sentence says why not. */
export function answerReady(context: Context): Handler {
  let known: { askedMs: number; reason: Promise<string | undefined> } | undefined
  return async () => {
    // The route needs no key, so the reason is worked out at most once a second.
    if (known === undefined || performance.now() - known.askedMs >= readinessMs) {
      known = { askedMs: performance.now(), reason: reasonNotReady(context) }
    }
    const reason = await known.reason
    if (reason === undefined) return jsonAnswer({ status: 'ready' })
    return jsonAnswer({ status: 'not ready', reason }, { status: 503 })
  }
}

async function reasonNotReady({ store, status, settings, log }: Context): Promise<string | undefined> {
  try {
    await store.info()
  } catch (error) {
    log.warn({ err: error }, 'Store does not answer')
    return `The store does not answer (${codeOf(error)}).`
  }
  const report = await status()
  const lagging = [...Object.entries(report.chains), ...Object.entries(report.solana)].filter(
    ([, { lag_seconds }]) => lag_seconds > settings.lagMaxSeconds,
  )
  if (lagging.length === 0) return undefined
  const lags = lagging.map(([name, { lag_seconds }]) => `${name} is ${Math.round(lag_seconds)} s behind`)
  return `${lags.join(', ')}; at most ${settings.lagMaxSeconds} s are allowed.`
}

export function readyDocument(): Json {
  const reason = 'polygon is 412 s behind; at most 300 s are allowed.'
  return operation({
    id: 'getReadiness',
    summary: 'The store answers and no chain lags too far',
    answers: {
      200: jsonSuccess('Readiness', 'Ready to serve.', { ready: { status: 'ready' } }),
      503: jsonSuccess('Readiness', 'Not ready, with the reason.', { lagging: { status: 'not ready', reason } }),
    },
    open: true,
  })
}

export function answerStatus(context: Context): Handler {
  return async request => {
    await admitOperator(context, request)
    const [report, store] = await Promise.all([context.status(), context.store.info()])
    return jsonAnswer({ ...report, store: shownStore(store), version: context.version })
  }
}

export function statusDocument(): Json {
  const store = { engine: 'sqlite', location: 'file:./almanac.db', schema_version: 1, size_bytes: 4096 }
  const empty = { chains: {}, solana: {}, store, version: '0.1.0' }
  return operation({
    id: 'getStatus',
    summary: 'What is indexed and how far; needs the scope `ops` unless the operator opened it',
    answers: { 200: jsonSuccess('Status', 'The state of chains, store and version.', { empty }) },
    errors: operatorErrors,
  })
}

export function answerMetrics(context: Context): Handler {
  const { registry, http } = context.metrics
  return async request => {
    await admitOperator(context, request)
    http.inFlight.set(context.queue.running)
    const body = (await registry.metrics()) + ((await context.threadMetrics?.()) ?? '')
    return textAnswer(registry.contentType, body)
  }
}

export function metricsDocument(): Json {
  const examples = { inFlight: { value: 'almanac_http_requests_in_flight 0\n' } }
  return operation({
    id: 'getMetrics',
    summary: 'Metrics for Prometheus; needs the scope `ops` unless the operator opened it',
    answers: { 200: textSuccess('text/plain', 'The text format of Prometheus.', examples) },
    errors: operatorErrors,
  })
}

/** Contracts that transfers are stored for. `after` in the answer asks for the next ones; null on the last page. */
export function answerContracts(context: Context): Handler {
  const { store } = context
  const parameters = contractListParameters(context.chains)
  return async request => {
    await admitOperator(context, request)
    const query = new URLSearchParams(request.query)
    const chain = readParameter(parameters.chain, request.pathParameter('chain'))
    const given = query.get('after')
    const after = given === null ? undefined : readParameter(parameters.after, given)
    const limit = readParameter(parameters.limit, query.get('limit') ?? '20')
    // One more than requested shows whether there are more.
    const found = await store.contractsOf(chain.id, after, limit + 1)
    const contracts = await Promise.all(
      found.slice(0, limit).map(async address => {
        const [transfers, facts] = await Promise.all([
          store.transferCount({ chain: chain.id, contract: address }),
          store.contractFacts(chain.id, address),
        ])
        return { address, transfers, name: facts?.name ?? null, symbol: facts?.symbol ?? null }
      }),
    )
    return jsonAnswer({
      chain: chain.name,
      contracts,
      after: found.length > limit ? contracts.at(-1)!.address : null,
    })
  }
}

export function contractsDocument({ chains }: DocumentOptions): Json {
  const { chain, after, limit } = contractListParameters(chains)
  const address = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'
  const contract = { address, transfers: 191_204, name: 'BoredApeYachtClub', symbol: 'BAYC' }
  const one = { chain: 'eth', contracts: [contract], after: null }
  return operation({
    id: 'listContracts',
    summary: 'Contracts of a chain with stored transfers; needs the scope `ops` unless the operator opened it',
    parameters: [inPath(chain), inQuery(after), inQuery(limit)],
    answers: { 200: jsonSuccess('ContractList', 'Contracts in the order of their addresses.', { one }) },
    errors: ['bad_request', ...operatorErrors],
  })
}
