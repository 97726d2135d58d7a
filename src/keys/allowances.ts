// What is left of each key's rate and quota, taken from the store in small lots that all processes share. It knows no error words.
//
// A request is let in only on a grant of the store, so that no second and no day sees more of them than the key allows, however
// many processes there are. Requests that arrive while a grant is asked for share the next one. A process that lets in many requests
// of a key takes a few ahead, up to a sixteenth of what it let in within the last second: as much may be kept from other processes.
import { LRUCache } from 'lru-cache'
import type { AllowanceGrant, KeyRecord, KeyStore, KeyUse } from '../store/key-store.ts'

const aheadShare = 16
const lotMax = 10_000
/** A key that was refused is asked about again after this time at the latest: another process may have given something back. */
const refusalMsMax = 1_000
const keysMax = 20_000

type Limits = Pick<KeyRecord, 'id' | 'ratePerSecond' | 'quotaPerDay'>

export type Allowance = {
  /** Undefined: the request is let in. */
  refusedBy: 'rate' | 'quota' | undefined
  usedInSecond: number
  secondEndsInMs: number
}

type Waiter = { resolve: (allowance: Allowance) => void; reject: (error: unknown) => void }

type KeyState = {
  limits: Limits
  /** Granted ahead and not used yet. */
  ahead: number
  day: string
  usedInSecond: number
  secondEndsAtMs: number
  refusedBy: 'rate' | 'quota' | undefined
  refusedUntilMs: number
  waiters: Waiter[]
  asking: boolean
  /** Requests that were let in, in the running second and in the one before it, by this process's clock. */
  admitted: number
  admittedBefore: number
  countedSinceMs: number
}

export class Allowances {
  readonly #store: Pick<KeyStore, 'takeAllowance'>
  readonly #nowMs: () => number
  readonly #keys = new LRUCache<string, KeyState>({ max: keysMax })

  constructor(store: Pick<KeyStore, 'takeAllowance'>, nowMs: () => number = () => performance.now()) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** Answers at once where something was taken ahead or the second is known to be used up. */
  take(limits: Limits): Allowance | Promise<Allowance> {
    const state = this.#stateOf(limits)
    const now = this.#nowMs()
    if (state.ahead > 0 && now < state.secondEndsAtMs) return this.#admit(state, now)
    if (state.refusedBy !== undefined && now < state.refusedUntilMs) return this.#allowance(state, state.refusedBy)
    return new Promise<Allowance>((resolve, reject) => {
      state.waiters.push({ resolve, reject })
      if (!state.asking) void this.#ask(state)
    })
  }

  /** Gives back what was taken ahead and is too old to be used, or all of it. */
  async giveBack(all = false): Promise<void> {
    for (const state of [...this.#keys.values()]) {
      const isOver = all || this.#nowMs() >= state.secondEndsAtMs
      if (state.ahead === 0 || !isOver || state.asking) continue
      const unused = { count: state.ahead, day: state.day }
      state.ahead = 0
      const { id: keyId, ratePerSecond, quotaPerDay } = state.limits
      await this.#store.takeAllowance({ keyId, ratePerSecond, quotaPerDay, wanted: 0, unused })
    }
  }

  async #ask(state: KeyState): Promise<void> {
    state.asking = true
    while (state.waiters.length > 0) {
      this.#admitWaiting(state)
      if (state.waiters.length === 0) break
      const waiters = state.waiters.splice(0, lotMax)
      try {
        this.#share(state, waiters, await this.#grant(state, waiters.length))
      } catch (error) {
        for (const { reject } of waiters) reject(error)
      }
    }
    state.asking = false
  }

  /** Those who came while a grant was under way may find something that it brought ahead. */
  #admitWaiting(state: KeyState): void {
    const now = this.#nowMs()
    if (now >= state.secondEndsAtMs) return
    for (const { resolve } of state.waiters.splice(0, state.ahead)) resolve(this.#admit(state, now))
  }

