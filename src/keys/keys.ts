// Issues, finds and shows keys. Only hashes reach the store; a secret is returned once and never kept.
import { hash, randomBytes } from 'node:crypto'
import { AlmanacError } from '../errors.ts'
import type { KeyRecord, KeyStore } from '../store/key-store.ts'

/** One line without characters that reverse the order of others. */
export const keyNamePattern = /^[^\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]{1,100}$/u

/** The name of the key that a variable of the environment holds. No other key can be given it. */
export const operatorKeyName = 'ALMANAC_KEY'

/** Whether it is the operator's own key, which has another name where its secret was that of a key already. */
export function isOperatorKey(
  { id, name }: Pick<KeyRecord, 'id' | 'name'>,
  operatorKeyId: string | undefined,
): boolean {
  return id === operatorKeyId || name === operatorKeyName
}

export type NewKey = {
  name: string
  scopes: readonly Scope[]
  /** Unix milliseconds. */
  expiresAt?: number | undefined
  /** The id of the key that it replaces. */
  replaces?: string | undefined
} & Partial<KeyLimits>

export type KeyLimits = Pick<KeyRecord, 'ratePerSecond' | 'quotaPerDay' | 'indexPerDay' | 'indexWaiting'>
/** Null: without this limit. Undefined: not said. */
export type WantedLimits = { [Name in keyof KeyLimits]?: number | null | undefined }

const noLimits: KeyLimits = {
  ratePerSecond: undefined,
  quotaPerDay: undefined,
  indexPerDay: undefined,
  indexWaiting: undefined,
}
/** What a key that an operator makes gets: enough for an application, too little to spend a provider's whole budget. */
export const usualLimits: KeyLimits = { ...noLimits, ratePerSecond: 50, indexPerDay: 500, indexWaiting: 20 }

/** A key that makes keys gets no limits: each key that it makes has its own. */
export function limitsOfNewKey(scopes: readonly Scope[], wanted: WantedLimits): KeyLimits {
  return changedLimits(scopes.includes('keys') ? noLimits : usualLimits, wanted)
}

function changedLimits(limits: KeyLimits, wanted: WantedLimits): KeyLimits {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined)
  return { ...limits, ...Object.fromEntries(given.map(([name, value]) => [name, value ?? undefined])) }
}

/** What is undefined stays. `expiresAt` null: never. */
export type KeyChange = WantedLimits & { name?: string | undefined; expiresAt?: number | null | undefined }

/** A key with another name, end or other limits. `operatorKeyId`: as far as it is known. */
export function changedKey(key: KeyRecord, change: KeyChange, operatorKeyId: string | undefined): KeyRecord {
  if (isOperatorKey(key, operatorKeyId))
    throw new AlmanacError('bad_request', `The key of ${operatorKeyName} has no limits: the next start lifts them.`, {
      hint: 'create a key with `almanac keys create` and limit that one.',
    })
  const { name = key.name, expiresAt, ...limits } = change
  requireFreeName(name)
  const end = expiresAt === undefined ? key.expiresAt : (expiresAt ?? undefined)
  return { ...key, ...changedLimits(key, limits), name, expiresAt: end }
}

export type IssuedKey = { key: KeyRecord; secret: string }

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function requireFreeName(name: string): void {
  if (name !== operatorKeyName) return
  throw new AlmanacError('bad_request', `The name ${operatorKeyName} is that of the operator's own key`, {
    hint: 'choose another name.',
    details: { parameter: 'name' },
  })
}

export async function issueKey(store: KeyStore, wanted: NewKey): Promise<IssuedKey> {
  requireFreeName(wanted.name)
  const secret = `alm_${randomBytes(32).toString('base64url')}`
  return { key: await putKey(store, secret, wanted), secret }
}

/**
 * Makes the operator's secret (`ALMANAC_KEY`) a key with every scope. Repeating it changes nothing, and a revoked key
 * stays revoked.
 */
