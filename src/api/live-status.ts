// The state of the service as the live feed tells it: the report of the indexers, cut to a size that can be sent every second.
// Types and pure functions.
import type { CoveredInterval, Evidence } from '../model.ts'
import type { ChainStatus, SolanaStatus, StatusReport } from '../status-report.ts'
import type { StoreInfo } from '../store/store.ts'

/** More stretches than this are sent as the longest ones; the counts of blocks stay exact. */
const intervalsMax = 200
const contractsMax = 100

type BlocksByEvidence = Partial<Record<Evidence, number>>

export type LiveCoverage = {
  intervals: CoveredInterval[]
  intervals_total: number
  /** Blocks for each kind of evidence, of all intervals. */
  blocks: BlocksByEvidence
}

export type LiveChain = Omit<ChainStatus, 'covered'> & {
  /** What is covered for every contract: in full, or, where contracts are read one by one, for those that are watched. */
  coverage: LiveCoverage
  /** Contracts that are covered on their own, those with the newest blocks first. */
  contracts: { total: number; shown: (LiveCoverage & { contract: string })[] }
}

export type LiveStatus = {
  /** Unix milliseconds. */
  at: number
  version: string
  store: { engine: string; location: string; schema_version: number; size_bytes: number }
  chains: Record<string, LiveChain>
  solana: Record<string, SolanaStatus>
}

export type LiveFacts = { report: StatusReport; store: StoreInfo; version: string; atMs: number }

export function liveStatus({ report, store, version, atMs }: LiveFacts): LiveStatus {
  return {
    at: atMs,
    version,
    store: shownStore(store),
    chains: Object.fromEntries(Object.entries(report.chains).map(([name, chain]) => [name, liveChain(chain)])),
    solana: { ...report.solana },
  }
}

export function shownStore({ engine, location, schemaVersion, sizeBytes }: StoreInfo): LiveStatus['store'] {
  return { engine, location, schema_version: schemaVersion, size_bytes: sizeBytes }
}

function liveChain({ covered, ...chain }: ChainStatus): LiveChain {
  const byScope = Map.groupBy(covered, ({ scope }) => scope)
  const full = byScope.get('full') ?? byScope.get('watched') ?? []
  const contracts = [...byScope].filter(([scope]) => scope !== 'full' && scope !== 'watched')
  const newest = (intervals: readonly CoveredInterval[]) => Math.max(...intervals.map(({ to }) => to))
  const shown = contracts
    .sort(([, a], [, b]) => newest(b) - newest(a))
    .slice(0, contractsMax)
    .map(([contract, intervals]) => ({ contract, ...liveCoverage(intervals) }))
  return { ...chain, coverage: liveCoverage(full), contracts: { total: contracts.length, shown } }
}

function liveCoverage(covered: readonly CoveredInterval[]): LiveCoverage {
  const blocks: BlocksByEvidence = {}
  for (const { from, to, evidence } of covered) blocks[evidence] = (blocks[evidence] ?? 0) + to - from + 1
  const longest =
    covered.length <= intervalsMax
      ? [...covered]
      : [...covered].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, intervalsMax)
  const intervals = longest.map(({ from, to, evidence }) => ({ from, to, evidence })).sort((a, b) => a.from - b.from)
  return { intervals, intervals_total: covered.length, blocks }
}
