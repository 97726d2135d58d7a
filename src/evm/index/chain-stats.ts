// What is counted and told of one chain's indexing: metrics, progress, and the reasons of failures. It decides nothing.
import { type Log, LogThrottle } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import type { BackfillProgress } from './backfill.ts'
import type { FollowStep } from './follow.ts'
import { FailureLog, Progress } from './progress.ts'

const reorganisationsSaidMs = 600_000

export type Part = 'head' | 'history'

export class ChainStats {
  readonly failures = new FailureLog()
  /** Of the history alone: it says when that will be done. */
  readonly progress = new Progress()
  /** Of everything that is stored, at the head as well. */
  readonly pace = new Progress()
  /** Of the history that is being filled. */
  blocksLeft = 0
  readonly #chain: string
  readonly #metrics: EvmMetrics
  readonly #log: Log
  readonly #throttle = new LogThrottle(reorganisationsSaidMs)

  constructor(chain: string, { metrics, log }: { metrics: EvmMetrics; log: Log }) {
    this.#chain = chain
    this.#metrics = metrics
    this.#log = log
  }

  stepped(step: FollowStep, { head, lagSeconds }: { head: number; lagSeconds: number }): void {
    const chain = this.#chain
    if (step.kind === 'advanced') {
      this.#metrics.blocks.inc({ chain, part: 'head' }, step.blocks)
      this.pace.add({ blocks: step.blocks, rows: 0, bytes: 0 })
    }
    if (step.kind === 'reorganised') {
      const { ancestor, depth } = step
      this.#metrics.reorganisations.inc({ chain })
      const said = { chain, ancestor, depth }
      this.#log.debug(said, 'The chain was reorganised; the new branch is stored.')
      // Some chains do it all the time, and only unusual depths are news.
      this.#throttle.say(`${Math.floor(Math.log2(depth + 1))}`, repeated =>
        this.#log.info({ ...said, repeated }, 'Reorganisations of this depth are followed.'),
      )
    }
    this.#metrics.head.set({ chain }, head)
    this.#metrics.lag.set({ chain }, lagSeconds)
  }

  filled(progress: BackfillProgress): void {
    this.progress.add(progress)
    this.pace.add(progress)
    this.blocksLeft = Math.max(0, this.blocksLeft - progress.blocks)
    this.#metrics.blocks.inc({ chain: this.#chain, part: 'history' }, progress.blocks)
    this.#count(progress.ranges)
  }

  /** What was stored besides the history: at the head, and of contracts that were asked for. */
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
    this.#log.debug({ chain: this.#chain, part }, reason)
  }
}
