// What is counted and reported of one chain's indexing: metrics, rates, time left, and failures. It decides nothing.
import { type Log, LogThrottle } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { Dispute, EndpointStatus, SourceStatus } from '../../status.ts'
import type { BulkSource } from '../source/bulk-source.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import type { BackfillProgress } from './commit-batch.ts'
import { type FollowStep, shorterBranchPatienceMs } from './follow.ts'

const reorganisationsLoggedMs = 600_000

type Measured = {
  headAgeSeconds: number | null
  blockTimeSeconds: number
  lagSeconds: number
}

export type Part = 'head' | 'history' | 'indexes'

const newFieldsMax = 8

export type StallPace = {
  /** How long a part of the work may fail until the chain counts as stalled. */
  stalledAfterMs: number
  /** How long another branch may stay shorter than ours before it is believed anyway. */
  shorterBranchPatienceMs: number
}

type StatsOptions = { metrics: EvmMetrics; log: Log; pace?: StallPace }

export class ChainStats {
  readonly failures: FailureLog
  /** Of the history alone: it tells when that will be done, and merges and bursts of heavy blocks must not sway it. */
  readonly progress = new Progress(600_000)
  /** Of everything that is stored, at the head as well. */
  readonly pace = new Progress()
  /** Of the history that is being filled; undefined until it was looked at. */
  blocksLeft: number | undefined
  /** Missing blocks that no source has. */
  blocksLacking = 0
  readonly #chain: string
  readonly #metrics: EvmMetrics
  readonly #log: Log
  readonly #throttle = new LogThrottle(reorganisationsLoggedMs)
  #disputeAbout: string | undefined
  #strange: ReadonlySet<string> = new Set()
  readonly #newFields = new Set<string>()
  /** How many refusals of a source were counted. */
  readonly #refused = new WeakMap<object, number>()

  constructor(chain: string, { metrics, log, pace = usualStallPace }: StatsOptions) {
    this.failures = new FailureLog(pace)
    this.#chain = chain
    this.#metrics = metrics
    this.#log = log
  }

  measured({ headAgeSeconds, blockTimeSeconds, lagSeconds }: Measured): void {
    const chain = this.#chain
    if (headAgeSeconds !== null) this.#metrics.headAge.set({ chain }, headAgeSeconds)
    this.#metrics.blockTime.set({ chain }, blockTimeSeconds)
    this.#metrics.lag.set({ chain }, lagSeconds)
  }

