// The routes that list, issue and revoke keys. They always need a key with the scope `ops`, and no key can give more than it has.
import type { z } from 'zod'
import { AlmanacError } from '../errors.ts'
import { checkGrant, issueKey, listKeys, type NewKey, parseExpiry, type ShownKey, showKey } from '../keys/keys.ts'
import type { KeyRecord } from '../store/key-store.ts'
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Workplace } from './operation.ts'
import { newKey, newKeyAccepts } from './operator-schemas.ts'

const headers = { 'Cache-Control': 'no-store', ...safetyHeaders }
const bodyBytesMax = 4_096

export async function answerKeys(place: Workplace, exchange: Exchange): Promise<Answer> {
  await admit(place, exchange)
  return jsonAnswer({ keys: await listKeys(place.store) }, headers)
}

export async function answerNewKey(place: Workplace, exchange: Exchange): Promise<Answer> {
  const giver = await admit(place, exchange)
  const wanted = readNewKey(await exchange.readBody(bodyBytesMax))
  checkGrant(giver, wanted)
  const { key, secret } = await issueKey(place.store, wanted)
  place.log.info({ key: key.id, scopes: key.scopes, by: giver.id }, 'A key was issued')
  return { ...jsonAnswer({ ...showKey(key, 0), secret }, headers), status: 201 }
}

export async function answerRevocation(place: Workplace, exchange: Exchange): Promise<Answer> {
  const revoker = await admit(place, exchange)
  const id = exchange.pathParameter('id')
  const keys = await listKeys(place.store)
  const found = keys.find(key => key.id === id)
  if (found === undefined) throw new AlmanacError('not_found', 'There is no key with this id')
  if (found.state === 'revoked') return jsonAnswer(found, headers)
  if (isLastOfOperators(found, keys))
    throw new AlmanacError(
      'forbidden',
      'This is the last key with the scope ops: make another one first, or revoke it with the command keys revoke',
    )
  await place.store.revokeKey(id, Date.now())
  place.log.info({ key: id, by: revoker.id }, 'A key was revoked')
  return jsonAnswer(
    (await listKeys(place.store)).find(key => key.id === id),
    headers,
  )
}

/** Without it nobody could list, issue or revoke keys here any more. */
function isLastOfOperators(revoked: ShownKey, keys: readonly ShownKey[]): boolean {
  const operators = keys.filter(({ state, scopes }) => state === 'active' && scopes.includes('ops'))
  return operators.length === 1 && operators[0]!.id === revoked.id
}

async function admit({ gatekeeper }: Workplace, exchange: Exchange): Promise<KeyRecord> {
  const { key, rateLimit } = await gatekeeper.admit(exchange.header('x-api-key'), 'ops')
  exchange.rateLimit = rateLimit
  return key
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

function unacceptable(parameter: string, accepted: string): AlmanacError {
  return new AlmanacError('bad_request', `${parameter} must be ${accepted}`, { details: { parameter, accepted } })
}
