// The routes for operators: health, readiness, status and metrics.
import { z } from 'zod'
import { shownCoverage } from '../coverage.ts'
import type { ErrorCode } from '../errors.ts'
import { asOfText } from '../head-age.ts'
import { shownLimits, usualLimits } from '../keys/keys.ts'
import { keptFor } from '../once.ts'
import { judge } from '../query/findings.ts'
import { findProblems, type Problem, stopsServing, storeInfo } from '../query/problems.ts'
import { measureRuns } from '../query/run-metrics.ts'
import type { ChainStatus, StatusReport } from '../status.ts'
import { storeIdOf } from '../store/store.ts'
import { jsonAnswer, textAnswer } from './answer.ts'
import { lentBytes } from './answer-memory.ts'
import type { Context } from './context.ts'
import { shownStore } from './live-feed.ts'
import { inQuery, jsonSuccess, textSuccess } from './openapi-parts.ts'
import { type Parameter, readParameter } from './params.ts'
import type { ApiRequest } from './request.ts'
import type { RouteParts } from './responder.ts'

export const operatorErrors: ErrorCode[] = ['unauthorized', 'forbidden', 'internal']

/** Returns the admitted secret; undefined where none is needed. */
export async function admitOperator(context: Context, request: ApiRequest): Promise<string | undefined> {
  return context.settings.opsOpen ? undefined : await requireOperator(context, request)
}

/** For what asks nodes, or says what clients asked about: `ops_open` does not open it. */
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
  answer: ({ store, sandboxKey: sandbox_key }) => {
    const store_id = storeIdOf(store)
    return () => jsonAnswer({ status: 'ok', store_id, sandbox_key })
  },
  document: {
    id: 'getHealth',
    summary: 'Health check',
    description:
      'Whether the process runs: 200 while it does, whatever its store and its nodes do. Use it for liveness probes; `/ready` says whether requests can be served.',
    answers: { 200: jsonSuccess('Health', 'The process runs.') },
    open: true,
  },
}

const readinessMs = 1_000

/** The route needs no key, so problems are looked for at most once a second. */
function problemFinder(context: Context): () => Promise<Problem[]> {
  return keptFor(readinessMs, () => problemsNow(context, context.status))
}

type Service = Pick<Context, 'store' | 'chains' | 'settings'>

function problemsNow({ store, chains, settings }: Service, status: Context['status']): Promise<Problem[]> {
  return findProblems({ store, status, chains, lagMaxSeconds: settings.lagMaxSeconds })
}

/** Ready: the store answers and is the one that was opened, whole. What is wrong besides is named. */
export const readiness: RouteParts = {
  answer: context => {
    const find = problemFinder(context)
    return async () => {
      const problems = await find()
      const reason = problems.find(stopsServing)?.reason
      if (reason !== undefined) return jsonAnswer({ status: 'not ready', reason, problems }, { status: 503 })
      return jsonAnswer(problems.length === 0 ? { status: 'ready' } : { status: 'ready', problems })
    }
  },
  document: {
    id: 'getReadiness',
    summary: 'Readiness check',
    description:
      'Whether requests can be served, and what is wrong: 503 while the store cannot be used. Use it for readiness probes and load balancers. Problems that do not stop answers are named with 200.',
    answers: {
      200: jsonSuccess('Readiness', 'Ready to serve. `problems` names what does not stop it.', {}, 'ready'),
      503: jsonSuccess('Readiness', 'The store does not answer, or is gone, replaced or damaged.', {}, 'notReady'),
    },
    open: true,
  },
}

const contractsParameter = {
  name: 'contracts',
  read: (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined),
  accepts: 'true or false',
  schema: z.enum(['true', 'false']),
  description: '`true`: `covered` also has the blocks of each contract that is followed on its own. They can be many.',
  example: 'false',
} satisfies Parameter<boolean>

