// Says of an answer without rows, or of a 404, that the chain is not configured: neither waiting nor another address
// would help. It changes no body.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { type Answer, headerName } from '../answer.ts'
import type { Context } from '../context.ts'
import type { ApiRequest } from '../request.ts'

/** Adds why the answer lacks what waiting does not bring: no process indexes the chain. */
export async function withReason(context: Context, { query }: ApiRequest, answer: Answer): Promise<Answer> {
  const { headers } = answer
  if (headers['X-Index-Complete'] !== 'false') return answer
  const asked = new URLSearchParams(query)
  // A cursor carries the chain, and clients may leave it out then.
  const usual = asked.has('cursor') ? [] : [context.chains.all[0]!.name]
  const named = headers['X-Index-Incomplete-Chains']?.split(', ') ?? asked.getAll('chain').filter(Boolean)
  const why = await whyNotIndexed(context, named.length === 0 ? usual : named)
  return why === undefined ? answer : { ...answer, headers: { ...headers, 'X-Index-Incomplete-Reason': why } }
}

/** Undefined where a process indexes all of them. */
async function whyNotIndexed({ chains, reportedChains }: Context, named: readonly string[]) {
  const reported = (await reportedChains?.()) ?? []
  const isIndexed = (chain: Chain): boolean => chains.configured.includes(chain) || reported.includes(chain.name)
  const indexed = chains.all.filter(isIndexed)
  const missing = named.flatMap(name => chains.parse(name) ?? []).filter(chain => !isIndexed(chain))
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
