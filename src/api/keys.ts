// The routes that list, issue, change, rotate and revoke keys, and tell of the use of one. They always need the scope
// `keys`. A key cannot grant more than it has, and the operator's own key cannot be changed or revoked here.
import type { z } from 'zod'
import { AlmanacError, type ErrorCode } from '../errors.ts'
import {
  changedKey,
  checkGrant,
  issueKey,
  type KeyChange,
  limitsOfNewKey,
  listKeys,
  type NewKey,
  parseExpiry,
  type Scope,
  type ShownKey,
  scopes,
  showKey,
  stateOf,
  type WantedLimits,
} from '../keys/keys.ts'
import { parseGrace, rotateKey, successorOf, usualGrace } from '../keys/rotate-key.ts'
import type { KeyRecord } from '../store/key-store.ts'
import { jsonAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { keyChange, newKey as newKeySchema, newRotation } from './key-schemas.ts'
import { jsonSuccess, reference, textInPath } from './openapi-parts.ts'
import { unacceptable } from './params.ts'
import type { ApiRequest } from './request.ts'
import { RequestMeter } from './request-figures.ts'
import type { RouteParts } from './responder.ts'

const bodyBytesMax = 4_096
const keyErrors: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited', 'quota_exceeded', 'internal']

type FieldOfKey = keyof z.output<typeof newKeySchema>

/** Ends the sentence "<field> must be …". */
const newKeyAccepts: Record<FieldOfKey, string> = {
  name: '1 to 100 characters on one line',
  scopes: `a list of one or more of ${scopes.join(', ')}`,
  expires: 'a span such as 12h or 90d, or a date such as 2027-01-31, and not have passed',
  rate_per_second: 'a whole number from 1 on, or null',
  quota_per_day: 'a whole number from 1 on, or null',
  index_per_day: 'a whole number from 0 on, or null',
  index_waiting: 'a whole number from 1 on, or null',
}

async function admit({ gatekeeper }: Context, request: ApiRequest): Promise<KeyRecord> {
  const { key, rateLimit } = await gatekeeper.admit(request.header('x-api-key'), 'keys')
  request.rateLimit = rateLimit
  return key
}

export const keyList: RouteParts = {
  answer: context => async request => {
    const { id } = await admit(context, request)
    return jsonAnswer({ keys: await listKeys(context.store, context.operatorKeyId), asked_by: id })
  },
  document: {
    id: 'listKeys',
    summary: 'List keys; needs the scope `keys`',
    description: 'The keys of this service without their secrets: scopes, limits, use today and end.',
    answers: { 200: jsonSuccess('KeyList', 'The keys, oldest first. No secrets.') },
    errors: keyErrors,
  },
}

export const newKey: RouteParts = {
  answer: context => async request => {
    const issuer = await admit(context, request)
    const wanted = readNewKey(await request.readJson(bodyBytesMax))
    checkGrant(issuer, wanted)
    const { key, secret } = await issueKey(context.store, wanted)
    context.log.info({ key_id: key.id, scopes: key.scopes, by: issuer.id }, 'Key issued')
    return jsonAnswer({ ...showKey(key), secret }, { status: 201 })
  },
  document: {
    id: 'createKey',
    summary: 'Create a key; needs the scope `keys`',
    description:
      'A new key with a name, scopes and limits; its secret is shown in this answer alone. Limits that are left out get the usual values; null means none, and a key with the scope `keys` gets none unless they are given. A key cannot grant more than it has: no other scope and no later expiry. A key with a rate, a quota or an allowance cannot create keys: each new key would get its own limit.',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference('NewKey'),
          examples: { limited: { value: { name: 'shop', scopes: ['nft-transfers'], expires: '90d' } } },
        },
      },
    },
    answers: { 201: jsonSuccess('IssuedKey', 'The key with its secret.') },
    errors: ['bad_request', ...keyErrors],
    failures: [refusalOfFields(['scopes'])],
  },
}

