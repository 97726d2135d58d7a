// The routes for operators: health, readiness, status and metrics. They answer about the service, never about the data.
import { AlmanacError } from '../errors.ts'
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { shownStore } from './live-feed.ts'
import type { Workplace } from './operation.ts'
import { contractListParameters, readParameter } from './params.ts'
import { codeOf } from './problem.ts'

const readinessMs = 1_000

const opsHeaders = { 'Cache-Control': 'no-store', ...safetyHeaders }

/** The process runs and takes requests. */
export function answerHealth(): Answer {
  return jsonAnswer({ status: 'ok' }, opsHeaders)
}

/** Fit to serve: the store answers and no followed chain is further behind than allowed. Otherwise a sentence why not. */
export async function answerReady(place: Workplace): Promise<Answer> {
  // The route is open: however often it is asked, the answer is worked out at most once a second.
  if (place.readiness === undefined || performance.now() - place.readiness.askedMs >= readinessMs) {
    place.readiness = { askedMs: performance.now(), reason: reasonNotReady(place) }
  }
  const reason = await place.readiness.reason
  if (reason === undefined) return jsonAnswer({ status: 'ready' }, opsHeaders)
  return { ...jsonAnswer({ status: 'not ready', reason }, opsHeaders), status: 503 }
}

async function reasonNotReady({ store, status, settings, log }: Workplace): Promise<string | undefined> {
  try {
    await store.info()
  } catch (error) {
    log.warn({ err: error }, 'The store does not answer')
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

export async function answerStatus(place: Workplace, exchange: Exchange): Promise<Answer> {
  await admitOperator(place, exchange)
  const [report, store] = await Promise.all([place.status(), place.store.info()])
  return jsonAnswer({ ...report, store: shownStore(store), version: place.version }, opsHeaders)
}

export async function answerMetrics(place: Workplace, exchange: Exchange): Promise<Answer> {
  await admitOperator(place, exchange)
  const { registry, http } = place.metrics
  http.inFlight.set(place.gate.running)
  return {
    status: 200,
    headers: { 'Content-Type': registry.contentType, ...opsHeaders },
    body: (await registry.metrics()) + ((await place.threadMetrics?.()) ?? ''),
  }
}

/** The secret that was let in; undefined where none is needed. */
export async function admitOperator(
  { settings, gatekeeper }: Workplace,
  exchange: Exchange,
): Promise<string | undefined> {
  if (settings.opsOpen) return undefined
  const secret = exchange.header('x-api-key') ?? bearerOf(exchange.header('authorization'))
  await gatekeeper.admit(secret, 'ops')
  return secret
}

/** Prometheus sends its credentials so. */
function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

export function unknownRoute(path: string): AlmanacError {
  return new AlmanacError('not_found', `There is nothing at ${path}; see /reference`)
}

// The route that lists the contracts of a chain that transfers are stored for, so that there is something to begin with.

/** `after` of the answer asks for the next ones; null where there are none. */
export async function answerContracts(place: Workplace, exchange: Exchange): Promise<Answer> {
  await admitOperator(place, exchange)
  const parameters = contractListParameters(place.chains)
  const query = new URLSearchParams(exchange.query)
  const chain = readParameter(parameters.chain, exchange.pathParameter('chain'))
  const given = query.get('after')
  const after = given === null ? undefined : readParameter(parameters.after, given)
  const limit = readParameter(parameters.limit, query.get('limit') ?? '20')
  const { store } = place
  // One more than asked for tells whether there are more.
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
  return jsonAnswer(
    { chain: chain.name, contracts, after: found.length > limit ? contracts.at(-1)!.address : null },
    { 'Cache-Control': 'no-store', ...safetyHeaders },
  )
}
