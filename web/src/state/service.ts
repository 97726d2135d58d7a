// The service's own operations, typed by its OpenAPI document. Every request carries the key; one that is refused ends the session.
import createClient from 'openapi-fetch'
import type { components, paths } from '../../openapi.gen.ts'
import { endSession, key, keyWorked, refusalOfKey } from './session.ts'

export type Schemas = components['schemas']

export const service = createClient<paths, 'application/json'>({ baseUrl: location.origin })

service.use({
  onRequest({ request }) {
    if (key.value !== undefined) request.headers.set('x-api-key', key.value)
  },
  onResponse({ response }) {
    if (response.status === 401 && key.value !== undefined) endSession(refusalOfKey())
    else if (response.ok) keyWorked()
  },
})

/** What a request that did not succeed has to say. */
export type Problem = {
  message: string
  /** Of the closed list of codes. */
  code: string | undefined
  /** The parameter that was not accepted. */
  parameter: string | undefined
  /** What each parameter must be, where several were not accepted. */
  errors: readonly { parameter: string; accepted: string }[]
  /** In a sentence, which limit of the key was reached. */
  reason: string | undefined
  /** The scope that the key lacks. */
  scope: string | undefined
  /** It was not found, and may be once more is indexed. */
  mayCome: boolean
  /** The chain that was asked for, where the service does not have it. */
  unconfigured: string | undefined
  status: number | undefined
  requestId: string | undefined
  /** The answer as it came. */
  body: unknown
}

export function problemOf(error: unknown, response: Response | undefined): Problem {
  const body = (typeof error === 'object' && error !== null ? error : {}) as Partial<Schemas['Failure']>
  const details = (body.details ?? {}) as {
    parameter?: unknown
    accepted?: unknown
    errors?: Problem['errors']
    reason?: unknown
    scope?: unknown
    index_complete?: unknown
    chain?: unknown
  }
  const { parameter, accepted } = details
  const only = typeof parameter === 'string' && typeof accepted === 'string' ? [{ parameter, accepted }] : ([] as const)
  return {
    code: body.code,
    message: body.message ?? `The service answered ${response?.status} without a reason.`,
    parameter: typeof parameter === 'string' ? parameter : undefined,
    errors: details.errors ?? only,
    reason: typeof details.reason === 'string' ? details.reason : undefined,
    scope: typeof details.scope === 'string' ? details.scope : undefined,
    mayCome: details.index_complete === false,
    unconfigured: body.code === 'chain_not_configured' ? String(details.chain) : undefined,
    status: response?.status,
    requestId: body.request_id,
    body: body.code === undefined ? undefined : error,
  }
}

export const unreachable: Problem = {
  message: 'The service does not answer. Is it still running?',
  code: undefined,
  parameter: undefined,
  errors: [],
  reason: undefined,
  scope: undefined,
  mayCome: false,
  unconfigured: undefined,
  status: undefined,
  requestId: undefined,
  body: undefined,
}
