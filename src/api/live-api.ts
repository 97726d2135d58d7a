// How the API does, for the live feed: the figures of this process, and the use of keys today, which all processes
// count in the store. It counts nothing itself.
import { usesByKey } from '../keys/keys.ts'
import type { LiveSample } from '../status.ts'
import type { KeyStore } from '../store/key-store.ts'
import type { LiveApi } from './operator-schemas.ts'
import type { RequestMeter } from './request-figures.ts'

const keysMax = 10
const readEveryMs = 5_000

type KeyFacts = { id: string; name: string; today: number; quotaPerDay: number | undefined }

export class ApiWatch {
  readonly #meter: RequestMeter
  readonly #store: Pick<KeyStore, 'keys' | 'usesOf'>
  #known: { readMs: number; keys: readonly KeyFacts[] } | undefined

  constructor(meter: RequestMeter, store: Pick<KeyStore, 'keys' | 'usesOf'>) {
    this.#meter = meter
    this.#store = store
  }

  async look(): Promise<LiveApi> {
    const { keys: rates, ...figures } = this.#meter.figures()
    const used = (await this.#keysOfToday()).map(key => ({ ...key, rate: rates.get(key.id) ?? 0 }))
    return {
      requests_per_second: rounded(figures.requestsPerSecond),
      errors_per_second: rounded(figures.errorsPerSecond),
      error_share: figures.errorShare,
      refused_per_second: rounded(figures.refusedPerSecond),
      not_served_per_second: rounded(figures.notServedPerSecond),
      p50_ms: figures.p50Ms === undefined ? null : rounded(figures.p50Ms),
      p99_ms: figures.p99Ms === undefined ? null : rounded(figures.p99Ms),
      requests_today: used.reduce((sum, { today }) => sum + today, 0),
      keys_used_today: used.filter(({ today }) => today > 0).length,
      keys: used
        .sort((a, b) => b.rate - a.rate || b.today - a.today)
        .slice(0, keysMax)
        .map(({ id, name, rate, today, quotaPerDay }) => ({
          ...{ id, name, requests_per_second: rounded(rate), today },
          quota_per_day: quotaPerDay ?? null,
          ...this.#refusalsOf(id),
        })),
    }
  }

  /** The next moment of the history. */
  sample(): LiveSample['values'] {
    const { keys, ...figures } = this.#meter.figures('moment')
    const most = [...keys].sort(([, a], [, b]) => b - a).slice(0, keysMax)
    return [
      { measure: 'requests_per_second', value: rounded(figures.requestsPerSecond) },
      { measure: 'errors_per_second', value: rounded(figures.errorsPerSecond) },
      ...(figures.p50Ms === undefined ? [] : [{ measure: 'p50_ms' as const, value: rounded(figures.p50Ms) }]),
      ...(figures.p99Ms === undefined ? [] : [{ measure: 'p99_ms' as const, value: rounded(figures.p99Ms) }]),
      ...most.map(([key, rate]) => ({ measure: 'requests_per_second' as const, key, value: rounded(rate) })),
    ]
  }

  #refusalsOf(id: string): { refused_last_hour: number; failed_last_hour: number } {
    const { limited, forbidden, refused, failed } = this.#meter.hourOf(id).counts
    return { refused_last_hour: limited + forbidden + refused, failed_last_hour: failed }
  }

  /** Those that clients used, or tried to; the others may be many. */
  async #keysOfToday(): Promise<readonly KeyFacts[]> {
    if (this.#known !== undefined && performance.now() - this.#known.readMs < readEveryMs) return this.#known.keys
    const [keys, uses] = await Promise.all([
      this.#store.keys(),
      usesByKey(this.#store, new Date().toISOString().slice(0, 10)),
    ])
    const refused = new Set(this.#meter.refusedKeys())
    const used = keys.flatMap(({ id, name, quotaPerDay }) => {
      const today = uses.get(id)?.ofClients ?? 0
      return today > 0 || refused.has(id) ? [{ id, name, quotaPerDay, today }] : []
    })
    this.#known = { readMs: performance.now(), keys: used }
    return used
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