async function withCoverage(context: Context, chains: StatusReport['chains']): Promise<StatusReport['chains']> {
  const entries = Object.entries(chains).map(
    async ([name, chain]) => [name, { ...chain, covered: await coverageOfChain(context, name) }] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

/** Of all scopes; the reports of indexers leave those of contracts out. */
export async function coverageOfChain(
  { store, chains }: Pick<Context, 'store' | 'chains'>,
  name: string,
  claimsMax?: number,
): Promise<ChainStatus['covered']> {
  const chain = chains.parse(name)
  return chain === undefined ? [] : shownCoverage(await store.coverage(chain.id, undefined, claimsMax))
}

const newKeyLimits = shownLimits(usualLimits)

/** What `/status` says of these reports. */
export async function shownStatus(service: Service & Pick<Context, 'version'>, report: StatusReport) {
  const [info, problems] = await Promise.all([storeInfo(service.store), problemsNow(service, async () => report)])
  const store = shownStore(info)
  return {
    ...report,
    ...{ chains: withAsOf(report.chains), store, new_key_limits: newKeyLimits, version: service.version },
    ...judge({ ...report, store, problems }),
  }
}

export const status: RouteParts = {
  answer: context => async request => {
    await admitOperator(context, request)
    const withContracts = readParameter(
      contractsParameter,
      new URLSearchParams(request.query).get('contracts') ?? 'false',
    )
    const report = await context.status()
    const chains = withContracts ? await withCoverage(context, report.chains) : report.chains
    return jsonAnswer(await shownStatus(context, { ...report, chains }))
  },
  document: {
    id: 'getStatus',
    summary: 'Status; needs the scope `ops` unless the operator opened it',
    description:
      'How far each chain and network is indexed, how its endpoints fare and which version runs. Use it for dashboards and scripts.',
    parameters: [inQuery(contractsParameter)],
    answers: { 200: jsonSuccess('Status', 'The state of chains, store and version.') },
    errors: ['bad_request', ...operatorErrors],
  },
}

/** A chain that is complete up to a block that is old says of which one. */
function withAsOf(chains: StatusReport['chains']): StatusReport['chains'] {
  const told = Object.entries(chains).map(([name, chain]) => {
    const asOf = asOfText(chain)
    return [name, asOf === undefined ? chain : { ...chain, as_of: asOf }] as const
  })
  return Object.fromEntries(told)
}

async function measureWebhooks({ status, metrics: { webhooks: shown } }: Context): Promise<void> {
  const { webhooks: told } = await status()
  for (const state of ['active', 'retrying', 'paused', 'stopped'] as const)
    shown.count.set({ state }, told?.[state] ?? 0)
  shown.lag.set(told?.lag_seconds ?? 0)
  shown.behind.reset()
  for (const { id, lag_seconds } of told?.behind ?? []) shown.behind.set({ webhook: id }, lag_seconds)
}

export const metrics: RouteParts = {
  answer: context => {
    const find = problemFinder(context)
    return async request => {
      await admitOperator(context, request)
      const { registry, http, holdings, problems } = context.metrics
      http.inFlight.set(context.queue.running)
      http.unsentBytes.set(context.unsent.bytes)
      http.lentBytes.set(lentBytes())
      const { bytesMax, figures } = context.holdingsAdmission
      const { heldBytes, makingBytes, working, waiting } = figures
      holdings.bytesMax.set(bytesMax)
      holdings.heldBytes.set(heldBytes)
      holdings.makingBytes.set(makingBytes)
      holdings.working.set(working)
      holdings.waiting.set(waiting)
      // Both at once: each may take most of the two seconds in which this answers.
      const [found, ofThreads = ''] = await Promise.all([
        find(),
        context.threadMetrics?.(),
        measureRuns(context),
        measureWebhooks(context),
      ])
      problems.reset()
      for (const { problem, chain = '' } of found) problems.set({ problem, chain }, 1)
      return textAnswer(registry.contentType, (await registry.metrics()) + ofThreads)
    }
  },
  document: {
    id: 'getMetrics',
    summary: 'Prometheus metrics; needs the scope `ops` unless the operator opened it',
    description: 'The figures of this process for Prometheus to scrape: requests, chains, store and nodes.',
    answers: {
      200: textSuccess('text/plain', 'The text format of Prometheus.', 'almanac_http_requests_in_flight 0\n'),
    },
    errors: operatorErrors,
  },
}
