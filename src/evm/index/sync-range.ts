// Fills one range of one chain and returns: the history job without a head to follow. It follows nothing and knows no terminal.
import type { Chain } from '../../chains.ts'
import { blockCount, missingIntervals } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Address, Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { ChainSource, Header } from '../source/chain-source.ts'
import { finalHeaderOf } from '../source/chain-source.ts'
import { FullSource } from '../source/full-source.ts'
import { historySizes, RangeSize } from '../source/range-size.ts'
import { WatchedSource } from '../source/watched-source.ts'
import { type BackfillOptions, type BackfillProgress, fill, historyPace } from './backfill.ts'
import { survivingBlock } from './follow.ts'

export type SyncOptions = {
  chain: Chain
  rpc: RpcPort
  store: Store
  interval: Interval
  /** Everything, or these contracts. */
  scope: 'full' | readonly Address[]
  /** How long nothing may succeed before the run is given up. */
  patienceMs: number
  /** Called once, before the first fetch: blocks to read, one for each contract and block where contracts are read. */
  onPlanned?: (blocks: { wanted: number; missing: number }) => void
  onProgress?: (progress: BackfillProgress) => void
}

/** Returns when the range is complete or the signal says stop; what is committed by then stays. */
export async function syncRange(options: SyncOptions, signal: AbortSignal): Promise<void> {
  const { chain, rpc, store, interval, scope } = options
  const source = scope === 'full' ? new FullSource(chain, rpc) : new WatchedSource(chain, rpc)
  await settle(options, source, signal)
  const jobs = await jobsOf(options, source)
  const missing = jobs.reduce((sum, job) => sum + blockCount(job.missing), 0)
  options.onPlanned?.({ wanted: jobs.length * blockCount([interval]), missing })
  const patience = new Patience(options.patienceMs, `${chain.name} blocks ${interval.from} to ${interval.to}`)
  const stopped = AbortSignal.any([signal, patience.signal])
  for (const job of jobs) {
    const size = job.scope === 'full' ? historySizes.full : historySizes.contract
    const rangeSize = new RangeSize(size)
    const onFailure = (reason: string | undefined) => patience.note(reason)
    const onProgress = options.onProgress ?? (() => {})
    const { scope: covered, fetchRange } = job
    await fill(
      job.missing,
      {
        ...historyPace,
        parallel: size.parallel,
        chain: chain.id,
        store,
        scope: covered,
        fetchRange,
        rangeSize,
        onProgress,
        onFailure,
      },
      stopped,
    )
    if (signal.aborted) return
    patience.signal.throwIfAborted()
  }
}

type Job = Pick<BackfillOptions, 'scope' | 'fetchRange'> & { missing: Interval[] }

async function jobsOf(
  { chain, store, interval, scope }: SyncOptions,
  source: FullSource | WatchedSource,
): Promise<Job[]> {
  if (source instanceof FullSource) {
    const missing = missingIntervals(await store.coverage(chain.id, 'full'), interval)
    return [{ scope: 'full', missing, fetchRange: (piece, signal) => source.range(piece, 'range', signal) }]
  }
  const jobs: Job[] = []
  for (const contract of scope === 'full' ? [] : scope) {
    const missing = missingIntervals(await store.contractCoverage(chain.id, contract), interval)
    const fetchRange: Job['fetchRange'] = (piece, signal) => source.contractRange(contract, piece, signal)
    jobs.push({ scope: contract, missing, fetchRange })
  }
  return jobs
}

/**
 * Refuses what is not final, and brings blocks that were hot when the service stopped to where they belong: they become cold if the
 * chain still has them, and go if it does not. Otherwise a final commit above them would carry a lost branch along.
 */
async function settle(
  { chain, store, interval }: SyncOptions,
  source: ChainSource,
  signal: AbortSignal,
): Promise<void> {
  const report = await source.head(signal)
  const final = await finalHeaderOf(report, chain, source, signal)
  requireFinal(chain, interval, final, report.latest)
  const hot = await store.hotBlocks(chain.id)
  const [lowest] = hot
  if (lowest !== undefined && lowest.number <= interval.to) {
    const survivor = await survivingBlock(hot, source, signal)
    if (survivor !== hot.at(-1)) {
      const ancestor = survivor?.number ?? lowest.number - 1
      await store.commitHot({ chain: chain.id, ancestor, blocks: [], head: report.latest })
    }
    await store.finalize(chain.id, interval.to)
  }
  await store.putHead(chain.id, report.latest)
}

function requireFinal(chain: Chain, { to }: Interval, final: Header | undefined, latest: Header): void {
  if (final !== undefined && to <= final.number) return
  const where = final === undefined ? 'it has no final block yet' : `its final block is ${final.number}`
  throw new AlmanacError(
    'bad_request',
    `Block ${to} of ${chain.name} is not final: ${where}, its head ${latest.number}.`,
    {
      hint:
        final === undefined
          ? 'wait until the chain is longer, or set its finality in the configuration.'
          : `give --to ${final.number} or less; what is above is followed by almanac start.`,
    },
  )
}

/** Ends a run in which nothing succeeds any more, so that a command does not wait for ever as a service does. */
class Patience {
  readonly #stop = new AbortController()
  readonly #patienceMs: number
  readonly #what: string
  #troubleSinceMs: number | undefined

  constructor(patienceMs: number, what: string) {
    this.#patienceMs = patienceMs
    this.#what = what
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  note(reason: string | undefined): void {
    if (reason === undefined) {
      this.#troubleSinceMs = undefined
      return
    }
    this.#troubleSinceMs ??= performance.now()
    if (performance.now() - this.#troubleSinceMs < this.#patienceMs) return
    this.#stop.abort(
      new AlmanacError('upstream_failed', `${this.#what}: nothing was answered for ${this.#patienceMs / 1_000} s.`, {
        cause: reason,
        retryable: true,
        hint: 'check the endpoints, then run the same command again: it continues where it stopped.',
      }),
    )
  }
}
