// What the app is made of. The CLI constructs all of it.
import type { ChainTable } from '../chains.ts'
import type { Gatekeeper } from '../keys/gatekeeper.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Address, Hash } from '../model.ts'
import type { NodeAnswer } from '../query/explain.ts'
import type { Freshen } from '../query/freshen.ts'
import type { DisplayAmount } from '../query/portfolio.ts'
import type { StatusReport } from '../status-report.ts'
import type { ReadReplica, Store } from '../store/store.ts'
import type { LiveFeed } from './live-feed.ts'
import type { ApiSettings } from './settings.ts'
import type { StaticFiles } from './static-files.ts'

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
