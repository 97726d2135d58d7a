// What one chain tells of its indexing: state, reasons, coverage. It reads and decides nothing.
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals, shownCoverage, wholeCoverage } from '../../coverage.ts'
import { type HeadAge, headAge, usualBlockTime } from '../../head-age.ts'
import { type Block, chainScopes } from '../../model.ts'
import { withHint } from '../../rpc/failures.ts'
import type { ChainStatus, QueueStatus } from '../../status.ts'
import type { StoreRoom } from '../../store/room.ts'
import type { Store } from '../../store/store.ts'
import { isIndexed, type KeptView, usualViews, wholeScopeOf } from '../../views.ts'
import { earlyCollectionsVersion } from '../decode/token-events.ts'
import { lowestFloor, outOfReach } from '../rpc/history-floors.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import { disputeHint, disputeText, type Finality } from '../source/finality.ts'
import { FullSource } from '../source/full-source.ts'
import { WatchedSource } from '../source/watched-source.ts'
import { reasonOf } from './backfill.ts'
import type { BackfillControl } from './backfill-control.ts'
import type { ChainStats } from './chain-stats.ts'
import type { FollowedHead } from './follow.ts'
import type { RetentionDays } from './retention.ts'

export type StatusOptions = {
  setup: {
    chain: Chain
    index: 'full' | 'on-demand'
    views?: readonly KeptView[] | undefined
    from: number
    pollMs: number
    retention?: RetentionDays | undefined
  }
  store: Store
  room: StoreRoom
  rpc: RpcPort
  bulk: BulkSources
  source: FullSource | WatchedSource
  finality: Finality
  follower: FollowedHead
  stats: ChainStats
  control: BackfillControl
}

/** What the loops of the indexer know of themselves. */
export type IndexingState = {
  /** The head was reached, and was never far since: a reorg or a node that lags for a moment does not end it. */
  caughtUp: boolean
  historyDone: boolean
  lastContactMs: number
  /** Since the first head; 0 while none is known. */
  followingSeconds: number
  contractsUnderWay: number
  queue: QueueStatus | undefined
  /** Contracts whose oldest blocks no endpoint has. */
  outOfReach: number
  walletFailure: string | undefined
}

export async function chainStatus(options: StatusOptions, indexing: IndexingState) {
  const { setup, store, room, rpc, bulk, source, finality, follower, stats, control } = options
  const { chain, from, index } = setup
  const covered = await store.coverage(chain.id, chainScopes)
  const head = follower.latest?.number ?? (await store.chainState(chain.id))?.head.number ?? -1
  const whole = wholeCoverage(covered, wholeScopeOf(setup.views))
  const missing = missingIntervals(whole, { from, to: head })
  // Until the head is known, nothing is known to be complete.
  const isHeldBack = control.isHeld && !indexing.historyDone
  const nothingLeft = index === 'full' ? missing.length === 0 : indexing.contractsUnderWay === 0 && !isHeldBack
  const complete = nothingLeft && head >= from
  const storeFull = room.full
  const blocksLeft = stats.blocksLeft ?? (index === 'full' ? blockCount(missing) : 0)
  // Nothing tells when blocks come that no source has.
  const isTimeKnown = blocksLeft > 0 ? storeFull === undefined : stats.blocksLacking === 0
  const { dispute } = finality
  const backfill: Pick<ChainStatus, 'backfill'> = { backfill: control.status() }
  const stalledBy = storeFull ?? stats.failures.stalledBy ?? whyUnheard(options)
  const disputed = dispute && `${disputeText(chain.name, dispute)} Try: ${disputeHint(chain.name)}`
  const isLacking = indexing.outOfReach > 0 && lowestFloor(rpc.status()) > from
  const reason = stalledBy ?? disputed ?? (isLacking ? reasonOf(outOfReach(chain.name, rpc.status())) : undefined)
  const doubt = source instanceof FullSource ? source.doubt : undefined
  return {
    state:
      storeFull === undefined
        ? stateOf({ stalledBy, disputed: dispute !== undefined, isFarBehind: isFarBehind(options, indexing) }, indexing)
        : 'store_full',
    ...(reason === undefined ? {} : { reason }),
    ...(dispute === undefined ? {} : { dispute }),
    ...(doubt === undefined ? {} : { evidence_reason: doubt }),
    ...(source.newFields.length === 0 ? {} : { new_header_fields: source.newFields }),
    ...(indexing.walletFailure === undefined ? {} : { wallet_trouble: indexing.walletFailure }),
    head,
    finalized: follower.finalized,
    lag_seconds: lagSeconds(options, indexing),
    following_seconds: Math.floor(indexing.followingSeconds),
    ...shownHeadAge(options, indexing),
    covered: shownCoverage(covered),
    ...(source instanceof WatchedSource ? { contracts: source.watched.size } : {}),
    ...(indexing.queue === undefined ? {} : { queue: indexing.queue, ...shownRetention(setup.retention) }),
    complete,
    eta_seconds: isTimeKnown ? control.secondsFor(blocksLeft) : null,
    rates: stats.pace.rates() ?? null,
    blocks_left: blocksLeft + stats.blocksLacking,
    ...backfill,
    index,
    ...(await shownViews(setup, store)),
    from,
    early_collections: earlyCollectionsVersion,
    ...(bulk.all.length === 0 ? {} : { sources: bulk.status() }),
    rpc: rpc.status(),
  } as const
}

