// One part of a chain's history, from one source, and what it takes: time within the limits of the configuration and of
// the machine, and disk. It reads and asks nothing of the chain.
import { availableParallelism } from 'node:os'
import type { ChainSettings } from '../../config/settings.ts'
import { dayMs, parseHours } from '../../daily-hours.ts'
import type { Ledger } from '../../ledgers.ts'
import type { Address, Interval } from '../../model.ts'
import { isIndexed, type KeptView } from '../../views.ts'
import { type EngineCosts, fromFiles, jsonBytesOf, sendersPerSecond } from './measured-costs.ts'
import type { BulkEstimate } from './sample-bulk.ts'
import type { CostEstimate } from './sample-cost.ts'

export type SourceKind = 'nodes' | 'files' | 'portal'

export type Work = {
  chain: string
  contract: Address | undefined
  /** Of whole blocks; absent: `nft`. */
  ledger?: Ledger | undefined
  /** Whether a node says that the address of the contract has no code. */
  isCodeless?: boolean | undefined
  source: SourceKind
  /** As people see it; undefined for nodes. */
  sourceName: string | undefined
  /** Lowest first. */
  intervals: readonly Interval[]
  /** What is kept of whole blocks. */
  views: readonly KeptView[]
  estimate: CostEstimate
  /** The pass in which senders are recovered, where the source needs one. */
  senders: Senders | undefined
  limitedBy: Limit
  diskBytes: number
  /** Of these, what the activity of wallets takes. */
  activityBytes: number
}

export type Senders = { transactions: number; bytes: number; seconds: number }

export type Limit =
  | 'endpoints'
  | 'portal'
  | 'requests_per_second'
  | 'daily_budget'
  | 'backfill.blocks_per_second'
  | 'backfill.hours'
  /** What this machine indexes in a second. */
  | 'machine'

type Planned = Pick<Work, 'chain' | 'contract' | 'isCodeless' | 'intervals' | 'views'>
type Bounds = { settings: ChainSettings; costs: EngineCosts }

export function nodesWork(planned: Planned, sampled: CostEstimate, { settings, costs }: Bounds): Work {
  const { requestsPerSecond, dailyBudget, index } = settings
  const isFull = index === 'full'
  const { seconds, limitedBy } = longest(settings, [
    ['endpoints', sampled.seconds],
    ['requests_per_second', requestsPerSecond === undefined ? 0 : sampled.calls / requestsPerSecond],
    ['daily_budget', dailyBudget === undefined ? 0 : (sampled.calls / dailyBudget) * 86_400],
    ['backfill.blocks_per_second', isFull ? blocksSeconds(sampled, settings) : 0],
    ['machine', isFull ? sampled.bytes / costs.jsonPerSecond : 0],
  ])
  const source = { source: 'nodes', sourceName: undefined, senders: undefined } as const
  return { ...planned, ...source, limitedBy, ...stored({ ...sampled, seconds }, planned, costs) }
}

/** `source`: files or a portal. */
export function bulkWork(
  planned: Planned,
  sampled: BulkEstimate,
  { source, settings, costs }: Bounds & { source: { kind: 'files' | 'portal'; name: string } },
): Work {
  const { bytes, transactions } = sampled
  const machine = jsonBytesOf(sampled) / costs.jsonPerSecond / (source.kind === 'files' ? fromFiles.speed : 1)
  const times = (recovering: number): [Limit, number][] => [
    ['portal', sampled.seconds],
    ['backfill.blocks_per_second', blocksSeconds(sampled, settings)],
    ['machine', machine + recovering],
  ]
  const { seconds, limitedBy } = longest(settings, times(0))
  // Everything is read again.
  const recovering = transactions / (sendersPerSecond * availableParallelism())
  const senders = planned.views.includes('activity')
    ? { transactions, bytes, seconds: longest(settings, times(recovering)).seconds }
    : undefined
  return {
    ...{ ...planned, source: source.kind, sourceName: source.name, senders, limitedBy },
    ...stored({ ...sampled, seconds }, planned, costs),
  }
}

function blocksSeconds({ blocks }: CostEstimate, { backfill: { blocksPerSecond } }: ChainSettings): number {
  return blocksPerSecond === undefined ? 0 : blocks / blocksPerSecond
}

/** The configuration may allow less than the source could give, and the machine may take less. */
function longest(
  { backfill }: ChainSettings,
  times: readonly [Limit, number][],
): { limitedBy: Limit; seconds: number } {
  const [limitedBy, seconds] = times.reduce((longest, next) => (next[1] > longest[1] ? next : longest))
  const hours = backfill.hours === undefined ? undefined : parseHours(backfill.hours)
  if (hours === undefined) return { limitedBy, seconds }
  return { limitedBy: 'backfill.hours', seconds: seconds * (dayMs / hours.lengthMs) }
}

function stored(
  estimate: CostEstimate,
  { views }: Planned,
  costs: EngineCosts,
): Pick<Work, 'estimate' | 'diskBytes' | 'activityBytes'> {
  const { transfers, addresses, transferBlocks } = estimate
  const indexes = views.filter(isIndexed).reduce((sum, view) => sum + costs.indexes[view], 0)
  const activityBytes = addresses * costs.address
  const diskBytes = transfers * (costs.transfer + indexes) + activityBytes + transferBlocks * costs.block
  return { estimate, diskBytes, activityBytes }
}
