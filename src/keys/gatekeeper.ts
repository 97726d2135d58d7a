// The gate in front of every operation: who asks, whether the key may, and how much of it is left. It knows no HTTP.
import { AlmanacError } from '../errors.ts'
import type { KeyRecord, KeyStore } from '../store/store.ts'
import { KeyCache } from './key-cache.ts'
import { memoryRateCounter, type RateCounter, type RateWindow } from './rate.ts'
import type { Scope } from './scopes.ts'
import { UseMeter } from './use-meter.ts'

export type { Scope } from './scopes.ts'

export type RateLimit = { limit: number; remaining: number; resetSeconds: number }

/** A request that was let in. `rateLimit` is undefined for a key without a limit. */
export type Admission = { key: KeyRecord; rateLimit: RateLimit | undefined }

export interface Gatekeeper {
  /**
   * Lets a request in or throws an AlmanacError: `unauthorized`, `forbidden`, `rate_limited`, `quota_exceeded`, or
   * `overloaded` when too many unknown secrets are being tried. Answers at once for an unlimited key seen before.
   */
  admit(secret: string | undefined, scope: Scope): Admission | Promise<Admission>
  /** Whether a key that was let in before still would be, at no cost to it: for answers that go on for hours. */
  stillHolds(secret: string, scope: Scope): Promise<boolean>
}

export type GatekeeperOptions = {
  rates?: RateCounter
  /** How often the counted uses are written to the store. */
  flushEveryMs?: number
  /** Called when counted uses could not be written; they are kept and tried again. */
  onFlushError?: (error: unknown) => void
}

export class StoreGatekeeper implements Gatekeeper {
  readonly #keys: KeyCache
  readonly #uses: UseMeter
  readonly #rates: RateCounter
  readonly #flushTimer: NodeJS.Timeout

  private constructor(keys: KeyCache, uses: UseMeter, options: GatekeeperOptions) {
    this.#keys = keys
    this.#uses = uses
    this.#rates = options.rates ?? memoryRateCounter()
    const onFlushError = options.onFlushError ?? (() => undefined)
    this.#flushTimer = setInterval(() => uses.flush().catch(onFlushError), options.flushEveryMs ?? 1_000).unref()
  }

  static async open(store: KeyStore, options: GatekeeperOptions = {}): Promise<StoreGatekeeper> {
    const keys = new KeyCache(store)
    const uses = new UseMeter(store)
    await keys.warm()
    await uses.load()
    return new StoreGatekeeper(keys, uses, options)
  }

  /** Writes the uses that were counted last. */
  async close(): Promise<void> {
    clearInterval(this.#flushTimer)
    await this.#uses.flush()
  }

  admit(secret: string | undefined, scope: Scope): Admission | Promise<Admission> {
    if (secret === undefined || secret === '') {
      throw new AlmanacError('unauthorized', 'API KEY missing from x-api-key header')
    }
    const key = this.#keys.find(secret)
    return key instanceof Promise ? key.then(found => this.#admitKey(found, scope)) : this.#admitKey(key, scope)
  }

  async stillHolds(secret: string, scope: Scope): Promise<boolean> {
    const key = await this.#keys.find(secret)
    return isInForce(key) && key.scopes.includes(scope)
  }

  #admitKey(key: KeyRecord | undefined, scope: Scope): Admission | Promise<Admission> {
    if (!isInForce(key)) {
      throw new AlmanacError('unauthorized', 'Invalid key')
    }
    if (!key.scopes.includes(scope)) {
      throw new AlmanacError('forbidden', `This key lacks the scope ${scope}`, { details: { scope } })
    }
    const limit = key.ratePerSecond
    if (limit === undefined) return this.#spend(key, scope, undefined)
    return this.#rates.count(key.id).then(window => this.#spend(key, scope, rateLimitOf(limit, window)))
  }

  #spend(key: KeyRecord, scope: Scope, rateLimit: RateLimit | undefined): Admission {
    if (key.quotaPerDay !== undefined && this.#uses.usedToday(key.id) >= key.quotaPerDay) {
      const resetMs = this.#uses.msUntilTomorrow()
      const spent = { limit: key.quotaPerDay, remaining: 0, resetSeconds: Math.ceil(resetMs / 1_000) }
      // Clients know one sentence for 429; the code and the details say which limit it was.
      throw new AlmanacError('quota_exceeded', 'Rate limit exceeded', {
        details: { quotaPerDay: key.quotaPerDay, rateLimit: spent },
        retryable: true,
        retryAfterMs: resetMs,
      })
    }
    this.#uses.count(key.id, scope)
    return { key, rateLimit }
  }
}

function isInForce(key: KeyRecord | undefined): key is KeyRecord {
  return key !== undefined && key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > Date.now())
}

function rateLimitOf(limit: number, { used, resetMs }: RateWindow): RateLimit {
  const rateLimit = { limit, remaining: Math.max(0, limit - used), resetSeconds: Math.ceil(resetMs / 1_000) }
  if (used <= limit) return rateLimit
  throw new AlmanacError('rate_limited', 'Rate limit exceeded', {
    details: { rateLimit },
    retryable: true,
    retryAfterMs: resetMs,
  })
}
