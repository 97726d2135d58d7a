// What is left of each key's rate and quota, taken from the store in small lots that all processes share. It does not
// word errors.
//
// A request is admitted only on a grant of the store, so that no second and no day sees more requests than the key
// allows, however many processes there are. Requests that arrive while a grant is pending share the next one. A process
// that admits many requests of a key takes a few ahead, up to a sixteenth of those admitted within the last second:
// other processes may lack as many.
//
// While the store cannot be written to, as on a full disk, this process grants from its own memory: the limits still
// hold, for each process on its own.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { AlmanacError } from '../errors.ts'
import { Mutex } from '../once.ts'
import type { AllowanceGrant, KeyRecord, KeyStore, KeyUse } from '../store/key-store.ts'

const aheadShare = 16
const lotMax = 10_000
/** A refused key is asked about again after this time: another process may have given something back. */
const refusalMsMax = 1_000
const keysMax = 20_000

type Limits = Pick<KeyRecord, 'id' | 'ratePerSecond' | 'quotaPerDay'>

export type Allowance = {
  /** Undefined: the request is admitted. */
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
  usedInDay: number
  usedInSecond: number
  secondEndsAtMs: number
  refusedBy: 'rate' | 'quota' | undefined
  refusedUntilMs: number
  waiters: Waiter[]
  asking: boolean
  /** Requests admitted in the current second and in the one before, by this process's clock. */
  admitted: number
  admittedBefore: number
  countedSinceMs: number
}

export class Allowances {
  readonly #store: Pick<KeyStore, 'takeAllowance'>
  readonly #nowMs: () => number
  readonly #keys = new LRUCache<string, KeyState>(atMost(keysMax))

  constructor(store: Pick<KeyStore, 'takeAllowance'>, nowMs: () => number = () => performance.now()) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** Answers at once where a request was granted ahead or the second is used up. */
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

  /** Counts requests against the quota of the day and not against the rate. False where it is exceeded. */
  async takeOfDay({ id: keyId, ratePerSecond, quotaPerDay }: Limits, count: number): Promise<boolean> {
    if (quotaPerDay === undefined) return true
    const unused = { count: -count, day: new Date().toISOString().slice(0, 10) }
    const { usedInDay } = await this.#store.takeAllowance({ keyId, ratePerSecond, quotaPerDay, wanted: 0, unused })
    return usedInDay <= quotaPerDay
  }

  /** Returns to the store what was granted ahead and has expired, or all of it. */
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

  /** Admits requests that arrived while a grant was pending from what it brought ahead. */
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
    try {
      const grant = await this.#store.takeAllowance({ keyId, ratePerSecond, quotaPerDay, wanted, unused })
      return { ...grant, askedMs }
    } catch (error) {
      if (!isUnwritable(error)) throw error
      return { ...ownGrant(state, waiting, askedMs), askedMs }
    }
  }

  /** The second counts from before the store was asked, so that nothing granted ahead is used after its end. */
  #share(state: KeyState, waiters: readonly Waiter[], grant: AllowanceGrant & { askedMs: number }): void {
    const { quotaPerDay } = state.limits
    state.day = grant.day
    state.usedInDay = grant.usedInDay
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
      // Changed limits apply from now on.
      const { ratePerSecond, quotaPerDay } = known.limits
      if (ratePerSecond !== limits.ratePerSecond || quotaPerDay !== limits.quotaPerDay) known.refusedBy = undefined
      known.limits = limits
      return known
    }
    const state: KeyState = {
      ...{
        limits,
        ahead: 0,
        day: '',
        usedInDay: 0,
        usedInSecond: 0,
        secondEndsAtMs: 0,
        refusedBy: undefined,
        refusedUntilMs: 0,
      },
      ...{ waiters: [], asking: false, admitted: 0, admittedBefore: 0, countedSinceMs: this.#nowMs() },
    }
    this.#keys.set(limits.id, state)
    return state
  }
}

function isUnwritable(error: unknown): boolean {
  return error instanceof AlmanacError && (error.code === 'store_full' || error.code === 'store_failed')
}

/** Continues from what the store last said. */
function ownGrant(state: KeyState, wanted: number, nowMs: number): AllowanceGrant {
  const { ratePerSecond = Number.POSITIVE_INFINITY, quotaPerDay = Number.POSITIVE_INFINITY } = state.limits
  const isSameSecond = nowMs < state.secondEndsAtMs
  const day = new Date().toISOString().slice(0, 10)
  const usedInSecond = isSameSecond ? state.usedInSecond : 0
  const usedInDay = state.day === day ? state.usedInDay : 0
  const granted = Math.max(0, Math.min(wanted, ratePerSecond - usedInSecond, quotaPerDay - usedInDay))
  return {
    granted,
    usedInSecond: usedInSecond + granted,
    secondEndsInMs: isSameSecond ? state.secondEndsAtMs - nowMs : 1_000,
    day,
    usedInDay: usedInDay + granted,
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

// Counts what each key uses in memory, by day (UTC), and writes the counts to the store in the background. It refuses
// nothing.

const dayMs = 86_400_000

export class UseMeter {
  readonly #store: KeyStore
  readonly #nowMs: () => number
  /** Counts by key. A few for each, so that looking through them is faster than composing a key of all three parts. */
  #unwritten = new Map<string, KeyUse[]>()
  #today = { number: Number.NaN, text: '' }
  readonly #mutex = new Mutex()

  constructor(store: KeyStore, nowMs: () => number = Date.now) {
    this.#store = store
    this.#nowMs = nowMs
  }

  count(keyId: string, operation: string, times = 1): void {
    const number = Math.floor(this.#nowMs() / dayMs)
    if (number !== this.#today.number)
      this.#today = { number, text: new Date(number * dayMs).toISOString().slice(0, 10) }
    this.#add(keyId, this.#today.text, operation, times)
  }

  /** Writes what was counted since the last flush. After a failure the counts stay and the next flush writes them. */
  flush(): Promise<void> {
    return this.#mutex.run(() => this.#write())
  }

  async #write(): Promise<void> {
    const days = [...Map.groupBy([...this.#unwritten.values()].flat(), use => use.day).values()]
    this.#unwritten = new Map()
    try {
      for (let uses = days[0]; uses !== undefined; uses = days[0]) {
        await this.#store.addUse(uses)
        days.shift()
      }
    } catch (error) {
      for (const { keyId, day, operation, count } of days.flat()) this.#add(keyId, day, operation, count)
      throw error
    }
  }

  #add(keyId: string, day: string, operation: string, count: number): void {
    const uses = this.#unwritten.get(keyId)
    if (uses === undefined) this.#unwritten.set(keyId, [{ keyId, day, operation, count }])
    else {
      for (let at = 0; at < uses.length; at++) {
        const use = uses[at]!
        if (use.operation !== operation || use.day !== day) continue
        use.count += count
        return
      }
      uses.push({ keyId, day, operation, count })
    }
  }
}

export function msUntilTomorrow(nowMs: number): number {
  return dayMs - (nowMs % dayMs)
}