/** The newest block of an archive is as old as it is. */
function shownHeadAge(
  { setup: { chain }, rpc, follower: { latest: head, hot } }: StatusOptions,
  { followingSeconds }: IndexingState,
): HeadAge {
  if (rpc.endpoints.length === 0) return { head_age_seconds: null, head_old: false }
  return headAge(chain, { head, blockTimeSeconds: usualBlockTime(chain, hot), followingSeconds })
}

/** A chain that is indexed on demand keeps what was asked for. */
export async function shownViews(
  { chain, index, views }: Pick<StatusOptions['setup'], 'chain' | 'index' | 'views'>,
  store: Store,
) {
  const { indexes } = await store.indexes.rowState(chain.id)
  const isKept = (view: KeptView): boolean => !isIndexed(view) || indexes.some(state => state.index === view)
  const filling = indexes.flatMap(({ index: view, progress }) =>
    progress === undefined ? [] : [{ view, ...progress }],
  )
  return {
    ...(index === 'full' ? { views: views ?? usualViews.filter(isKept) } : {}),
    ...(filling.length === 0 ? {} : { views_filling: filling }),
  }
}

function shownRetention(days: RetentionDays | undefined) {
  return days && { retention: { contract_days: days.contractDays, wallet_days: days.walletDays } }
}

/** A chain this far behind its node is not called live, though it was a moment ago. */
const liveLagSecondsMax = 60
/** On a chain with slow blocks each new one is minutes ahead of the last. */
const liveBlocksMax = 2

export function isFarBehind(
  options: Pick<StatusOptions, 'follower' | 'setup'>,
  indexing: Pick<IndexingState, 'lastContactMs'>,
): boolean {
  if (lagSeconds(options, indexing) <= liveLagSecondsMax) return false
  const { latest, tip } = options.follower
  const isSilent = Date.now() - indexing.lastContactMs > liveLagSecondsMax * 1_000
  return isSilent || (latest !== undefined && tip !== undefined && latest.number - tip.number > liveBlocksMax)
}

type Holds = { stalledBy: string | undefined; disputed: boolean; isFarBehind: boolean }

function stateOf(
  { stalledBy, disputed, isFarBehind }: Holds,
  { caughtUp, historyDone }: IndexingState,
): ChainStatus['state'] {
  if (stalledBy !== undefined) return 'stalled'
  if (disputed) return 'disputed'
  return caughtUp && historyDone && !isFarBehind ? 'live' : 'backfilling'
}

/** Until the first head is known: what every endpoint failed with. A question is given up after several tries. */
export function whyUnheard({ follower, rpc }: StatusOptions): string | undefined {
  if (follower.latest !== undefined) return undefined
  const reasons = rpc.status().map(({ reason }) => reason)
  return reasons.length === 0 || reasons.includes(undefined) ? undefined : withHint(reasons.join('; '))
}

export function lagSeconds(
  { follower, setup }: Pick<StatusOptions, 'follower' | 'setup'>,
  { lastContactMs }: Pick<IndexingState, 'lastContactMs'>,
): number {
  const { latest, tip } = follower
  const silentSeconds = (Date.now() - lastContactMs - 3 * setup.pollMs) / 1_000
  const behind = latest === undefined || tip === undefined ? 0 : secondsBetween(tip, latest)
  return Math.max(0, Math.round(behind), Math.round(silentSeconds))
}

/**
 * Since the first block that is missing was made: where a chain paused before it, the pause is not lag. Its time
 * is not known yet, and is taken as if blocks came evenly.
 */
function secondsBetween(tip: Block, latest: Block): number {
  const missing = latest.number - tip.number
  return missing < 1 ? 0 : (latest.timestamp - tip.timestamp) * (1 - 1 / missing)
}