export async function registerOperatorKey(store: KeyStore, secret: string): Promise<KeyRecord> {
  if (!/^[\x21-\x7e]{1,256}$/.test(secret)) {
    throw new AlmanacError('config_invalid', 'ALMANAC_KEY cannot be sent in a header.', {
      hint: 'use 1 to 256 visible ASCII characters without spaces.',
    })
  }
  const known = await keyByHash(store, hashSecret(secret))
  if (known === undefined) return await putKey(store, secret, { name: operatorKeyName, scopes })
  if (known.revokedAt !== undefined) return known
  const isUnlimited = [known.expiresAt, ...limitsIn(known)].every(limit => limit === undefined)
  if (isUnlimited && scopes.every(scope => known.scopes.includes(scope))) return known
  const widened = { ...known, scopes, expiresAt: undefined, ...noLimits }
  await store.putKey(widened)
  return widened
}

function limitsIn({ ratePerSecond, quotaPerDay, indexPerDay, indexWaiting }: KeyLimits): (number | undefined)[] {
  return [ratePerSecond, quotaPerDay, indexPerDay, indexWaiting]
}

export async function keyByHash(store: Pick<KeyStore, 'keys'>, hash: string): Promise<KeyRecord | undefined> {
  const [key] = await store.keys({ hash })
  return key
}

/** Finds a key by its id, or by its name: of keys that replaced each other, the newest. */
export async function findKey(store: KeyStore, idOrName: string): Promise<KeyRecord> {
  return (await findKeys(store, idOrName))[0]
}

/** As `findKey` does, and behind it the keys that it replaced and that still work. */
export async function findKeys(store: KeyStore, idOrName: string): Promise<[KeyRecord, ...KeyRecord[]]> {
  const keys = await store.keys()
  const byId = keys.find(key => key.id === idOrName)
  if (byId !== undefined) return [byId]
  const named = keys.filter(key => key.name === idOrName).sort((one, other) => other.createdAt - one.createdAt)
  const active = named.filter(key => stateOf(key) === 'active')
  const found = active.length > 0 ? active : named.slice(0, 1)
  // Keys that share a name by chance are told apart by their ids.
  for (const newest of found) {
    const others = found.filter(key => key !== newest)
    const replaced = replacedBy(newest, keys)
    if (others.every(({ id }) => replaced.has(id))) return [newest, ...others]
  }
  if (found.length === 0) {
    throw new AlmanacError('not_found', `No key has the id or name ${JSON.stringify(idOrName)}.`, {
      hint: 'run `almanac keys list` to see the keys.',
    })
  }
  throw new AlmanacError('conflict', `${found.length} keys are named ${JSON.stringify(idOrName)}.`, {
    hint: `give one of their ids: ${found.map(key => key.id).join(', ')}.`,
  })
}

/** The ids of the keys that a key replaced, one after the other. */
export function replacedBy({ replaces }: KeyRecord, keys: readonly KeyRecord[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (let id = replaces; id !== undefined && !ids.has(id); id = keys.find(key => key.id === id)?.replaces) ids.add(id)
  return ids
}

/** The key in force with a scope that has the place of each key today: itself, or one that replaced it. */
export function keysInForce(keys: readonly KeyRecord[], scope: Scope): Map<string, KeyRecord> {
  const found = new Map<string, KeyRecord>()
  // A key that works goes before one that replaced it.
  const active = keys.filter(key => stateOf(key) === 'active' && hasScope(key, scope))
  for (const key of active) for (const id of replacedBy(key, keys)) found.set(id, key)
  for (const key of active) found.set(key.id, key)
  return found
}

export function stateOf({ revokedAt, expiresAt }: KeyRecord): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= Date.now() ? 'expired' : 'active'
}

async function putKey(
  store: KeyStore,
  secret: string,
  { name, scopes, expiresAt, replaces, ...limits }: NewKey,
): Promise<KeyRecord> {
  const key: KeyRecord = {
    ...{ id: randomBytes(6).toString('hex'), name, hash: hashSecret(secret), scopes: [...scopes] },
    ...{ createdAt: Date.now(), expiresAt, revokedAt: undefined, replaces, ...noLimits, ...limits },
  }
  await store.putKey(key)
  return key
}

/**
 * What a key may do: `nft-transfers` lists of transfers, `nft-holdings` who owns what, `wallet-chains`, `balances` of
 * wallets, `portfolio` accounts of Solana, `erc20` tokens of ERC-20, `changes` of transfers as they happen, `webhooks`
 * to have the service send them, `ops` to look at status and metrics, `control` to pause and throttle history, `keys`
 * to administer keys.
 */
