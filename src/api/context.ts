// What the routes work with. The CLI constructs the dependencies; the app adds what it shares between requests.
import type { ChainTable } from '../chains.ts'
import { type Config, settingsSchema } from '../config/settings.ts'
import type { Gatekeeper } from '../keys/gatekeeper.ts'
import type { Ledger } from '../ledgers.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Claims } from '../query/claims.ts'
import type { CursorSigner } from '../query/cursor.ts'
import type { TokenCalls } from '../query/erc20/token-calls.ts'
import type { TokenFacts } from '../query/erc20/token-facts.ts'
import type { TokenOwners } from '../query/erc20/token-owners.ts'
import type { WalletTokens } from '../query/erc20/wallet-tokens.ts'
import type { AskTransaction } from '../query/explain.ts'
import type { Freshen } from '../query/freshen.ts'
import type { HoldingsBounds } from '../query/holdings/holdings.ts'
import type { HoldingsAdmission } from '../query/holdings/holdings-admission.ts'
import type { HoldingsQueries } from '../query/holdings/questions.ts'
import type { HoldingStreams } from '../query/holdings/streams/holding-streams.ts'
import type { KnownLabels } from '../query/known-labels.ts'
import type { TokenUris } from '../query/metadata/token-uris.ts'
import type { WebFacts } from '../query/metadata/web-facts.ts'
import type { DisplayAmount } from '../query/portfolio.ts'
import type { ShownContracts } from '../query/shown-contracts.ts'
import type { ChainStatus, StatusReport } from '../status.ts'
import type { ReadReplica, Store } from '../store/store.ts'
import type { AdmissionQueue, TurnLoad } from './admission-queue.ts'
import type { AnswerCache } from './answer.ts'
import type { UnsentAnswers } from './answer-memory.ts'
import type { Listeners } from './evm/changes/listeners.ts'
import type { HeadAges } from './evm/head-ages.ts'
import type { WebhookSettings } from './evm/webhooks/delivery.ts'
import type { LiveFeed } from './live-feed.ts'
import type { MediaLinks } from './media/media-links.ts'
import type { RequestMeter } from './request-figures.ts'
import type { LazyStaticFiles, StaticFiles } from './static-files.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import type { MinimumRate } from './streams/reader-rate.ts'

export type Context = AppDependencies & {
  cache: AnswerCache
  queue: AdmissionQueue
  turnLoad: TurnLoad
  unsent: UnsentAnswers
  streams: OpenStreams
  listeners: Listeners
  /** Labels in memory, of which all operations share one copy. */
  labels: KnownLabels
  claims: Claims
  contracts: ShownContracts
  holdings: HoldingsQueries
  holdingStreams: HoldingStreams
  holdingsAdmission: HoldingsAdmission
  cursors: CursorSigner
  mediaLinks: MediaLinks
  heads: HeadAges
  /** The operations of clients, by the ids of the OpenAPI document. */
  served: () => readonly { id: string; path: string }[]
  tokenUris: TokenUris
  tokenCalls: TokenCalls
  tokenFacts: TokenFacts
  tokenOwners: TokenOwners
  walletTokens: WalletTokens
  /** Whether ledgers of chains are indexed in full or on demand, by name, as reported within the last second. */
  indexModes: () => Promise<Readonly<Record<string, Record<Ledger, ChainStatus['index']>>>>
  /** Of the store, read once for all requests that arrive in one turn of the event loop. */
  revision: () => number
}

export type AppDependencies = {
  store: Store
  chains: ChainTable
  /** Chains that other processes on the store index, by name. Absent: there are none. */
  reportedChains?: (() => Promise<readonly string[]>) | undefined
  /** `head_age_max_seconds` of a chain, where the operator has set it. */
  headAgeMaxOf?: ((chain: string) => number | undefined) | undefined
  settings: ApiSettings
  gatekeeper: Gatekeeper
  /** The key of `ALMANAC_KEY`, which cannot be revoked over HTTP. */
  operatorKeyId?: string | undefined
  /** The public key of a sandbox, for its documents. Absent: the service is not a sandbox. */
  sandboxKey?: string | undefined
  log: Log
  metrics: Metrics
  /** What other threads count, in the text format of Prometheus. Names differ from those of `metrics`. */
  threadMetrics?: (() => Promise<string>) | undefined
  version: string
  /** What the indexers report. */
  status: () => Promise<StatusReport>
  /** Counts what is answered, for `/events`. */
  meter?: RequestMeter | undefined
  /** The source of `/events`. Absent: live events are disabled. */
  live?: LiveFeed | undefined
  /** The files of the console, by path. Absent: it was not built. */
  console?: StaticFiles | undefined
  /** The pages of the documentation, by path. Absent: it was not built. */
  docs?: LazyStaticFiles | undefined
  /** Asks a node for a transaction. Absent: no node is configured. */
  askTransaction?: AskTransaction | undefined
  /** A copy of the store that first pages and wallets may be read from. */
  replica?: ReadReplica | undefined
  /** Memory for lists and counts of who owns what. Absent: the usual. */
  holdingsBounds?: HoldingsBounds | undefined
  /** Fires as the service stops: who waits for changes would keep it. */
  stopping?: AbortSignal | undefined
  /** Absent: nothing indexes. */
  freshen?: Freshen | undefined
  /** Absent: nothing is fetched from the web. */
  web?: WebFacts | undefined
  /** Of whole lists. */
  rowsPerBatch?: number | undefined
  /** How fast whole lists have to be read. Absent: the usual. */
  readerRate?: MinimumRate | undefined
  /** Shows amounts of interest-bearing and scaled mints. Absent: as raw / 10^decimals, like all others. */
  displayAmount?: DisplayAmount | undefined
}

/** What an operator can set about HTTP. The table of settings has the defaults and the meanings. */
export type ApiSettings = Config['limits'] & {
  /** Absent: each request decides. */
  dialect?: Config['dialect']
  /** `/status`, `/metrics`, `/events` and `/chains/{chain}/contracts` answer without a key. */
  opsOpen: boolean
  /** `*` or exact origins. */
  corsOrigins: readonly string[]
  /** Where webhooks may send, and how many a key may have. */
  webhooks: WebhookSettings
}

export function apiSettingsOf({ limits, dialect, opsOpen, cors, webhooks }: Config, isSandbox = false): ApiSettings {
  return { ...limits, dialect, opsOpen, corsOrigins: cors.origins, webhooks: { ...webhooks, loopback: isSandbox } }
}

export const defaultApiSettings: ApiSettings = apiSettingsOf(settingsSchema.parse({}))
