// Says of an answer without rows, or of a 404, that the chain is not configured: neither waiting nor another address
// would help. Of what was found it changes nothing, and it fails no answer.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { type Answer, headerName } from '../answer.ts'
import type { Context } from '../context.ts'
import type { ApiRequest } from '../request.ts'

/** A header that says why the answer lacks what waiting does not bring: no process indexes the chain. Never fails. */
export async function reasonHeader(context: Context, { query }: ApiRequest, { headers }: Answer) {
  if (headers['X-Index-Complete'] !== 'false') return {}
  const asked = new URLSearchParams(query)
  // A cursor carries the chain, and clients may leave it out then.
  const usual = asked.has('cursor') ? [] : [context.chains.usual.name]
  const named = headers['X-Index-Incomplete-Chains']?.split(', ') ?? asked.getAll('chain').filter(Boolean)
  const why = await whyNotIndexed(context, named.length === 0 ? usual : named)
  return why === undefined ? {} : { 'X-Index-Incomplete-Reason': why }
}

/** Undefined where a process indexes all of them, or none can be asked. */
async function whyNotIndexed({ chains, reportedChains }: Context, named: readonly string[]) {
  const unconfigured = named.flatMap(name => chains.parse(name) ?? []).filter(each => !chains.configured.includes(each))
  if (unconfigured.length === 0) return undefined
  const reported = reportedChains === undefined ? [] : await reportedChains().catch(() => undefined)
  if (reported === undefined) return undefined
  const missing = unconfigured.filter(chain => !reported.includes(chain.name))
  const indexed = chains.all.filter(chain => chains.configured.includes(chain) || reported.includes(chain.name))
  // A service that serves an imported store has none.
  if (missing.length === 0 || indexed.length === 0) return undefined
  const list = (some: readonly Chain[]): string => some.map(headerName).join(', ')
  return `${list(missing)} ${missing.length === 1 ? 'is' : 'are'} not configured here (configured: ${list(indexed)})`
}

export async function explainNotFound(context: Context, { query }: ApiRequest, error: unknown): Promise<never> {
  const chain = new URLSearchParams(query).get('chain')
  if (!(error instanceof AlmanacError && error.code === 'not_found') || chain === null) throw error
  const why = await whyNotIndexed(context, [chain])
  if (why === undefined) throw error
  throw new AlmanacError('not_found', `${error.message}: ${why}`, { details: error.details })
}