export const scopes = [
  ...(['nft-transfers', 'nft-holdings', 'wallet-chains', 'balances', 'portfolio', 'erc20', 'changes'] as const),
  ...(['webhooks', 'ops', 'control', 'keys'] as const),
] as const
export type Scope = (typeof scopes)[number]

/** Scopes that came later, and those that were all before: a key that has these has the later ones too. */
const laterScopes: readonly string[] = ['nft-holdings', 'balances', 'erc20', 'changes']
const firstScopes = ['nft-transfers', 'wallet-chains', 'portfolio'] as const

/** `any`: every key may. */
export function hasScope({ scopes: held }: Pick<KeyRecord, 'scopes'>, scope: Scope | 'any'): boolean {
  if (scope === 'any' || held.includes(scope)) return true
  return laterScopes.includes(scope) && firstScopes.every(first => held.includes(first))
}

export function scopeLacking(scope: Scope | 'any'): AlmanacError {
  const message = `This key lacks the scope ${scope}. Create a key with it: almanac keys create --scopes ${scope}`
  return new AlmanacError('forbidden', message, { details: { scope } })
}

/** Those that a key has only where it is given them. */
const namedScopes: readonly Scope[] = ['webhooks', 'ops', 'control', 'keys']

/** All that clients need. */
export const clientScopes: readonly Scope[] = scopes.filter(scope => !namedScopes.includes(scope))

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Of a text such as 90d; undefined where it is not one. */
export function spanMs(text: string): number | undefined {
  const span = /^(\d{1,6})([mhdw])$/.exec(text)
  return span === null ? undefined : Number(span[1]) * unitMs[span[2]!]!
}

/** Years have four digits wherever a moment is shown. */
const latestMoment = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads a span from now such as 90d, or a date, as Unix milliseconds. A date without a time is its first moment in UTC.
 */
export function parseExpiry(text: string, nowMs: number): number {
  const span = spanMs(text)
  const isDate =
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) && isDayOfItsMonth(text)
  const moment = span !== undefined ? nowMs + span : isDate ? Date.parse(text) : Number.NaN
  if (!(moment <= latestMoment)) {
    throw new AlmanacError('bad_request', `The expiry ${JSON.stringify(text)} is neither a span nor a date.`, {
      hint: 'write a span such as 12h, 90d or 8w, a date such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z.',
    })
  }
  if (moment <= nowMs) {
    throw new AlmanacError('bad_request', `The expiry ${text} has passed already.`, { hint: 'give a later moment.' })
  }
  return moment
}

/** `Date.parse` reads the 31st of February as a day in March. */
function isDayOfItsMonth(text: string): boolean {
  const day = text.slice(0, 10)
  const parsed = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day)
}

/**
 * Over HTTP a key never gives more than it has: throws `forbidden` where the wanted key, alone or with others, could do
 * more.
 */
export function checkGrant(giver: KeyRecord, wanted: NewKey): void {
  const beyond = wanted.scopes.filter(scope => !hasScope(giver, scope))
  if (beyond.length > 0) refuse('scopes', `A key cannot grant a scope that it lacks: ${beyond.join(', ')}`)
  if (giver.expiresAt !== undefined && (wanted.expiresAt === undefined || wanted.expiresAt > giver.expiresAt))
    refuse('expires', 'A key that expires cannot create one that lasts longer')
  const limits = [
    ['rate_per_second', giver.ratePerSecond],
    ['quota_per_day', giver.quotaPerDay],
    ['index_per_day', giver.indexPerDay],
    ['index_waiting', giver.indexWaiting],
  ] as const
  for (const [parameter, limit] of limits) {
    if (limit !== undefined)
      refuse(parameter, 'A key with a limit cannot create keys: each new key would get its own limit')
  }
}

function refuse(parameter: string, message: string): never {
  throw new AlmanacError('forbidden', message, { details: { parameter } })
}

const targets = (count: number) =>
  count === 1 ? 'contract, wallet or Solana owner' : 'contracts, wallets and Solana owners'
const requests = (count: number) => (count === 1 ? 'request' : 'requests')