export const rotation: RouteParts = {
  answer: context => async request => {
    const { store, log } = context
    const issuer = await admit(context, request)
    const id = request.pathParameter('id')
    const graceMs = readGrace(await request.readJson(bodyBytesMax))
    const old = (await store.keys()).find(key => key.id === id)
    if (old === undefined) throw noSuchKey()
    const successor = successorOf(old, Date.now(), context.operatorKeyId)
    checkGrant(issuer, successor)
    const { key, secret, retired } = await rotateKey(store, old, { graceMs, successor })
    log.info({ key_id: key.id, replaces: old.id, grace_ms: graceMs, by: issuer.id }, 'Key rotated')
    const replaces = (await listKeys(store, context.operatorKeyId)).find(({ id }) => id === retired.id)
    return jsonAnswer({ ...showKey(key), secret, replaces }, { status: 201 })
  },
  document: {
    id: 'rotateKey',
    summary: 'Rotate a key; needs the scope `keys`',
    description:
      "A new secret for a key that goes on otherwise as it was. The old key works on for the grace period, or until its own end if that comes first; with `0` it is revoked at once. The new key lives as long as the old one was meant to. A key cannot rotate one that may do more than itself, and the operator's own key (`ALMANAC_KEY`) is changed in the environment.",
    parameters: [textInPath('id', 'Id of the key, as `GET /keys` lists it.', '1f0c3a9be2d4')],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: reference('NewRotation'), examples: { usual: { value: { grace: usualGrace } } } },
      },
    },
    answers: { 201: jsonSuccess('RotatedKey', 'The new key with its secret, and the one that it replaces.') },
    errors: ['bad_request', 'not_found', ...keyErrors],
    failures: [refusedGrace(), noSuchKey()],
  },
}

export const change: RouteParts = {
  answer: context => async request => {
    const { store, log, operatorKeyId } = context
    const changer = await admit(context, request)
    const id = request.pathParameter('id')
    const wanted = readKeyChange(await request.readJson(bodyBytesMax))
    const found = (await store.keys()).find(key => key.id === id)
    if (found === undefined) throw noSuchKey()
    const changed = changedKey(found, wanted, operatorKeyId)
    if (stateOf(found) !== 'active')
      throw new AlmanacError('bad_request', `Key ${id} is ${stateOf(found)}`, { hint: 'create a new key.' })
    checkGrant(changer, { ...changed, scopes: changed.scopes as readonly Scope[] })
    await store.putKey(changed)
    log.info({ key_id: id, by: changer.id }, 'Key changed')
    return jsonAnswer((await listKeys(store, operatorKeyId)).find(key => key.id === id))
  },
  document: {
    id: 'changeKey',
    summary: 'Change a key; needs the scope `keys`',
    description:
      "The key with its new name, end and limits; the key itself stays the same. Use it to raise or lower what a client may ask. What is left out stays. Takes effect in every process within a second. A key cannot change one that may do more than itself, and a key with a rate, a quota or an allowance cannot change keys. The operator's own key (`ALMANAC_KEY`) has no limits.",
    parameters: [textInPath('id', 'Id of the key, as `GET /keys` lists it.', '1f0c3a9be2d4')],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference('KeyChange'),
          examples: { limited: { value: { rate_per_second: 100, quota_per_day: null } } },
        },
      },
    },
    answers: { 200: jsonSuccess('Key', 'The key as it is now.', {}, 'changed') },
    errors: ['bad_request', 'not_found', ...keyErrors],
    failures: [refusalOfFields(['rate_per_second']), noSuchKey()],
  },
}

export const keyUse: RouteParts = {
  answer: context => async request => {
    await admit(context, request)
    const id = request.pathParameter('id')
    const [keys, uses] = await Promise.all([
      context.store.keys(),
      context.store.usesOf(new Date().toISOString().slice(0, 10)),
    ])
    if (!keys.some(key => key.id === id)) throw noSuchKey()
    const { counts, refusals } = (context.meter ?? new RequestMeter()).hourOf(id)
    return jsonAnswer({
      id,
      last_hour: counts,
      today: uses
        .filter(({ keyId }) => keyId === id)
        .map(({ operation, count }) => ({ use: operation, requests: count }))
        .sort((a, b) => b.requests - a.requests),
      refusals: refusals.map(({ atMs, ...refusal }) => ({
        at: new Date(performance.timeOrigin + atMs).toISOString(),
        ...refusal,
      })),
    })
  },
  document: {
    id: 'getKeyUse',
    summary: 'Use of a key; needs the scope `keys`',
    description:
      'Answered, refused and failed requests of the last hour, the uses of today by scope, and the last refusals, newest first. Use it to see why a client gets 429 or 403. The hour and the refusals are of one process, and begin anew with it.',
    parameters: [textInPath('id', 'Id of the key, as `GET /keys` lists it.', '1f0c3a9be2d4')],
    answers: { 200: jsonSuccess('KeyUse', 'Its use. No secrets, addresses or parameters of requests.') },
    errors: ['not_found', ...keyErrors],
    failures: [noSuchKey()],
  },
}

function readGrace(body: unknown): number {
  const result = newRotation.safeParse(body)
  if (!result.success) throw refusedGrace()
  try {
    return parseGrace(result.data.grace ?? usualGrace)
  } catch {
    throw refusedGrace()
  }
}

function refusedGrace(): AlmanacError {
  return unacceptable('grace', 'a span of at most 365d such as 30m, 24h or 7d, or 0')
}

