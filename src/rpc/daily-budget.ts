// How many calls a day the endpoints of a chain may be asked together, and the keeping of that count, so that a restart
// does not forget it. It stores nothing itself.
import type { Clock } from '../abort.ts'

const dayMs = 86_400_000

/** Counts calls from midnight to midnight UTC; each call of a batch counts. */
export class DailyBudget {
  readonly callsPerDay: number
  /** The setting it comes from, for messages. */
  readonly setting: string
  readonly #clock: Pick<Clock, 'now'>
  #day = 0
  /** Of the day: what is kept, by this process or another, and what is not kept yet. */
  #kept = 0
  #unkept = 0

  constructor(callsPerDay: number, clock: Pick<Clock, 'now'>, setting = 'daily_budget') {
    this.callsPerDay = callsPerDay
    this.setting = setting
    this.#clock = clock
  }

  get left(): number {
    this.#turnDay()
    return this.callsPerDay - this.#kept - this.#unkept
  }

  /** A batch may use more than is left. */
  use(calls: number): void {
    this.#turnDay()
    this.#unkept += calls
  }

  get renewsInMs(): number {
    return dayMs - (this.#clock.now() % dayMs)
  }

  get unkept(): { day: number; calls: number } {
    this.#turnDay()
    return { day: this.#day, calls: this.#unkept }
  }

  /** `calls` of those that were not kept are now part of `spent`. */
  keep({ day, calls, spent }: { day: number; calls: number; spent: number }): void {
    this.#turnDay()
    if (day !== this.#day) return
    this.#kept = spent
    this.#unkept -= calls
  }

  #turnDay(): void {
    const day = Math.floor(this.#clock.now() / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#kept = 0
    this.#unkept = 0
  }
}

/** What keeps small named texts: the store. */
export type Checkpoints = {
  checkpoint(name: string): Promise<string | undefined>
  putCheckpoint(name: string, value: string): Promise<void>
}

type KeptCount = { day: number; spent: number }

/** A process that is killed loses the calls of so long. */
const keepEveryMs = 1_000

/** Adds to the kept count what was spent since, and learns what other processes have spent. */
export class BudgetKeeper {
  readonly #budget: DailyBudget
  readonly #checkpoints: Checkpoints
  readonly #timer: NodeJS.Timeout
  #keeping: Promise<void>

  constructor(budget: DailyBudget, checkpoints: Checkpoints, everyMs = keepEveryMs) {
    this.#budget = budget
    this.#checkpoints = checkpoints
    this.#keeping = this.#keep()
    this.#timer = setInterval(() => this.#next(), everyMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#next()
  }

  /** One after the other: each adds to what it has read. */
  #next(): Promise<void> {
    this.#keeping = this.#keeping.then(() => this.#keep())
    return this.#keeping
  }

  async #keep(): Promise<void> {
    const name = `budget/${this.#budget.setting}`
    try {
      const text = await this.#checkpoints.checkpoint(name)
      const kept = text === undefined ? undefined : (JSON.parse(text) as KeptCount)
      const { day, calls } = this.#budget.unkept
      const spent = (kept?.day === day ? kept.spent : 0) + calls
      if (calls > 0) await this.#checkpoints.putCheckpoint(name, JSON.stringify({ day, spent } satisfies KeptCount))
      this.#budget.keep({ day, calls, spent })
    } catch {
      // What could not be kept stays with the process, and the next look tries again.
    }
  }
}