  async #grant(state: KeyState, waiting: number): Promise<AllowanceGrant & { askedMs: number }> {
    const { id: keyId, ratePerSecond, quotaPerDay } = state.limits
    const ahead = Math.floor(Math.max(state.admitted, state.admittedBefore) / aheadShare)
    const unused = state.ahead === 0 ? undefined : { count: state.ahead, day: state.day }
    state.ahead = 0
    const askedMs = this.#nowMs()
    const wanted = Math.min(waiting + ahead, lotMax)
    const grant = await this.#store.takeAllowance({ keyId, ratePerSecond, quotaPerDay, wanted, unused })
    return { ...grant, askedMs }
  }

  /** The end of the second counts from before the question, so that nothing taken ahead is used after it. */
  #share(state: KeyState, waiters: readonly Waiter[], grant: AllowanceGrant & { askedMs: number }): void {
    const { quotaPerDay } = state.limits
    state.day = grant.day
    state.usedInSecond = grant.usedInSecond
    state.secondEndsAtMs = grant.askedMs + grant.secondEndsInMs
    const refusedBy = quotaPerDay !== undefined && grant.usedInDay >= quotaPerDay ? 'quota' : 'rate'
    state.refusedBy = grant.granted < waiters.length ? refusedBy : undefined
    state.refusedUntilMs = grant.askedMs + (refusedBy === 'rate' ? grant.secondEndsInMs : refusalMsMax)
    state.ahead = grant.granted
    const now = this.#nowMs()
    for (const { resolve } of waiters) {
      resolve(state.ahead > 0 ? this.#admit(state, now) : this.#allowance(state, refusedBy))
    }
  }

  #admit(state: KeyState, now: number): Allowance {
    state.ahead -= 1
    countAdmitted(state, now)
    return this.#allowance(state)
  }

  #allowance(state: KeyState, refusedBy?: 'rate' | 'quota'): Allowance {
    return {
      refusedBy,
      usedInSecond: state.usedInSecond - state.ahead,
      secondEndsInMs: Math.max(0, state.secondEndsAtMs - this.#nowMs()),
    }
  }

  #stateOf(limits: Limits): KeyState {
    const known = this.#keys.get(limits.id)
    if (known !== undefined) {
      // Limits that were changed hold from now on.
      const { ratePerSecond, quotaPerDay } = known.limits
      if (ratePerSecond !== limits.ratePerSecond || quotaPerDay !== limits.quotaPerDay) known.refusedBy = undefined
      known.limits = limits
      return known
    }
    const state: KeyState = {
      limits,
      ahead: 0,
      day: '',
      usedInSecond: 0,
      secondEndsAtMs: 0,
      refusedBy: undefined,
      refusedUntilMs: 0,
      waiters: [],
      asking: false,
      admitted: 0,
      admittedBefore: 0,
      countedSinceMs: this.#nowMs(),
    }
    this.#keys.set(limits.id, state)
    return state
  }
}

function countAdmitted(state: KeyState, now: number): void {
  const elapsedMs = now - state.countedSinceMs
  if (elapsedMs >= 1_000) {
    state.admittedBefore = elapsedMs < 2_000 ? state.admitted : 0
    state.admitted = 0
    state.countedSinceMs = now
  }
  state.admitted += 1
}

// Counts what each key used today (UTC) in memory and writes the counts to the store in the background. It refuses nothing.

const dayMs = 86_400_000

type Meter = { day: number; unwritten: Map<string, number> }

export class UseMeter {
  readonly #store: KeyStore
  readonly #nowMs: () => number
  readonly #meters = new Map<string, Meter>()
  /** Counts of days that ended before they were written. */
  #leftover: KeyUse[] = []
  #flushing: Promise<void> = Promise.resolve()

  constructor(store: KeyStore, nowMs: () => number = Date.now) {
    this.#store = store
    this.#nowMs = nowMs
  }

  count(keyId: string, operation: string): void {
    const { unwritten } = this.#meter(keyId)
    unwritten.set(operation, (unwritten.get(operation) ?? 0) + 1)
  }

  /** Writes what was counted since the last time. After a failure the counts stay and are written by the next flush. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => undefined).then(() => this.#write())
    return this.#flushing
  }

  async #write(): Promise<void> {
    const days = [...Map.groupBy(this.#leftover, use => use.day).values()]
    this.#leftover = []
    try {
      for (let uses = days[0]; uses !== undefined; uses = days[0]) {
        await this.#store.addUse(uses)
        days.shift()
      }
    } catch (error) {
      this.#leftover.push(...days.flat())
      throw error
    }
    await this.#writeToday()
  }

  async #writeToday(): Promise<void> {
    const day = this.#today()
    const uses: KeyUse[] = []
    for (const keyId of this.#meters.keys()) {
      const meter = this.#meter(keyId)
      for (const [operation, count] of meter.unwritten) uses.push({ keyId, day: dayText(day), operation, count })
      meter.unwritten.clear()
    }
    if (uses.length === 0) return
    try {
      await this.#store.addUse(uses)
    } catch (error) {
      for (const use of uses) this.#putBack(use, day)
      throw error
    }
  }

  #putBack(use: KeyUse, day: number): void {
    const meter = this.#meters.get(use.keyId)
    if (meter?.day !== day) this.#leftover.push(use)
    else meter.unwritten.set(use.operation, (meter.unwritten.get(use.operation) ?? 0) + use.count)
  }

  /** The meter of a key for today; one of an earlier day is put aside and started anew. */
  #meter(keyId: string): Meter {
    const day = this.#today()
    const meter = this.#meters.get(keyId)
    if (meter?.day === day) return meter
    for (const [operation, count] of meter?.unwritten ?? []) {
      this.#leftover.push({ keyId, day: dayText(meter!.day), operation, count })
    }
    const fresh: Meter = { day, unwritten: new Map() }
    this.#meters.set(keyId, fresh)
    return fresh
  }

  #today(): number {
    return Math.floor(this.#nowMs() / dayMs)
  }
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

export function msUntilTomorrow(nowMs: number): number {
  return dayMs - (nowMs % dayMs)
}
