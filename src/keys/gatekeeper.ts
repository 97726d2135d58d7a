// The gate in front of every operation: who asks, whether the key may, and how much of it is left. It knows no HTTP.
import type { KeyRecord } from '../store/store.ts'

export const scopes = ['nft-transfers', 'wallet-chains', 'portfolio', 'ops'] as const
/** What a key may do: one scope for each operation, and `ops` for status and metrics. */
export type Scope = (typeof scopes)[number]

export type RateLimit = { limit: number; remaining: number; resetSeconds: number }

/** A request that was let in. `rateLimit` is undefined for a key without a limit. */
export type Admission = { key: KeyRecord; rateLimit: RateLimit | undefined }

export interface Gatekeeper {
  /**
   * Lets a request in or throws an AlmanacError: `unauthorized`, `forbidden`, `rate_limited`, `quota_exceeded`, or
   * `overloaded` when too many unknown secrets are being tried. Answers at once for a key that was seen before.
   */
  admit(secret: string | undefined, scope: Scope): Admission | Promise<Admission>
}
