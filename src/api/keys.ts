// The routes that list, issue and revoke keys. They always need a key with the scope `ops`, and a key cannot grant more than it has.
import type { z } from 'zod'
import { AlmanacError, type ErrorCode } from '../errors.ts'
import { checkGrant, issueKey, listKeys, type NewKey, parseExpiry, type ShownKey, showKey } from '../keys/keys.ts'
import type { KeyRecord } from '../store/key-store.ts'
import { jsonAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { type Json, jsonSuccess, operation, reference } from './openapi-parts.ts'
import { newKey, newKeyAccepts } from './operator-schemas.ts'
import { unacceptable } from './params.ts'
import type { ApiRequest } from './request.ts'
import type { Handler } from './responder.ts'

const bodyBytesMax = 4_096
const keyErrors: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited', 'quota_exceeded', 'internal']

async function admit({ gatekeeper }: Context, request: ApiRequest): Promise<KeyRecord> {
  const { key, rateLimit } = await gatekeeper.admit(request.header('x-api-key'), 'ops')
  request.rateLimit = rateLimit
  return key
}

export function answerKeys(context: Context): Handler {
  return async request => {
    await admit(context, request)
    return jsonAnswer({ keys: await listKeys(context.store) })
  }
}

export function keysDocument(): Json {
  return operation({
    id: 'listKeys',
    summary: 'Every key with its limits and its use today; needs the scope `ops`',
    answers: { 200: jsonSuccess('KeyList', 'The keys, oldest first. No secrets.', { one: { keys: [exampleKey] } }) },
    errors: keyErrors,
  })
}

export function answerNewKey(context: Context): Handler {
  const { store, log } = context
  return async request => {
    const issuer = await admit(context, request)
    const wanted = readNewKey(await request.readBody(bodyBytesMax))
    checkGrant(issuer, wanted)
    const { key, secret } = await issueKey(store, wanted)
    log.info({ key_id: key.id, scopes: key.scopes, by: issuer.id }, 'Key issued')
    return jsonAnswer({ ...showKey(key, 0), secret }, { status: 201 })
  }
}

export function newKeyDocument(): Json {
  const limited = { name: 'shop', scopes: ['nft-transfers'], expires: '90d' }
  return operation({
    id: 'createKey',
    summary: 'Issue a key; needs the scope `ops`',
    description:
      'A key cannot grant more than it has: no other scope and no later expiry. A key with a rate, a quota or an allowance cannot create keys: each new key would get its own limit.',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: reference('NewKey'), examples: { limited: { value: limited } } } },
    },
    answers: { 201: jsonSuccess('IssuedKey', 'The key with its secret.', { one: { ...exampleKey, secret: 'alm_…' } }) },
    errors: ['bad_request', ...keyErrors],
  })
}

export function answerRevocation(context: Context): Handler {
  const { store, log } = context
  return async request => {
    const revoker = await admit(context, request)
    const id = request.pathParameter('id')
    const keys = await listKeys(store)
    const found = keys.find(key => key.id === id)
    if (found === undefined) throw new AlmanacError('not_found', 'There is no key with this id')
    if (found.state === 'revoked') return jsonAnswer(found)
    if (isLastOperator(found, keys))
      throw new AlmanacError(
        'forbidden',
        'This is the last key with the scope ops: create another one first, or revoke it with the command keys revoke',
      )
    await store.revokeKey(id, Date.now())
    log.info({ key_id: id, by: revoker.id }, 'Key revoked')
    return jsonAnswer((await listKeys(store)).find(key => key.id === id))
  }
}

/** Without it, keys could not be listed, issued or revoked over HTTP any more. */
function isLastOperator(revoked: ShownKey, keys: readonly ShownKey[]): boolean {
  const operators = keys.filter(({ state, scopes }) => state === 'active' && scopes.includes('ops'))
  return operators.length === 1 && operators[0]!.id === revoked.id
}

export function revocationDocument(): Json {
  const revoked = { ...exampleKey, state: 'revoked', used_today: 0, revoked_at: '2026-11-16T08:30:00.000Z' }
  return operation({
    id: 'revokeKey',
    summary: 'Revoke a key: it stops working within a second; needs the scope `ops`',
    parameters: [
      {
        ...{ name: 'id', description: 'Id of the key.', example: exampleKey.id },
        ...{ in: 'path', required: true, schema: { type: 'string' } },
      },
    ],
    answers: { 200: jsonSuccess('Key', 'The revoked key.', { one: revoked }) },
    errors: ['not_found', ...keyErrors],
  })
}

function readNewKey(text: string): NewKey {
  const result = newKey.safeParse(parsed(text))
  if (!result.success) throw refusal(result.error)
  const { name, scopes, expires, rate_per_second, quota_per_day, index_per_day } = result.data
  return {
    name,
    scopes: [...new Set(scopes)],
    expiresAt: expires === undefined ? undefined : readExpiry(expires),
    ratePerSecond: rate_per_second,
    quotaPerDay: quota_per_day,
    indexPerDay: index_per_day,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AlmanacError('bad_request', 'The body must be JSON')
  }
}

function refusal({ issues }: z.ZodError): AlmanacError {
  const parameter = String(issues[0]?.path[0] ?? '')
  const accepted = newKeyAccepts[parameter as keyof typeof newKeyAccepts]
  if (accepted !== undefined) return unacceptable(parameter, accepted)
  return new AlmanacError('bad_request', 'The body must be an object with known fields', {
    details: { accepted: Object.keys(newKeyAccepts) },
  })
}

function readExpiry(text: string): number {
  try {
    return parseExpiry(text, Date.now())
  } catch {
    throw unacceptable('expires', `${newKeyAccepts.expires}, and not have passed`)
  }
}

const exampleKey = {
  ...{ id: '1f0c3a9be2d4', name: 'shop', state: 'active', scopes: ['nft-transfers'] },
  ...{ rate_per_second: null, quota_per_day: 100_000, index_per_day: null, used_today: 1_204 },
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: '2027-02-13T12:00:00.000Z',
  revoked_at: null,
}
