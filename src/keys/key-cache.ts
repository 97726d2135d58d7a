// Caches keys by the hash of their secret for less than a second, so that a request rarely waits for the store. It does
// not judge keys: the gatekeeper checks expiry, scopes and limits.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { AlmanacError } from '../errors.ts'
import { Flights } from '../once.ts'
import type { KeyRecord, KeyStore } from '../store/key-store.ts'
import { hashSecret, keyByHash } from './keys.ts'

export type KeyCacheOptions = {
  /** A key of this age is looked up again in the background. */
  refreshAfterMs: number
  /** A key of this age is not used: the bound on how long a revoked key works. */
  usableForMs: number
  keysMax: number
  /** Unknown secrets are cached apart, so that guessing cannot evict real keys. */
  unknownMax: number
  /** How many uncached secrets may reach the store in one second. */
  lookupsPerSecondMax: number
  nowMs: () => number
}

const defaults: KeyCacheOptions = {
  refreshAfterMs: 250,
  usableForMs: 750,
  keysMax: 20_000,
  unknownMax: 2_000,
  lookupsPerSecondMax: 500,
  nowMs: () => performance.now(),
}

const secretLengthMax = 256

type Entry = { key: KeyRecord; checkedAtMs: number; refreshing: boolean }

export class KeyCache {
  readonly #store: KeyStore
  readonly #options: KeyCacheOptions
  readonly #known: LRUCache<string, Entry>
  readonly #unknown: LRUCache<string, number>
  readonly #lookups = new Flights<string, KeyRecord | undefined>()
  #windowStartMs = Number.NEGATIVE_INFINITY
  #lookupsInWindow = 0

  constructor(store: KeyStore, options: Partial<KeyCacheOptions> = {}) {
    this.#store = store
    this.#options = { ...defaults, ...options }
    this.#known = new LRUCache(atMost(this.#options.keysMax))
    this.#unknown = new LRUCache(atMost(this.#options.unknownMax))
  }

  /** Reads the newest keys before the first requests; they age like others. */
  async warm(): Promise<void> {
    const checkedAtMs = this.#options.nowMs()
    const keys = await this.#store.keys()
    for (const key of keys.slice(-this.#options.keysMax)) {
      this.#known.set(key.hash, { key, checkedAtMs, refreshing: false })
    }
  }

  /** Looks keys up by hash, so that timing does not reveal how much of a guess was right. */
  find(secret: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    if (secret.length > secretLengthMax) return undefined
    const hash = hashSecret(secret)
    const now = this.#options.nowMs()
    const entry = this.#known.get(hash)
    if (entry !== undefined) {
      const age = now - entry.checkedAtMs
      if (age < this.#options.refreshAfterMs) return entry.key
      if (age >= this.#options.usableForMs) return this.#lookUp(hash)
      if (!entry.refreshing) this.#refresh(hash, entry)
      return entry.key
    }
    const missedAtMs = this.#unknown.get(hash)
    if (missedAtMs !== undefined && now - missedAtMs < this.#options.usableForMs) return undefined
    if (this.#lookups.of(hash) === undefined) this.#spendLookup(now)
    return this.#lookUp(hash)
  }

  #refresh(hash: string, entry: Entry): void {
    entry.refreshing = true
    // A failure is not reported here: the entry soon expires, and the next request meets it.
    this.#lookUp(hash).catch(() => {
      entry.refreshing = false
    })
  }

  #lookUp(hash: string): Promise<KeyRecord | undefined> {
    return this.#lookups.join(hash, () => this.#ask(hash))
  }

  async #ask(hash: string): Promise<KeyRecord | undefined> {
    // The age counts from before the query: a revocation that lands meanwhile must not look fresher than it is.
    const checkedAtMs = this.#options.nowMs()
    const key = await keyByHash(this.#store, hash)
    if (key === undefined) {
      this.#known.delete(hash)
      this.#unknown.set(hash, checkedAtMs)
    } else {
      this.#unknown.delete(hash)
      this.#known.set(hash, { key, checkedAtMs, refreshing: false })
    }
    return key
  }

  #spendLookup(now: number): void {
    if (now - this.#windowStartMs >= 1_000) {
      this.#windowStartMs = now
      this.#lookupsInWindow = 0
    }
    if (this.#lookupsInWindow >= this.#options.lookupsPerSecondMax) {
      throw new AlmanacError('overloaded', 'Too many unknown keys are being tried', {
        retryable: true,
        retryAfterMs: Math.ceil(this.#windowStartMs + 1_000 - now),
      })
    }
    this.#lookupsInWindow++
  }
}
