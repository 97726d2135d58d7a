// How many blocks a decoding thread reads in its time, learnt from those before: a thread that is silent for too long
// is ended. Recovering senders takes ten times as long as all the rest.
import type { WholeScope } from '../../views.ts'

const taskMs = 1_000

export class BlocksInTime {
  readonly #max: number
  readonly #blocks: Record<WholeScope, number>

  constructor(max: number) {
    this.#max = max
    this.#blocks = { transfers: max, full: 8 }
  }

  of(scope: WholeScope): number {
    return this.#blocks[scope]
  }

  /** A task that gives less than it was asked for leaves a hole above those that are under way. */
  learn(scope: WholeScope, blocks: number, tookMs: number): void {
    const [before, inTime] = [this.#blocks[scope], Math.round((blocks * taskMs) / Math.max(1, tookMs))]
    // One block that takes long says little of others, and a few that take no time as little.
    this.#blocks[scope] = Math.min(this.#max, 2 * before, Math.max(1, Math.ceil(before / 2), inTime))
  }

  /** A thread ended at these: how many to try next. */
  tooMany(scope: WholeScope, blocks: number): number {
    const fewer = Math.ceil(blocks / 4)
    this.#blocks[scope] = Math.min(this.#blocks[scope], fewer)
    return fewer
  }
}