function noSuchKey(): AlmanacError {
  return new AlmanacError('not_found', 'There is no key with this id')
}

export const revocation: RouteParts = {
  answer: context => async request => {
    const { store, log } = context
    const revoker = await admit(context, request)
    const id = request.pathParameter('id')
    const keys = await listKeys(store, context.operatorKeyId)
    const found = keys.find(key => key.id === id)
    if (found === undefined) throw noSuchKey()
    if (found.state === 'revoked') return jsonAnswer(found)
    if (found.from_environment)
      throw new AlmanacError('forbidden', "The operator's own key is revoked with the command keys revoke alone")
    if (isLastAdministrator(found, keys))
      throw new AlmanacError(
        'forbidden',
        'This is the last key with the scope keys: create another one first, or revoke it with the command keys revoke',
      )
    await store.endKey(id, { revokedAt: Date.now() })
    log.info({ key_id: id, by: revoker.id }, 'Key revoked')
    return jsonAnswer((await listKeys(store, context.operatorKeyId)).find(key => key.id === id))
  },
  document: {
    id: 'revokeKey',
    summary: 'Revoke a key; needs the scope `keys`',
    description:
      "Ends a key for good. The operator's own key (`ALMANAC_KEY`) and the last key with the scope `keys` are revoked with the command `keys revoke` alone.",
    parameters: [textInPath('id', 'Id of the key, as `GET /keys` lists it.', '1f0c3a9be2d4')],
    answers: { 200: jsonSuccess('Key', 'The revoked key.', {}, 'revoked') },
    errors: ['not_found', ...keyErrors],
    failures: [noSuchKey()],
  },
}

/** Without it, keys could not be listed, issued or revoked over HTTP any more. */
function isLastAdministrator(revoked: ShownKey, keys: readonly ShownKey[]): boolean {
  const administrators = keys.filter(({ state, scopes }) => state === 'active' && scopes.includes('keys'))
  return administrators.length === 1 && administrators[0]!.id === revoked.id
}

function readNewKey(body: unknown): NewKey {
  const result = newKeySchema.safeParse(body)
  const expiry = readExpiry(body)
  if (!result.success || expiry === 'refused') throw refusal(result.error?.issues ?? [], expiry)
  const { name, scopes: wanted } = result.data
  return { name, scopes: [...new Set(wanted)], expiresAt: expiry, ...limitsOfNewKey(wanted, limitsOf(result.data)) }
}

function readKeyChange(body: unknown): KeyChange {
  const result = keyChange.safeParse(body)
  const expiry = readExpiry(body)
  if (!result.success || expiry === 'refused')
    throw refusal(result.error?.issues ?? [], expiry, Object.keys(keyChange.shape))
  const { name, expires } = result.data
  return { name, expiresAt: expires === null ? null : expiry, ...limitsOf(result.data) }
}

function limitsOf(given: Omit<z.output<typeof keyChange>, 'name' | 'expires'>): WantedLimits {
  return {
    ratePerSecond: given.rate_per_second,
    quotaPerDay: given.quota_per_day,
    indexPerDay: given.index_per_day,
    indexWaiting: given.index_waiting,
  }
}

/** Names every field that is wrong, in the order of the form; `details` are of the first one. */
function refusal(
  issues: z.ZodError['issues'],
  expiry: number | 'refused' | undefined,
  known = Object.keys(newKeyAccepts),
): AlmanacError {
  const wrong = new Set(issues.map(({ path }) => String(path[0] ?? '')))
  if (expiry === 'refused') wrong.add('expires')
  const fields = (Object.keys(newKeyAccepts) as FieldOfKey[]).filter(field => wrong.has(field))
  if (fields.length > 0) return refusalOfFields(fields)
  return new AlmanacError('bad_request', 'The body must be an object with known fields', {
    details: { accepted: known },
  })
}

function refusalOfFields(fields: readonly FieldOfKey[]): AlmanacError {
  const errors = fields.map(parameter => ({ parameter, accepted: newKeyAccepts[parameter] }))
  const message = errors.map(({ parameter, accepted }) => `${parameter} must be ${accepted}`).join('; ')
  const { parameter, accepted } = errors[0]!
  const all = errors.length === 1 ? {} : { errors }
  return new AlmanacError('bad_request', message, { details: { parameter, accepted, ...all } })
}

/** Looked at even where other fields are wrong, so that all are reported at once. */
function readExpiry(body: unknown): number | 'refused' | undefined {
  const { expires } = (body ?? {}) as { expires?: unknown }
  if (typeof expires !== 'string') return undefined
  try {
    return parseExpiry(expires, Date.now())
  } catch {
    return 'refused'
  }
}
