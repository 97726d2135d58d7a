// Says that a chain is not configured: neither waiting nor another address would help. It is a 404 where nothing of the
// chain is stored, unless the wire contract has the operation answer it; of what was found it changes nothing.
import { type Chain, namedChain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Ledger } from '../../ledgers.ts'
import type { ChainStatus } from '../../status.ts'
import { type Answer, headerName, reasonHeaders } from '../answer.ts'
import type { Context } from '../context.ts'
import type { ApiRequest } from '../request.ts'
import type { AboutChains } from './head-ages.ts'

/**
 * A header that says why the answer lacks what waiting does not bring: no process indexes the chain, or only contracts
 * that are asked for while the answer is of `everyContract`. Never fails.
 */
export async function reasonHeader(
  context: Context,
  { query }: ApiRequest,
  { headers }: Pick<Answer, 'headers'>,
  everyContract: boolean | 'tokens',
) {
  if (headers['X-Index-Complete'] !== 'false') return {}
  const asked = new URLSearchParams(query)
  // A cursor carries the chain, and clients may leave it out then.
  const usual = asked.get('cursor') ? [] : [context.chains.usual.name]
  const named = headers['X-Index-Incomplete-Chains']?.split(', ') ?? asked.getAll('chain').filter(Boolean)
  const chains = named.length === 0 ? usual : named
  const onDemand = () => whyOnDemand(context, chains, everyContract === 'tokens' ? 'erc20' : 'nft')
  const why = (await whyNotIndexed(context, chains)) ?? (everyContract === false ? undefined : await onDemand())
  return reasonHeaders(why)
}

/**
 * Fails for a known chain that no process indexes and of which nothing is stored, and for one that only a configuration
 * can name.
 */
export async function requireConfigured(
  context: Context,
  request: Pick<ApiRequest, 'query'>,
  about: AboutChains | undefined,
) {
  const { chains, store } = context
  if (about !== 'indexed') return
  const asked = new URLSearchParams(request.query)
  // A cursor carries the chain: there was something of it.
  const named = asked.get('chain') || (asked.get('cursor') ? '' : chains.usual.name)
  const accepted = chains.parse(named)
  const chain = accepted ?? namedChain(named)
  if (chain === undefined || chains.configured.includes(chain)) return
  const indexed = await indexedChains(context)
  const isAnswered = async () =>
    indexed.length === 0 || indexed.includes(chain) || (await store.chainState(chain.id)) !== undefined
  if (accepted !== undefined && (await isAnswered())) return
  const details = { parameter: 'chain', chain: chain.name, configured: indexed.map(({ name }) => name) }
  throw new AlmanacError('chain_not_configured', whyText([chain], indexed), { details })
}

/** By this process or another one. None where they cannot be asked, and where the service serves an imported store. */
async function indexedChains({ chains, reportedChains }: Context): Promise<Chain[]> {
  const reported = reportedChains === undefined ? [] : await reportedChains().catch(() => undefined)
  if (reported === undefined) return []
  return chains.all.filter(chain => chains.configured.includes(chain) || reported.includes(chain.name))
}

/** Undefined where a process indexes all of them, or none can be asked. */
async function whyNotIndexed(context: Context, named: readonly string[]) {
  const { chains } = context
  const unconfigured = named.flatMap(name => chains.parse(name) ?? []).filter(each => !chains.configured.includes(each))
  if (unconfigured.length === 0) return undefined
  const indexed = await indexedChains(context)
  const missing = unconfigured.filter(chain => !indexed.includes(chain))
  return missing.length === 0 || indexed.length === 0 ? undefined : whyText(missing, indexed)
}

/** A wallet or a block may have transfers of contracts that were never requested. */
async function whyOnDemand({ chains, indexModes }: Context, named: readonly string[], ledger: Ledger) {
  const modes = await indexModes().catch(() => undefined)
  // Where no token was requested yet, nothing is reported of them.
  const isOnDemand = (mode: ChainStatus['index']) => (ledger === 'erc20' ? mode !== 'full' : mode === 'on-demand')
  const onDemand = named
    .flatMap(name => chains.parse(name) ?? [])
    .filter(each => isOnDemand(modes?.[each.name]?.[ledger]))
  if (onDemand.length === 0) return undefined
  const list = onDemand.map(headerName).join(', ')
  return ledger === 'erc20'
    ? `ERC-20 tokens of ${list} are indexed on demand: only tokens that were requested are in the answer`
    : `${list} ${onDemand.length === 1 ? 'is' : 'are'} indexed on demand: only contracts that were requested are in the answer`
}

function whyText(missing: readonly Chain[], indexed: readonly Chain[]): string {
  const list = (some: readonly Chain[]): string => some.map(headerName).join(', ')
  const configured = indexed.length === 0 ? '' : ` (configured: ${list(indexed)})`
  return `${list(missing)} ${missing.length === 1 ? 'is' : 'are'} not configured here${configured}`
}

export async function explainNotFound(context: Context, { query }: ApiRequest, error: unknown): Promise<never> {
  const chain = new URLSearchParams(query).get('chain')
  if (!(error instanceof AlmanacError && error.code === 'not_found') || chain === null) throw error
  const why = await whyNotIndexed(context, [chain])
  if (why === undefined) throw error
  throw new AlmanacError('not_found', `${error.message}: ${why}`, { details: error.details })
}
