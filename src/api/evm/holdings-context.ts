// What operations on who owns what need of the service, and how those that are not lists are answered.
import type { Admission } from '../../keys/gatekeeper.ts'
import type { ChainId } from '../../model.ts'
import type { IndexingKey } from '../../query/freshen.ts'
import type { Completeness, HoldingsOptions, TokenFactsReader } from '../../query/holdings/questions.ts'
import { originOf } from '../agents/served-origin.ts'
import { completenessHeaders, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { freshenWaitMsOf, perform } from '../operation.ts'
import { type Dialect, dialectOf } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'
import { type HoldingParameters, holdingParameters } from './holding-parameters.ts'
import type { PictureAt } from './nft-json.ts'

/** What one request asks with, and whether all tokens that its answer shows were read. */
export type AskedHoldings = HoldingsOptions & { areTokensRead: () => boolean }

export function holdingsOptions(context: Context, request: ApiRequest, { key }: Admission): AskedHoldings {
  const { freshen, settings, tokenUris } = context
  let areRead = true
  const tokenFacts: TokenFactsReader = async (chain, tokens) => {
    const { details, complete } = await tokenUris.of(chain, tokens, key)
    areRead &&= complete
    return details
  }
  const freshenWaitMs = freshenWaitMsOf(request, settings)
  return { key, freshen, freshenWaitMs, signal: request.signal, tokenFacts, areTokensRead: () => areRead }
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

/**
 * Where a request finds the pictures of a chain's tokens, which are fetched where they lie on the web. Such an answer
 * is not kept: it says where it was asked.
 */
export function picturesAt(
  { mediaLinks, web }: Context,
  request: ApiRequest,
  { chain, key }: { chain: ChainId; key: IndexingKey },
): PictureAt {
  const origin = originOf(request)
  const payer = { id: key.id, isLimited: key.indexPerDay !== undefined }
  return ({ contract, tokenId }, address, fact) => {
    const isOld = fact === undefined || web?.isOld(fact, Date.now())
    if (address !== undefined && isOld) void web?.fetch(address, { purpose: 'picture', key })
    return origin + mediaLinks.linkTo({ chain, contract, tokenId, ...(address && { payer }) })
  }
}

export type AskedHolding = {
  context: Context
  request: ApiRequest
  parameters: HoldingParameters
  dialect: Dialect
  options: AskedHoldings
}

/** `isTold`: whether a node said what it was asked for. `isOfRequest`: another one could not be answered the same. */
export type HoldingAnswer = Completeness & { shown: unknown; isTold?: boolean; isOfRequest?: boolean }

/** `isKept`: the same request gets the same answer while nothing was committed. */
export function holdingAnswer(
  ask: (asked: AskedHolding) => Promise<HoldingAnswer>,
  { isKept = true, everyContract = false }: { isKept?: boolean; everyContract?: boolean | undefined } = {},
): RouteParts['answer'] {
  return context => {
    const parameters = holdingParameters(context.chains, context.settings.pageSizeMax)
    return request => {
      const dialect = dialectOf(request, context.settings.dialect)
      return perform(context, request, {
        ...{ about: 'indexed', everyContract },
        scope: 'nft-holdings',
        ...(isKept ? { cacheKey: dialect } : {}),
        work: async admission => {
          const options = holdingsOptions(context, request, admission)
          const answer = await ask({ context, request, parameters, dialect, options })
          const body = Buffer.from(JSON.stringify(answer.shown)) as Buffer<ArrayBuffer>
          const ready = readyAnswer({ headers: completenessHeaders(answer, dialect), body })
          const isSame = answer.isTold !== false && answer.isOfRequest !== true
          return { ready, keep: isKept && isSame && mayKeep(context, answer, options) }
        },
      })
    }
  }
}
