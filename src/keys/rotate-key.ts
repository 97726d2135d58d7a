// Replaces a key by a successor that may do the same. Clients change over while both work. It never shows an old
// secret.
import { AlmanacError } from '../errors.ts'
import type { KeyRecord, KeyStore } from '../store/key-store.ts'
import {
  type IssuedKey,
  isOperatorKey,
  issueKey,
  keyByHash,
  type NewKey,
  operatorKeyName,
  type Scope,
  spanMs,
} from './keys.ts'

/** How long the old key works on, unless something else is asked for. */
export const usualGrace = '24h'

const graceMaxMs = spanMs('365d')!

/** Reads how long the old key works on: a span such as 24h, or 0 for not at all. In milliseconds. */
export function parseGrace(text: string): number {
  const graceMs = text === '0' ? 0 : spanMs(text)
  if (graceMs !== undefined && graceMs <= graceMaxMs) return graceMs
  throw new AlmanacError('bad_request', `The grace period ${JSON.stringify(text)} is not a span of at most 365d.`, {
    hint: 'write a span such as 30m, 24h or 7d, or 0 to revoke the old key at once.',
  })
}

/**
 * What the successor of a key is: the same name, scopes and limits, and the same length of life. Throws `bad_request`
 * where a key cannot be rotated. `operatorKeyId`: the key whose secret `ALMANAC_KEY` has, as far as it is known.
 */
export function successorOf(key: KeyRecord, nowMs: number, operatorKeyId?: string): NewKey {
  if (isOperatorKey(key, operatorKeyId))
    refuse(`The key of ${operatorKeyName} is not rotated: the environment sets it`, 'change the variable and restart.')
  if (key.revokedAt !== undefined) refuse(`Key ${key.id} is revoked`, 'create a new key.')
  if (key.expiresAt !== undefined && key.expiresAt <= nowMs) refuse(`Key ${key.id} has expired`, 'create a new key.')
  const { name, scopes, createdAt, expiresAt, ratePerSecond, quotaPerDay, indexPerDay, indexWaiting } = key
  return {
    ...{ name, scopes: scopes as readonly Scope[], ratePerSecond, quotaPerDay, indexPerDay, indexWaiting },
    expiresAt: expiresAt === undefined ? undefined : nowMs + (expiresAt - createdAt),
    replaces: key.id,
  }
}

function refuse(message: string, hint: string): never {
  throw new AlmanacError('bad_request', message, { hint })
}

/** `retired`: the old key as it is now. */
export type Rotation = IssuedKey & { retired: KeyRecord }

/** The old key ends after the grace period, or earlier if it would have anyway; at 0 it is revoked at once. */
export async function rotateKey(
  store: KeyStore,
  old: KeyRecord,
  { graceMs, successor, nowMs = Date.now() }: { graceMs: number; successor?: NewKey; nowMs?: number },
): Promise<Rotation> {
  const issued = await issueKey(store, successor ?? successorOf(old, nowMs))
  try {
    if (graceMs === 0) await store.endKey(old.id, { revokedAt: nowMs })
    else await store.endKey(old.id, { expiresAt: nowMs + graceMs })
  } catch (error) {
    // The secret of the successor gets lost with this failure, so it must not stay in force.
    await store.endKey(issued.key.id, { revokedAt: nowMs }).catch(() => undefined)
    throw error
  }
  return { ...issued, retired: (await keyByHash(store, old.hash)) ?? old }
}