type LimitText = { flag: string; limit: (count: number) => string; reason: (count: number) => string }

const limitTexts: Record<keyof KeyLimits, LimitText> = {
  ratePerSecond: {
    flag: '--rate',
    limit: count => `${count} ${requests(count)} a second`,
    reason: count => `The key has used its ${count} ${requests(count)} of this second.`,
  },
  quotaPerDay: {
    flag: '--quota',
    limit: count => `${count} ${requests(count)} a day`,
    reason: count => `The key has used its ${count} ${requests(count)} of today (UTC).`,
  },
  indexPerDay: {
    flag: '--index',
    limit: count => `${count} ${targets(count)} a day to index`,
    reason: count => `The key has used its ${count} ${targets(count)} to index of today (UTC).`,
  },
  indexWaiting: {
    flag: '--waiting',
    limit: count => `${count} ${targets(count)} waiting to be indexed`,
    reason: count => `The key has its ${count} ${targets(count)} waiting to be indexed already.`,
  },
}

/** What an answer with the status 429 says: the limit, the command that raises it, and what happened. */
export function limitFacts(key: { id: string } & Partial<KeyLimits>, name: keyof KeyLimits) {
  const { flag, limit, reason } = limitTexts[name]
  const count = key[name]!
  return { limit: limit(count), raise: `almanac keys limit ${key.id} ${flag} <number>`, reason: reason(count) }
}

/** A key as lists and answers show it, without its hash. */
export type ShownKey = ReturnType<typeof showKey>

export function showKey(key: KeyRecord, use: KeyUses = unused, operatorKeyId?: string) {
  const moment = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  return {
    id: key.id,
    name: key.name,
    state: stateOf(key),
    scopes: key.scopes,
    ...shownLimits(key),
    unlimited: limitsIn(key).every(limit => limit === undefined),
    used_today: use.today,
    requests_today: use.requestsToday,
    last_used_on: use.lastDay ?? null,
    created_at: moment(key.createdAt),
    expires_at: moment(key.expiresAt),
    revoked_at: moment(key.revokedAt),
    replaces_id: key.replaces ?? null,
    from_environment: isOperatorKey(key, operatorKeyId),
  }
}

export function shownLimits({ ratePerSecond, quotaPerDay, indexPerDay, indexWaiting }: KeyLimits) {
  return {
    rate_per_second: ratePerSecond ?? null,
    quota_per_day: quotaPerDay ?? null,
    index_per_day: indexPerDay ?? null,
    index_waiting: indexWaiting ?? null,
  }
}

/** `requestsToday`: of them those of clients. `lastDay`: as far as it is looked for. */
type KeyUses = { today: number; requestsToday: number; lastDay: string | undefined }

const unused: KeyUses = { today: 0, requestsToday: 0, lastDay: undefined }

/** What the console asks with the key that it is used with is counted under this name instead of its scope. */
export const consoleUse = 'console'

const ownUses: readonly string[] = ['ops', 'control', 'keys', consoleUse]

/** How often each key was used on a day: in all, and by clients. */
export async function usesByKey(store: Pick<KeyStore, 'usesOf'>, day: string) {
  const byKey = new Map<string, { all: number; ofClients: number }>()
  for (const { keyId, operation, count } of await store.usesOf(day)) {
    const { all, ofClients } = byKey.get(keyId) ?? { all: 0, ofClients: 0 }
    byKey.set(keyId, { all: all + count, ofClients: ofClients + (ownUses.includes(operation) ? 0 : count) })
  }
  return byKey
}

const lookedBackMs = spanMs('30d')!

/** Every key, the oldest first. */
export async function listKeys(store: KeyStore, operatorKeyId?: string): Promise<ShownKey[]> {
  const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10)
  const now = Date.now()
  const [keys, uses] = await Promise.all([
    store.keys({ usedSince: dayOf(now - lookedBackMs) }),
    usesByKey(store, dayOf(now)),
  ])
  return keys.map(key => {
    const { all = 0, ofClients = 0 } = uses.get(key.id) ?? {}
    return showKey(key, { today: all, requestsToday: ofClients, lastDay: key.lastUsedOn }, operatorKeyId)
  })
}
