// What operations on who owns what need of the service.
import { AlmanacError } from '../../errors.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import type { HoldingsOptions, HoldingsQueries, TokenFactsReader } from '../../query/holdings/questions.ts'
import type { Context } from '../context.ts'
import { freshenWaitMsOf } from '../operation.ts'
import type { ApiRequest } from '../request.ts'

export function holdingsOf({ holdings }: Context): HoldingsQueries {
  if (holdings !== undefined) return holdings
  throw new AlmanacError('not_configured', 'This store keeps no indexes of transfers, which say who owns what.')
}

export function holdingsOptions(context: Context, request: ApiRequest, { key }: Admission): HoldingsOptions {
  const { freshen, settings, tokenUris } = context
  const tokenFacts: TokenFactsReader = async (chain, tokens) => (await tokenUris.of(chain, tokens)).details
  return { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings), tokenFacts }
}
