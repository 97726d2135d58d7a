// Remembers keys by the hash of their secret, for less than a second, so that a request rarely waits for the store.
// It decides nothing about a key: expiry, scopes and limits are the gatekeeper's.
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../errors.ts'
import type { KeyRecord, KeyStore } from '../store/key-store.ts'
import { hashSecret } from './keys.ts'

export type KeyCacheOptions = {
  /** An answer of this age is looked up again behind the request's back. */
  refreshAfterMs: number
  /** An answer of this age is not used any more: the bound on how long a revoked key lives. */
  usableForMs: number
  keysMax: number
  /** Secrets that turned out to be unknown are remembered apart, so that guessing cannot push real keys out. */
  unknownMax: number
  /** How many secrets that are not in memory may reach the store in one second. */
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
  readonly #waiting = new Map<string, Promise<KeyRecord | undefined>>()
  #windowStartMs = Number.NEGATIVE_INFINITY
  #lookupsInWindow = 0

  constructor(store: KeyStore, options: Partial<KeyCacheOptions> = {}) {
    this.#store = store
    this.#options = { ...defaults, ...options }
    this.#known = new LRUCache({ max: this.#options.keysMax })
    this.#unknown = new LRUCache({ max: this.#options.unknownMax })
  }

  /** Reads the newest keys ahead of the first requests; they are checked again like any other once they age. */
  async warm(): Promise<void> {
    const checkedAtMs = this.#options.nowMs()
    const keys = await this.#store.keys()
    for (const key of keys.slice(-this.#options.keysMax)) {
      this.#known.set(key.hash, { key, checkedAtMs, refreshing: false })
    }
  }

  /** The key of a secret. The lookup goes by hash, so its timing says nothing about how much of a guess was right. */
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
    const waiting = this.#waiting.get(hash)
    if (waiting !== undefined) return waiting
    this.#spendLookup(now)
    return this.#lookUp(hash)
  }

  #refresh(hash: string, entry: Entry): void {
    entry.refreshing = true
    // A failure needs no report here: the entry soon stops being usable, and the request that then waits meets it.
    this.#lookUp(hash).catch(() => {
      entry.refreshing = false
    })
  }

  #lookUp(hash: string): Promise<KeyRecord | undefined> {
    const waiting = this.#waiting.get(hash)
    if (waiting !== undefined) return waiting
    const lookup = this.#ask(hash).finally(() => this.#waiting.delete(hash))
    this.#waiting.set(hash, lookup)
    return lookup
  }

  async #ask(hash: string): Promise<KeyRecord | undefined> {
    // The age counts from before the question: a revocation that lands meanwhile must not look fresher than it is.
    const checkedAtMs = this.#options.nowMs()
    const key = await this.#store.keyByHash(hash)
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
