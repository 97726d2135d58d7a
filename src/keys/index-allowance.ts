// How much indexing each key may cause in a day (UTC): contracts and wallets, each counted once. It starts nothing itself.
import type { KeyRecord, Store } from '../store/store.ts'

type Day = { day: string; targets: Set<string>; before: number }

// A key without a limit is not counted; one with a limit asks for at most that many.
const keysMax = 10_000

/**
 * The count of a day survives a restart; the targets do not, so that one asked for again after it may count twice.
 */
export class IndexAllowance {
  readonly #store: Pick<Store, 'checkpoint' | 'putCheckpoint'>
  readonly #nowMs: () => number
  readonly #days = new Map<string, Day>()

  constructor(store: Pick<Store, 'checkpoint' | 'putCheckpoint'>, nowMs: () => number = Date.now) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** Whether the key may have this indexed; what it was allowed today it is allowed again. */
  async take({ id, indexPerDay }: Pick<KeyRecord, 'id' | 'indexPerDay'>, target: string): Promise<boolean> {
    if (indexPerDay === undefined) return true
    const today = await this.#today(id)
    if (today.targets.has(target)) return true
    if (today.before + today.targets.size >= indexPerDay) return false
    today.targets.add(target)
    await this.#store.putCheckpoint(`indexing/${id}`, `${today.day} ${today.before + today.targets.size}`)
    return true
  }

  async #today(id: string): Promise<Day> {
    const day = new Date(this.#nowMs()).toISOString().slice(0, 10)
    const known = this.#days.get(id)
    if (known?.day === day) return known
    const [storedDay, count] = (await this.#store.checkpoint(`indexing/${id}`))?.split(' ') ?? []
    // Two requests may have asked the store at once: the first one's day is kept.
    const meanwhile = this.#days.get(id)
    if (meanwhile?.day === day) return meanwhile
    const today: Day = { day, targets: new Set(), before: storedDay === day ? Number(count) : 0 }
    this.#days.set(id, today)
    const [oldest] = this.#days.keys()
    if (this.#days.size > keysMax && oldest !== undefined) this.#days.delete(oldest)
    return today
  }
}
