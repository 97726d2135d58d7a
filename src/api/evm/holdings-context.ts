// What operations on who owns what need of the service.
import type { Admission } from '../../keys/gatekeeper.ts'
import type { Completeness, HoldingsOptions, TokenFactsReader } from '../../query/holdings/questions.ts'
import type { Context } from '../context.ts'
import { freshenWaitMsOf } from '../operation.ts'
import type { ApiRequest } from '../request.ts'

/** What one request asks with, and whether all tokens that its answer shows were read. */
export type AskedHoldings = HoldingsOptions & { areTokensRead: () => boolean }

export function holdingsOptions(context: Context, request: ApiRequest, { key }: Admission): AskedHoldings {
  const { freshen, settings, tokenUris } = context
  let areRead = true
  const tokenFacts: TokenFactsReader = async (chain, tokens) => {
    const { details, complete } = await tokenUris.of(chain, tokens)
    areRead &&= complete
    return details
  }
  const freshenWaitMs = freshenWaitMsOf(request, settings)
  return { key, freshen, freshenWaitMs, tokenFacts, areTokensRead: () => areRead }
}

/** An answer that an indexer or a node may complete is not kept: the next request has to ask them again. */
export function mayKeep(
  { freshen }: Context,
  { complete }: Pick<Completeness, 'complete'>,
  { areTokensRead }: AskedHoldings,
): boolean {
  const isIndexed = complete || freshen?.contract === undefined
  return isIndexed && (areTokensRead() || freshen?.tokenUris === undefined)
}
