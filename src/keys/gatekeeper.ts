// Admits requests: finds the key, checks its scope and takes from its allowance. It does not know HTTP.
import { AlmanacError } from '../errors.ts'
import type { KeyRecord, KeyStore } from '../store/key-store.ts'
import { type Allowance, Allowances, msUntilTomorrow, UseMeter } from './allowances.ts'
import { KeyCache } from './key-cache.ts'
import { consoleUse, hasScope, limitFacts, type Scope, scopeLacking } from './keys.ts'

export type { Scope } from './keys.ts'

export type RateLimit = { limit: number; remaining: number; resetSeconds: number }

/** An admitted request. `rateLimit` is undefined for a key without a limit. `isConsole`: the console asked. */
export type Admission = { key: KeyRecord; rateLimit: RateLimit | undefined; isConsole: boolean }

export interface Gatekeeper {
  /**
   * Admits a request or throws an AlmanacError: `unauthorized`, `forbidden`, `rate_limited`, `quota_exceeded`, or
   * `overloaded` when too many unknown secrets are tried. Answers at once for a known key without limits; other keys
   * take from the store, which all processes share. `isOwnPage`: a page of this service asks. With a key that may use
   * the console this does not count as use by a client, but it takes from the allowance.
   */
  admit(secret: string | undefined, scope: Scope | 'any', isOwnPage?: boolean): Admission | Promise<Admission>
  /**
   * Takes further requests of the day from a key that was admitted before: an answer may be worth many. Throws like
   * `admit`, but for the rate, which they do not count against.
   */
  spend(secret: string, scope: Scope | 'any', requests: number, isOwnPage?: boolean): Promise<void>
  /** Whether a key that was admitted before still would be, at no cost to it: for answers that last for hours. */
  stillHolds(secret: string, scope: Scope): Promise<boolean>
}

export type GatekeeperOptions = {
  /** How often counted uses are written to the store. */
  flushEveryMs?: number
  /** Called when counted uses could not be written; they are kept and written later. */
  onFlushError?: (error: unknown) => void
}

export class StoreGatekeeper implements Gatekeeper {
  readonly #keys: KeyCache
  readonly #uses: UseMeter
  readonly #allowances: Allowances
  readonly #flushTimer: NodeJS.Timeout

  private constructor(store: KeyStore, keys: KeyCache, options: GatekeeperOptions) {
    this.#keys = keys
    this.#uses = new UseMeter(store)
    this.#allowances = new Allowances(store)
    const onFlushError = options.onFlushError ?? (() => undefined)
    this.#flushTimer = setInterval(() => this.#flush().catch(onFlushError), options.flushEveryMs ?? 1_000).unref()
  }

  static async open(store: KeyStore, options: GatekeeperOptions = {}): Promise<StoreGatekeeper> {
    const keys = new KeyCache(store)
    await keys.warm()
    return new StoreGatekeeper(store, keys, options)
  }

  /** Writes the last uses and gives unused allowances back. */
  async close(): Promise<void> {
    clearInterval(this.#flushTimer)
    await this.#uses.flush()
    await this.#allowances.giveBack(true)
  }

  async #flush(): Promise<void> {
    await this.#uses.flush()
    await this.#allowances.giveBack()
  }

  admit(secret: string | undefined, scope: Scope | 'any', isOwnPage = false): Admission | Promise<Admission> {
    if (secret === undefined || secret === '') {
      throw new AlmanacError('unauthorized', 'API KEY missing from x-api-key header')
    }
    const key = this.#keys.find(secret)
    return key instanceof Promise
      ? key.then(found => this.#admitKey(found, scope, isOwnPage))
      : this.#admitKey(key, scope, isOwnPage)
  }

  async stillHolds(secret: string, scope: Scope): Promise<boolean> {
    const key = await this.#keys.find(secret)
    return isInForce(key) && hasScope(key, scope)
  }

  async spend(secret: string, scope: Scope | 'any', requests: number, isOwnPage = false): Promise<void> {
    const key = await this.#keys.find(secret)
    requireValid(key, scope)
    if (!(await this.#allowances.takeOfDay(key, requests))) throw quotaExceeded(key)
    this.#uses.count(key.id, isOfConsole(key, isOwnPage) ? consoleUse : scope, requests)
  }

  #admitKey(key: KeyRecord | undefined, scope: Scope | 'any', isOwnPage: boolean): Admission | Promise<Admission> {
    requireValid(key, scope)
    const admission = { key, rateLimit: undefined, isConsole: isOfConsole(key, isOwnPage) }
    const use = admission.isConsole ? consoleUse : scope
    if (key.ratePerSecond === undefined && key.quotaPerDay === undefined) {
      this.#uses.count(key.id, use)
      return admission
    }
    const allowance = this.#allowances.take(key)
    return allowance instanceof Promise
      ? allowance.then(granted => this.#spend(admission, use, granted))
      : this.#spend(admission, use, allowance)
  }

  #spend({ key, isConsole }: Admission, use: string, allowance: Allowance): Admission {
    if (allowance.refusedBy === 'quota') throw quotaExceeded(key)
    const rateLimit = rateLimitOf(key, allowance)
    if (allowance.refusedBy === 'rate') {
      throw refusalOf(
        key,
        new AlmanacError('rate_limited', 'Rate limit exceeded', {
          details: { rateLimit, ...limitFacts(key, 'ratePerSecond') },
          retryable: true,
          retryAfterMs: allowance.secondEndsInMs,
        }),
      )
    }
    this.#uses.count(key.id, use)
    return { key, rateLimit, isConsole }
  }
}

/** Clients are not told which key it was: they may have guessed a secret. */
const refusedKeys = new WeakMap<object, string>()

function refusalOf(key: KeyRecord | undefined, error: AlmanacError): AlmanacError {
  if (key !== undefined) refusedKeys.set(error, key.id)
  return error
}

/** The id of the key that was not admitted, where it is one of this service. */
export function refusedKeyOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? refusedKeys.get(error) : undefined
}

function requireValid(key: KeyRecord | undefined, scope: Scope | 'any'): asserts key is KeyRecord {
  if (!isInForce(key)) {
    throw refusalOf(key, new AlmanacError('unauthorized', 'Invalid key'))
  }
  if (!hasScope(key, scope)) throw refusalOf(key, scopeLacking(scope))
}

/** The console itself needs the scope `ops`. */
function isOfConsole(key: KeyRecord, isOwnPage: boolean): boolean {
  return isOwnPage && hasScope(key, 'ops')
}

function isInForce(key: KeyRecord | undefined): key is KeyRecord {
  return key !== undefined && key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > Date.now())
}

function rateLimitOf({ ratePerSecond }: KeyRecord, allowance: Allowance): RateLimit | undefined {
  if (ratePerSecond === undefined) return undefined
  return {
    limit: ratePerSecond,
    remaining: Math.max(0, Math.floor(ratePerSecond - allowance.usedInSecond)),
    resetSeconds: Math.ceil(allowance.secondEndsInMs / 1_000),
  }
}

/** Clients know one sentence for 429; the code and the details say which limit was exceeded. */
function quotaExceeded(key: KeyRecord): AlmanacError {
  const { quotaPerDay } = key
  const resetMs = msUntilTomorrow(Date.now())
  const rateLimit = { limit: quotaPerDay, remaining: 0, resetSeconds: Math.ceil(resetMs / 1_000) }
  return refusalOf(
    key,
    new AlmanacError('quota_exceeded', 'Rate limit exceeded', {
      details: { rateLimit, ...limitFacts(key, 'quotaPerDay') },
      retryable: true,
      retryAfterMs: resetMs,
    }),
  )
}
