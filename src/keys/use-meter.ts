// Counts what each key used today (UTC) in memory and writes the counts to the store in the background. It refuses nothing.
import type { KeyStore, KeyUse } from '../store/key-store.ts'

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
