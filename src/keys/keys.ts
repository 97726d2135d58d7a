// Issuing, finding and revoking keys. Only hashes reach the store; a secret is returned once and never kept.
import { hash, randomBytes } from 'node:crypto'
import { AlmanacError } from '../errors.ts'
import type { KeyRecord, KeyStore } from '../store/key-store.ts'
import { type Scope, scopes } from './scopes.ts'

/** One line without characters that turn the order of others around. */
export const keyNamePattern = /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,100}$/u

export type NewKey = {
  name: string
  scopes: readonly Scope[]
  /** Unix milliseconds. */
  expiresAt?: number | undefined
  ratePerSecond?: number | undefined
  quotaPerDay?: number | undefined
  indexPerDay?: number | undefined
}

export type IssuedKey = { key: KeyRecord; secret: string }

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

export async function issueKey(store: KeyStore, wanted: NewKey): Promise<IssuedKey> {
  const secret = `alm_${randomBytes(32).toString('base64url')}`
  return { key: await putKey(store, secret, wanted), secret }
}

/** Makes the operator's own secret (`ALMANAC_KEY`) a key with every scope. Repeating it changes nothing. */
export async function registerOperatorKey(store: KeyStore, secret: string): Promise<KeyRecord> {
  if (!/^[\x21-\x7e]{1,256}$/.test(secret)) {
    throw new AlmanacError('config_invalid', 'ALMANAC_KEY cannot be sent in a header.', {
      hint: 'use 1 to 256 visible ASCII characters without spaces.',
    })
  }
  const known = await store.keyByHash(hashSecret(secret))
  if (known === undefined) return await putKey(store, secret, { name: 'ALMANAC_KEY', scopes })
  if (known.revokedAt !== undefined) {
    throw new AlmanacError('config_invalid', `ALMANAC_KEY holds the key ${known.id}, which was revoked.`, {
      hint: 'set ALMANAC_KEY to another secret, or unset it.',
    })
  }
  const unlimited =
    known.expiresAt === undefined &&
    known.ratePerSecond === undefined &&
    known.quotaPerDay === undefined &&
    known.indexPerDay === undefined
  if (unlimited && scopes.every(scope => known.scopes.includes(scope))) return known
  const free = { expiresAt: undefined, ratePerSecond: undefined, quotaPerDay: undefined, indexPerDay: undefined }
  const widened = { ...known, scopes, ...free }
  await store.putKey(widened)
  return widened
}

/** Finds the one key that an operator means by its id, or by its name where no other key in use has that name. */
export async function findKey(store: KeyStore, idOrName: string): Promise<KeyRecord> {
  const keys = await store.keys()
  const byId = keys.find(key => key.id === idOrName)
  if (byId !== undefined) return byId
  const named = keys.filter(key => key.name === idOrName)
  const active = named.filter(key => key.revokedAt === undefined)
  const found = active.length > 0 ? active : named
  if (found.length === 1) return found[0]!
  if (found.length === 0) {
    throw new AlmanacError('not_found', `No key has the id or name ${JSON.stringify(idOrName)}.`, {
      hint: 'run `keys list` to see the keys.',
    })
  }
  throw new AlmanacError('conflict', `${found.length} keys are named ${JSON.stringify(idOrName)}.`, {
    hint: `give one of their ids: ${found.map(key => key.id).join(', ')}.`,
  })
}

async function putKey(store: KeyStore, secret: string, wanted: NewKey): Promise<KeyRecord> {
  const key: KeyRecord = {
    id: randomBytes(6).toString('hex'),
    name: wanted.name,
    hash: hashSecret(secret),
    scopes: [...wanted.scopes],
    createdAt: Date.now(),
    expiresAt: wanted.expiresAt,
    revokedAt: undefined,
    ratePerSecond: wanted.ratePerSecond,
    quotaPerDay: wanted.quotaPerDay,
    indexPerDay: wanted.indexPerDay,
  }
  await store.putKey(key)
  return key
}
