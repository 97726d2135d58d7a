// Fills one range of one chain and returns: the backfill without a head to follow. It knows no terminal.
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Address, CoveredInterval, Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'
import { lowestFloor, outOfReach } from '../rpc/history-floors.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { ChainSource, Header } from '../source/chain-source.ts'
import type { Decoder } from '../source/decode-pool.ts'
import { finalHeaderOf } from '../source/finality.ts'
import { FullSource } from '../source/full-source.ts'
import { historySizes, RangeSize } from '../source/range-size.ts'
import { WatchedSource } from '../source/watched-source.ts'
import { dropLostRanges, headersToWalk, linkedClaims } from './anchors.ts'
import { type BackfillOptions, fill, historyPace } from './backfill.ts'
import type { BackfillProgress } from './commit-batch.ts'
import { wholeBlocks } from './missing-blocks.ts'

export type SyncOptions = {
  chain: Chain
  rpc: RpcPort
  store: Store
  interval: Interval
  /** The whole chain, or these contracts. */
  scope: WholeScope | readonly Address[]
  /** The sender of one transaction in this many is recovered; absent or 0: of none. */
  senderSample?: number | undefined
  /** Absent: this thread decodes. */
  decoder?: Decoder | undefined
  /** How long everything may fail before the run gives up. */
  patienceMs: number
  /** Whether claimed blocks below the range must be of the same chain. */
  checksBelow?: boolean
  /**
   * Called once before the first fetch. Contracts count each block once per contract. `headers` connect whole blocks to
   * the final block or to what is claimed above them.
   */
  onPlanned?: (blocks: { wanted: number; missing: number; headers: number }) => void
  onHeaders?: (headers: number) => void
  onProgress?: (progress: BackfillProgress) => void
}

/** Returns when the range is complete or the signal says stop; what was committed stays. */
export async function syncRange(options: SyncOptions, signal: AbortSignal): Promise<void> {
  const { chain, rpc, store, interval, scope } = options
  const { senderSample, decoder } = options
  const source =
    typeof scope === 'string'
      ? new FullSource(chain, rpc, decoder, { senderSample, scope })
      : new WatchedSource(chain, rpc, decoder)
  const final = await settle(options, source, signal)
  await dropLostRanges(options, signal)
  const jobs = await jobsOf(options, source)
  const missing = jobs.reduce((sum, job) => sum + blockCount(job.missing), 0)
  let headers = 0
  for (const { missing, covered } of jobs)
    if (covered !== undefined) headers += await headersToWalk(missing, { ...options, covered, final })
  options.onPlanned?.({ wanted: jobs.length * blockCount([interval]), missing, headers })
  const watchdog = startWatchdog(options.patienceMs, `${chain.name} blocks ${interval.from} to ${interval.to}`)
  const stopped = AbortSignal.any([signal, watchdog.signal])
  for (const { missing, covered, ...job } of jobs) {
    const size = source instanceof FullSource ? historySizes.full : historySizes.contract
    const links =
      source instanceof FullSource && covered !== undefined
        ? { links: await linkedClaims(missing, { ...options, covered, final, source }, stopped) }
        : {}
    const fixed = { ...historyPace, ...job, ...links, chain: chain.id, store, parallel: size.parallel }
    const onProgress = options.onProgress ?? (() => {})
    const hooks = { onProgress, onFailure: watchdog.note }
    const lowest = (): number => rpc.historyFrom
    await fill(missing, { ...fixed, ...hooks, lowest, rangeSize: new RangeSize(size) }, stopped)
    if (signal.aborted) return
    watchdog.signal.throwIfAborted()
    const floor = lowestFloor(rpc.status())
    if (missing.some(({ from }) => from < floor)) throw outOfReach(chain.name, rpc.status())
  }
}

type Job = Pick<BackfillOptions, 'scope' | 'fetchRange' | 'stored'> & {
  missing: Interval[]
  /** Of whole blocks, which are connected to what is claimed. */
  covered?: CoveredInterval[]
}

async function jobsOf(
  { chain, store, interval, scope }: SyncOptions,
  source: FullSource | WatchedSource,
): Promise<Job[]> {
  const jobs: Job[] = []
  if (source instanceof FullSource) {
    const fetchRange: Job['fetchRange'] = (piece, signal, lastHash) => source.range(piece, 'range', signal, lastHash)
    const blocks = await wholeBlocks(store, { chain: chain.id, scope: source.scope, wanted: interval })
    return [{ ...blocks, scope: source.scope, fetchRange }]
  }
  for (const contract of typeof scope === 'string' ? [] : scope) {
    const missing = missingIntervals(await store.contractCoverage(chain.id, contract), interval)
    const fetchRange: Job['fetchRange'] = (piece, signal) => source.contractRange(contract, piece, signal)
    jobs.push({ scope: contract, missing, fetchRange })
  }
  return jobs
}

/**
 * Refuses a range that is not final, and drops blocks that were hot when the service stopped, if they reach into it: a
 * final commit above them would keep a lost branch, and whether the chain still has them would be the word of one
 * endpoint. Returns the final block.
 */
async function settle(
  { chain, rpc, store, interval }: SyncOptions,
  source: ChainSource,
  signal: AbortSignal,
): Promise<Header> {
  const report = await source.head(signal)
  const final = await finalHeaderOf(report, { chain, rpc }, signal)
  if (final === undefined || interval.to > final.number) throw notFinal(chain, interval, final, report.latest)
  const hot = await store.hotBlocks(chain.id)
  const [lowest] = hot
  if (lowest !== undefined && lowest.number <= interval.to) {
    await store.commitHot({ chain: chain.id, ancestor: lowest.number - 1, blocks: [], head: report.latest })
    await store.putChainState(chain.id, { finalized: interval.to })
  }
  await store.putChainState(chain.id, { head: report.latest })
  return final
}

function notFinal(chain: Chain, { to }: Interval, final: Header | undefined, latest: Header): AlmanacError {
  const where = final === undefined ? 'the chain has no final block yet' : `the final block is ${final.number}`
  const message = `Block ${to} of ${chain.name} is not final: ${where}, the head is ${latest.number}.`
  const hint =
    final === undefined
      ? 'wait until the chain is longer, or set its finality in the configuration.'
      : `give --to ${final.number} or less; almanac start follows the blocks above.`
  return new AlmanacError('bad_request', message, { hint })
}

/** Ends a run in which nothing succeeds any more: a command does not wait for ever as a service does. */
function startWatchdog(patienceMs: number, what: string) {
  const stop = new AbortController()
  let failingSinceMs: number | undefined
  const note = (reason: string | undefined): void => {
    failingSinceMs = reason === undefined ? undefined : (failingSinceMs ?? performance.now())
    if (failingSinceMs === undefined || performance.now() - failingSinceMs < patienceMs) return
    const hint = 'check the endpoints, then run the same command again: it continues where it stopped.'
    const message = `${what}: no answer for ${patienceMs / 1_000} s.`
    stop.abort(new AlmanacError('upstream_failed', message, { cause: reason, retryable: true, hint }))
  }
  return { signal: stop.signal, note }
}
