// What the operations on indexed data have in common: the key, the kept answer, the bounded work. No rule of one of them here.

import type { ChainTable } from '../chains.ts'
import { type Config, settingsSchema } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import type { Admission, Gatekeeper, Scope } from '../keys/gatekeeper.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Address, Hash, StatusReport } from '../model.ts'
import type { NodeAnswer } from '../query/explain.ts'
import type { Freshen } from '../query/freshen.ts'
import type { DisplayAmount } from '../query/portfolio.ts'
import type { ReadReplica, Store } from '../store/store.ts'
import type { Answer } from './answer.ts'
import { type AnswerCache, deliver, type ReadyAnswer } from './answer-cache.ts'
import type { Exchange } from './exchange.ts'
import type { LiveFeed } from './live-feed.ts'
import type { StaticFiles } from './static-files.ts'
import type { WorkGate } from './work-gate.ts'

export type Workplace = AppDependencies & {
  cache: AnswerCache
  gate: WorkGate
  /** The store's, asked once for the requests that arrived together. */
  revision: () => number
  /** Why the service is not ready, as it was last asked for. */
  readiness?: { askedMs: number; reason: Promise<string | undefined> }
}

export type Operation = {
  scope: Scope
  /** Everything besides the URL that the answer depends on. Undefined: it is never kept. */
  cacheKey?: (exchange: Exchange) => string
  work: (exchange: Exchange, admission: Admission) => Promise<{ ready: ReadyAnswer; keep: boolean }>
}

/** Answers at once, without a promise, when the key is known and the answer is kept. */
export function perform(place: Workplace, exchange: Exchange, operation: Operation): Answer | Promise<Answer> {
  const admission = place.gatekeeper.admit(exchange.header('x-api-key'), operation.scope)
  return admission instanceof Promise
    ? admission.then(admitted => performAdmitted(place, exchange, operation, admitted))
    : performAdmitted(place, exchange, operation, admission)
}

function performAdmitted(
  place: Workplace,
  exchange: Exchange,
  operation: Operation,
  admission: Admission,
): Answer | Promise<Answer> {
  exchange.rateLimit = admission.rateLimit
  const key = operation.cacheKey && `${operation.cacheKey(exchange)} ${exchange.target}`
  const revision = place.revision()
  const kept = key === undefined ? undefined : place.cache.get(key, revision)
  return kept === undefined ? place.gate.run(() => work()) : deliver(kept, exchange)

  async function work(): Promise<Answer> {
    const { ready, keep } = await operation.work(exchange, admission)
    const length = ready.plain.body!.length
    if (length > place.settings.answerBytesMax) {
      const { answerBytesMax } = place.settings
      // Asking again would end the same, so this is no 503.
      throw new AlmanacError(
        'answer_too_large',
        `The answer has ${length} bytes, and at most ${answerBytesMax} are sent: lower limit, or have the operator raise limits.answerBytesMax`,
        { details: { answerBytes: length, answerBytesMax } },
      )
    }
    const sent = key !== undefined && keep ? place.cache.offer(key, revision, ready) : ready
    return await deliver(sent, exchange)
  }
}

// What the app is made of. The CLI constructs all of it.

export type AppDependencies = {
  store: Store
  chains: ChainTable
  settings: ApiSettings
  gatekeeper: Gatekeeper
  log: Log
  metrics: Metrics
  /** What other threads count, in the text format of Prometheus; names differ from those of `metrics`. */
  threadMetrics?: (() => Promise<string>) | undefined
  version: string
  /** What the indexers say of themselves. */
  status: () => Promise<StatusReport>
  /** What `/events` tells; absent where nobody is told. */
  live?: LiveFeed | undefined
  /** The files of the console, by path; absent where it was not built. */
  console?: StaticFiles | undefined
  /** Asks a node for a transaction, for explanations; absent where none is configured. */
  askTransaction?:
    | ((asked: { chain: string; contract: Address; hash: Hash }, signal: AbortSignal) => Promise<NodeAnswer>)
    | undefined
  /** A copy of the store that first pages and wallets may be read from. */
  replica?: ReadReplica | undefined
  /** Absent where nothing indexes. */
  freshen?: Freshen | undefined
  /** How amounts of interest-bearing and scaled mints are shown; absent: as raw / 10^decimals, like all others. */
  displayAmount?: DisplayAmount | undefined
}

// What an operator can set about the HTTP side. The table of settings has the defaults and says what each means.

export type ApiSettings = Config['limits'] & {
  /** Unset: each request decides. */
  dialect?: Config['dialect']
  /** `/status`, `/metrics` and `/events` answer without a key. */
  opsOpen: boolean
  /** `*` or exact origins. */
  corsOrigins: readonly string[]
}

export function apiSettingsOf({ limits, dialect, ops_open: opsOpen, cors }: Config): ApiSettings {
  return { ...limits, dialect, opsOpen, corsOrigins: cors.origins }
}

export const defaultApiSettings: ApiSettings = apiSettingsOf(settingsSchema.parse({}))

// How long a client is ready to wait for data that is not indexed yet: `Prefer: wait=n` (RFC 7240), within the server's own bound.

/** The answer has to leave before the request times out. */
const marginMs = 1_000

export function patienceMs(exchange: Exchange, settings: ApiSettings): number {
  const asked = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(exchange.header('prefer') ?? '')?.[1]
  const wishMs = asked === undefined ? settings.freshenWaitMs : Number(asked) * 1_000
  return Math.min(wishMs, Math.max(0, settings.requestTimeoutMs - marginMs))
}
