// How many calls a day the endpoints of a chain may be asked together, how many of them requests of clients may make,
// and the keeping of these counts, so that a restart does not forget them. It stores nothing itself.
import type { Clock } from '../abort.ts'

const dayMs = 86_400_000

/** What requests of clients may use. The rest is for the head, and no request can touch it. */
const requestShare = 1 / 2
/** What one key may use, where its indexing is limited: another one finds as much. */
const keyShare = 1 / 4
/** Keys of a day that are counted one by one; of more, those that used most. */
const keysMax = 1_000

/** The key whose request makes a call. */
export type Payer = {
  /** Empty where it is work for all requests together. */
  id: string
  /** Whether the key has a share of its own, as keys with a limit on indexing have. */
  hasShare: boolean
}

/** Work that requests began and that belongs to no key. */
export const allRequests: Payer = { id: '', hasShare: false }

/** Calls of a day: all, those of requests among them, and those of each key with a share. */
type Spent = { calls: number; requests: number; keys: Map<string, number> }

function nothing(): Spent {
  return { calls: 0, requests: 0, keys: new Map() }
}

function sumOf(a: Spent, b: Spent, sign: 1 | -1 = 1): Spent {
  const keys = new Map(a.keys)
  for (const [id, calls] of b.keys) keys.set(id, (keys.get(id) ?? 0) + sign * calls)
  const most = [...keys].filter(([, calls]) => calls > 0).sort(([, one], [, other]) => other - one)
  return {
    calls: a.calls + sign * b.calls,
    requests: a.requests + sign * b.requests,
    keys: new Map(most.slice(0, keysMax)),
  }
}

/** Counts calls from midnight to midnight UTC; each call of a batch counts. */
export class DailyBudget {
  readonly callsPerDay: number
  /** The setting it comes from, for messages. */
  readonly setting: string
  readonly #clock: Pick<Clock, 'now'>
  #day = 0
  /** Of the day: what is kept, by this process or another, and what is not kept yet. */
  #kept = nothing()
  #unkept = nothing()

  constructor(callsPerDay: number, clock: Pick<Clock, 'now'>, setting = 'daily_budget') {
    this.callsPerDay = callsPerDay
    this.setting = setting
    this.#clock = clock
  }

  get left(): number {
    this.#turnDay()
    return this.callsPerDay - this.#kept.calls - this.#unkept.calls
  }

  /** How many calls a day requests may make together, and one key with a share. */
  get shares(): { requests: number; key: number } {
    return { requests: Math.floor(this.callsPerDay * requestShare), key: Math.floor(this.callsPerDay * keyShare) }
  }

  get leftForRequests(): number {
    return Math.min(this.left, this.shares.requests - this.#kept.requests - this.#unkept.requests)
  }

  /** Of the key's own share; all requests together may have used more. */
  leftForKey({ id, hasShare }: Payer): number {
    this.#turnDay()
    if (!hasShare) return Number.POSITIVE_INFINITY
    return this.shares.key - (this.#kept.keys.get(id) ?? 0) - (this.#unkept.keys.get(id) ?? 0)
  }

  /** A batch may use more than is left, where no request pays for it. */
  use(calls: number, payer?: Payer): void {
    this.#turnDay()
    this.#unkept.calls += calls
    if (payer === undefined || this.callsPerDay === Number.POSITIVE_INFINITY) return
    const { keys } = this.#unkept
    this.#unkept.requests += calls
    if (payer.hasShare) keys.set(payer.id, (keys.get(payer.id) ?? 0) + calls)
  }

  get renewsInMs(): number {
    return dayMs - (this.#clock.now() % dayMs)
  }

  get unkept(): Spent & { day: number } {
    this.#turnDay()
    return { day: this.#day, ...this.#unkept, keys: new Map(this.#unkept.keys) }
  }

  /** Of what was not kept, `unkept` is now part of `spent`. */
  keep(day: number, unkept: Spent, spent: Spent): void {
    this.#turnDay()
    if (day !== this.#day) return
    this.#kept = spent
    this.#unkept = sumOf(this.#unkept, unkept, -1)
  }

  #turnDay(): void {
    const day = Math.floor(this.#clock.now() / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#kept = nothing()
    this.#unkept = nothing()
  }
}

/** What keeps small named texts: the store. */
export type Checkpoints = {
  checkpoint(name: string): Promise<string | undefined>
  putCheckpoint(name: string, value: string): Promise<void>
}

/** An earlier version wrote the first two alone. */
type KeptCount = { day: number; spent: number; requests?: number; keys?: [id: string, calls: number][] }

function spentOf(text: string | undefined, day: number): Spent {
  const kept = text === undefined ? undefined : (JSON.parse(text) as KeptCount)
  if (kept?.day !== day) return nothing()
  return { calls: kept.spent, requests: kept.requests ?? 0, keys: new Map(kept.keys) }
}

function textOf(day: number, { calls, requests, keys }: Spent): string {
  return JSON.stringify({ day, spent: calls, requests, keys: [...keys] } satisfies KeptCount)
}

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
      const { day, ...unkept } = this.#budget.unkept
      const spent = sumOf(spentOf(text, day), unkept)
      if (unkept.calls > 0) await this.#checkpoints.putCheckpoint(name, textOf(day, spent))
      this.#budget.keep(day, unkept, spent)
    } catch {
      // What could not be kept stays with the process, and the next look tries again.
    }
  }
}