  stepped(step: FollowStep, { head, lagSeconds }: { head: number; lagSeconds: number }): void {
    const chain = this.#chain
    if (step.kind === 'behind') {
      const lag = `${chain} endpoints lag: their newest block is ${step.head}, block ${step.stored} is stored.`
      this.failures.waited('head', lag)
    } else this.failures.succeeded('head')
    if (step.kind === 'advanced') {
      this.#metrics.blocks.inc({ chain, part: 'head' }, step.blocks)
      this.pace.add({ blocks: step.blocks, rows: 0, bytes: 0 })
    }
    if (step.kind === 'reorganised') {
      const { ancestor, depth } = step
      this.#metrics.reorganisations.inc({ chain })
      const message = 'Chain reorganised; switched to the new branch'
      const replaced = `${chain}: ${depth} ${depth === 1 ? 'block' : 'blocks'} replaced above ${ancestor}`
      this.#log.debug({ chain, ancestor, depth, told: `${replaced} (reorg)` }, message)
      // Some chains reorganise all the time, and only unusual depths are news.
      this.#throttle.say(`${Math.floor(Math.log2(depth + 1))}`, repeated =>
        this.#log.info(
          {
            ...{ chain, ancestor, depth, repeated },
            told: `${replaced} (reorg${repeated === 0 ? '' : `, and ${repeated} like it before`})`,
          },
          message,
        ),
      )
    }
    this.#metrics.head.set({ chain }, head)
    this.#metrics.lag.set({ chain }, lagSeconds)
  }

  /** Says once when a dispute begins, when its sides change, and when it ends. */
  disputed(dispute: Dispute | undefined): void {
    const chain = this.#chain
    const about = dispute?.hashes.map(({ endpoints }) => endpoints.join()).join('|')
    if (about === this.#disputeAbout) return
    this.#disputeAbout = about
    if (dispute === undefined) this.#log.info({ chain }, 'Finality agreed again')
    else
      this.#log.warn(
        { chain, block: dispute.block, hashes: dispute.hashes },
        'Finality disputed; nothing new is claimed',
      )
  }

  /** Says once which fields the hashes of new blocks have that the chain table does not know. */
  hashed(fields: readonly string[]): void {
    const names = fields.join()
    // A node that makes up blocks can make up names for ever.
    if (names === '' || this.#newFields.has(names) || this.#newFields.size >= newFieldsMax) return
    this.#newFields.add(names)
    this.#log.warn(
      { chain: this.#chain, fields },
      'Header has fields of an unknown fork; blocks are proven with them. Update Almanac when you can',
    )
  }

  /** Says once which endpoints serve another chain: where others serve this one, it goes on without them. */
  looked(endpoints: readonly EndpointStatus[]): void {
    const strange = endpoints.filter(({ wrong_chain }) => wrong_chain === true)
    for (const { endpoint, reason } of strange)
      if (!this.#strange.has(endpoint))
        this.#log.warn({ chain: this.#chain, endpoint, reason }, 'Endpoint serves another chain; it is not used')
    this.#strange = new Set(strange.map(({ endpoint }) => endpoint))
  }

  filled(progress: BackfillProgress): void {
    this.progress.add(progress)
    this.pace.add(progress)
    this.blocksLeft = Math.max(0, (this.blocksLeft ?? 0) - progress.blocks)
    this.#metrics.blocks.inc({ chain: this.#chain, part: 'history' }, progress.blocks)
    this.#count(progress.ranges)
  }

  /** What a bulk source gave of that. */
  gave({ kind }: Pick<SourceStatus, 'kind'>, blocks: number): void {
    this.#metrics.sourceBlocks.inc({ chain: this.#chain, source: kind }, blocks)
  }

  /** Counts what bulk sources got wrong since the last time. */
  refused(sources: readonly Pick<BulkSource, 'kind' | 'refusals'>[]): void {
    for (const source of sources) {
      const more = source.refusals - (this.#refused.get(source) ?? 0)
      this.#metrics.sourceRefusals.inc({ chain: this.#chain, source: source.kind }, more)
      this.#refused.set(source, source.refusals)
    }
  }

  /** What was stored besides history: at the head, and of contracts on demand. */
  stored(ranges: readonly DecodedRange[]): void {
    const rows = ranges.reduce((sum, { transfers }) => sum + transfers.length, 0)
    this.pace.add({ blocks: 0, rows, bytes: 0 })
    this.#count(ranges)
  }

  #count(ranges: readonly DecodedRange[]): void {
    const chain = this.#chain
    for (const { transfers, logs, malformed } of ranges) {
      this.#metrics.transfers.inc({ chain }, transfers.length)
      this.#metrics.logs.inc({ chain }, logs)
      for (const [reason, count] of Object.entries(malformed))
        if (count > 0) this.#metrics.malformedLogs.inc({ chain, reason }, count)
    }
  }

  failed(part: Part, reason: string): void {
    this.failures.failed(part, reason)
    this.#metrics.failures.inc({ chain: this.#chain, part })
    this.#log.debug({ chain: this.#chain, part, reason }, 'Indexing step failed; retrying')
  }
}

const samplesMax = 240

/**
 * Rates over the last minute or minutes, so that an estimate follows a provider that slows down. History is read newest
 * first, and old blocks are lighter: the time left is at most what it says while the endpoints stay as they are.
 */
export class Progress {
  readonly #windowMs: number
  #samples: { atMs: number; blocks: number; rows: number; bytes: number }[] = []

  constructor(windowMs = 60_000) {
    this.#windowMs = windowMs
  }

  /** Samples that follow each other closely become one, so that their number does not shorten the window. */
  add({ blocks, rows, bytes }: { blocks: number; rows: number; bytes: number }): void {
    const atMs = performance.now()
    const last = this.#samples.at(-1)
    // The first one marks the start.
    if (last !== undefined && this.#samples.length > 1 && atMs - last.atMs < this.#windowMs / samplesMax) {
      last.blocks += blocks
      last.rows += rows
      last.bytes += bytes
    } else this.#samples.push({ atMs, blocks, rows, bytes })
    this.#forget()
  }

  /** Forgets what was measured: what comes has another pace. */
  restart(): void {
    this.#samples = []
  }

  /** Undefined with fewer than two samples. */
  rates(): { blocks_per_second: number; rows_per_second: number; bytes_per_second: number } | undefined {
    this.#forget()
    const first = this.#samples[0]
    if (first === undefined || this.#samples.length < 2) return undefined
    const seconds = Math.max(0.001, (performance.now() - first.atMs) / 1_000)
    // The first sample only marks the start: what it counts was done before.
    const rest = this.#samples.slice(1)
    const perSecond = (field: 'blocks' | 'rows' | 'bytes'): number =>
      rest.reduce((sum, sample) => sum + sample[field], 0) / seconds
    const [blocks_per_second, rows_per_second] = [perSecond('blocks'), perSecond('rows')]
    return { blocks_per_second, rows_per_second, bytes_per_second: perSecond('bytes') }
  }

  secondsFor(blocks: number): number | undefined {
    if (blocks === 0) return 0
    const rate = this.rates()?.blocks_per_second ?? 0
    return rate > 0 ? Math.ceil(blocks / rate) : undefined
  }

  #forget(): void {
    const since = performance.now() - this.#windowMs
    let keep = this.#samples.findIndex(sample => sample.atMs >= since)
    if (keep === -1) keep = this.#samples.length
    this.#samples = this.#samples.slice(keep)
  }
}

export const usualStallPace: StallPace = { stalledAfterMs: 10_000, shorterBranchPatienceMs }
const failuresMax = 5
/** What never worked is more likely a mistake than a passing failure. */
const failuresMaxAtFirst = 2

/** Keeps the last failure of each part of the work and forgets it at the first success. */
class FailureLog {
  readonly #failing = new Map<string, { reason: string; sinceMs: number; failures: number }>()
  readonly #worked = new Set<string>()
  readonly #pace: StallPace

  constructor(pace: StallPace) {
    this.#pace = pace
  }

  failed(part: string, reason: string): void {
    this.#note(part, reason, 1)
  }

  /** Nothing failed and nothing went on: that counts only if it lasts, and earlier failures stand. */
  waited(part: string, reason: string): void {
    this.#note(part, reason, 0)
  }

  #note(part: string, reason: string, failures: number): void {
    const known = this.#failing.get(part)
    const before = known?.failures ?? 0
    // A wait has more time than a failure: what failed first after it begins anew.
    const isFirst = known === undefined || (before === 0 && failures > 0)
    const sinceMs = isFirst ? performance.now() : known.sinceMs
    this.#failing.set(part, { reason, sinceMs, failures: before + failures })
  }

  succeeded(part: string): void {
    this.#failing.delete(part)
    this.#worked.add(part)
  }

  /** Whether a part has failed for so long, or so often, that the chain counts as stalled. */
  isLasting(part: string): boolean {
    const failing = this.#failing.get(part)
    if (failing === undefined) return false
    const { sinceMs, failures } = failing
    const bearable = this.#worked.has(part) ? failuresMax : failuresMaxAtFirst
    const lastsMs = performance.now() - sinceMs
    const { stalledAfterMs, shorterBranchPatienceMs } = this.#pace
    // Longer than another branch may stay shorter than ours: a reorg is under way until then.
    const waitMs = failures === 0 ? shorterBranchPatienceMs : 0
    return failures >= bearable || lastsMs >= waitMs + stalledAfterMs
  }

  /** Why the chain counts as stalled: the reason of the longest failure that lasts, or that no success came before. */
  get stalledBy(): string | undefined {
    const lasting = [...this.#failing].filter(([part]) => this.isLasting(part))
    return lasting.sort(([, a], [, b]) => a.sinceMs - b.sinceMs)[0]?.[1].reason
  }
}
