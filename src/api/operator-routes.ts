// The routes for operators: health, readiness, status, metrics and the contracts of a chain.
import { within } from '../abort.ts'
import { shownName } from '../annotate/shown-facts.ts'
import type { ChainTable } from '../chains.ts'
import { AlmanacError, type ErrorCode } from '../errors.ts'
import type { StoreInfo } from '../store/store.ts'
import { jsonAnswer, textAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { shownStore } from './live-feed.ts'
import { inPath, inQuery, jsonSuccess, textSuccess } from './openapi-parts.ts'
import {
  addressParameter,
  chainParameter,
  exampleContract,
  type Parameter,
  readParameter,
  wholeParameter,
} from './params.ts'
import { codeOf } from './problem.ts'
import type { ApiRequest } from './request.ts'
import type { RouteParts } from './responder.ts'

const operatorErrors: ErrorCode[] = ['unauthorized', 'forbidden', 'internal']

/** Returns the admitted secret; undefined where none is needed. */
export async function admitOperator(context: Context, request: ApiRequest): Promise<string | undefined> {
  return context.settings.opsOpen ? undefined : await requireOperator(context, request)
}

/** For what asks nodes: `ops_open` does not open it. */
export async function requireOperator({ gatekeeper }: Context, request: ApiRequest): Promise<string | undefined> {
  const secret = secretOf(request)
  const { rateLimit } = await gatekeeper.admit(secret, 'ops')
  request.rateLimit = rateLimit
  return secret
}

export function secretOf(request: ApiRequest): string | undefined {
  return request.header('x-api-key') ?? bearerOf(request.header('authorization'))
}

/** How Prometheus sends its credentials. */
function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

export const health: RouteParts = {
  answer: () => () => jsonAnswer({ status: 'ok' }),
  document: {
    id: 'getHealth',
    summary: 'The process runs',
    answers: { 200: jsonSuccess('Health', 'The process runs.') },
    open: true,
  },
}

const readinessMs = 1_000

/** Ready: the store answers and no followed chain lags more than allowed. Otherwise a sentence says why not. */
export const readiness: RouteParts = {
  answer: context => {
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
  },
  document: {
    id: 'getReadiness',
    summary: 'The store answers and no chain lags too far',
    answers: {
      200: jsonSuccess('Readiness', 'Ready to serve.', {}, 'ready'),
      503: jsonSuccess('Readiness', 'Not ready, with the reason.', {}, 'lagging'),
    },
    open: true,
  },
}

async function reasonNotReady(context: Context): Promise<string | undefined> {
  const { status, settings, log } = context
  // Both at once: together they may take as long as each.
  const reported = status()
  reported.catch(() => {})
  try {
    await storeInfo(context)
  } catch (error) {
    log.warn({ err: error }, 'Store does not answer')
    return `The store does not answer (${codeOf(error)}).`
  }
  const report = await reported
  if (report.indexer?.answers === false) return 'The indexer does not answer.'
  const lagging = [...Object.entries(report.chains), ...Object.entries(report.solana)].filter(
    ([, { lag_seconds }]) => lag_seconds > settings.lagMaxSeconds,
  )
  if (lagging.length === 0) return undefined
  const lags = lagging.map(([name, { lag_seconds }]) => `${name} is ${Math.round(lag_seconds)} s behind`)
  return `${lags.join(', ')}; at most ${settings.lagMaxSeconds} s are allowed.`
}

/** Of two seconds; the status has its own bound. */
const storeMsMax = 1_500

function storeInfo({ store }: Context): Promise<StoreInfo> {
  const late = () => new AlmanacError('timeout', 'The store does not answer.', { retryable: true })
  return within(storeMsMax, store.info(), late)
}

export const status: RouteParts = {
  answer: context => async request => {
    await admitOperator(context, request)
    const [report, store] = await Promise.all([context.status(), storeInfo(context)])
    return jsonAnswer({ ...report, store: shownStore(store), version: context.version })
  },
  document: {
    id: 'getStatus',
    summary: 'What is indexed and how far; needs the scope `ops` unless the operator opened it',
    answers: { 200: jsonSuccess('Status', 'The state of chains, store and version.') },
    errors: operatorErrors,
  },
}

export const metrics: RouteParts = {
  answer: context => async request => {
    await admitOperator(context, request)
    const { registry, http } = context.metrics
    http.inFlight.set(context.queue.running)
    http.unsentBytes.set(context.unsent.bytes)
    return textAnswer(registry.contentType, (await registry.metrics()) + ((await context.threadMetrics?.()) ?? ''))
  },
  document: {
    id: 'getMetrics',
    summary: 'Metrics for Prometheus; needs the scope `ops` unless the operator opened it',
    answers: {
      200: textSuccess('text/plain', 'The text format of Prometheus.', 'almanac_http_requests_in_flight 0\n'),
    },
    errors: operatorErrors,
  },
}

const contractListMax = 100

function contractListParameters(table: ChainTable) {
  const { refusal: _, ...after } = addressParameter('Lists the contracts after this one.', exampleContract)
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id.'),
    after: { ...after, name: 'after' },
    limit: wholeParameter('limit', {
      ...{ min: 1, max: contractListMax, default: 20, example: 20 },
      description: `How many to list, at most ${contractListMax}.`,
    }),
  } satisfies Record<string, Parameter<unknown>>
}

/** Contracts that transfers are stored for. `after` in the answer asks for the next ones; null on the last page. */
export const contracts: RouteParts = {
  answer: context => {
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
      const shown = found.slice(0, limit).map(async address => {
        const [transfers, facts] = await Promise.all([
          store.transferCount({ chain: chain.id, contract: address }),
          store.contractFacts(chain.id, address),
        ])
        return { address, transfers, name: shownName(facts?.name) ?? null, symbol: shownName(facts?.symbol) ?? null }
      })
      const next = found.length > limit ? found[limit - 1] : null
      return jsonAnswer({ chain: chain.name, contracts: await Promise.all(shown), after: next })
    }
  },
  document: ({ chains }) => {
    const { chain, after, limit } = contractListParameters(chains)
    return {
      id: 'listContracts',
      summary: 'Contracts of a chain with stored transfers; needs the scope `ops` unless the operator opened it',
      parameters: [inPath(chain), inQuery(after), inQuery(limit)],
      answers: {
        200: jsonSuccess('ContractList', 'Contracts in the order of their addresses.'),
      },
      errors: ['bad_request', ...operatorErrors],
    }
  },
}
