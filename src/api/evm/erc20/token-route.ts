// The shape of every operation on ERC-20 over HTTP: what all of them read of a request, how they are admitted, answered
// and documented. No rules.
import type { Chain, ChainTable } from '../../../chains.ts'
import type { AlmanacError, ErrorCode } from '../../../errors.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import { readyAnswer } from '../../answer.ts'
import type { Context } from '../../context.ts'
import type { Json } from '../../openapi-parts.ts'
import { perform } from '../../operation.ts'
import { chainParameter, type Dialect, dialectOf, missing, type Parameter, QueryText } from '../../params.ts'
import type { ApiRequest, ApiVersion } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import type { ListStream } from '../../streams/list-stream.ts'
import { type AskedHoldings, holdingsOptions } from '../holdings-context.ts'

export type TokenAsked<Parameters> = {
  context: Context
  request: ApiRequest
  query: QueryText
  parameters: Parameters
  /** As the query names it: beside a cursor it may be left out. */
  named: Chain | undefined
  /** That, or the usual one. */
  chain: Chain
  dialect: Dialect
  options: AskedHoldings
}

/** `keep`: nobody may say more of it until something is committed. */
export type Told = { body: string; headers: Record<string, string>; keep?: boolean }

export type TokenRoute<Parameters> = {
  id: string
  summary: string
  description: string
  parameters: (table: ChainTable, pageSizeMax: number) => Parameters
  documented: (parameters: Parameters, version: ApiVersion) => Json[]
  success: Json
  errors: readonly ErrorCode[]
  failures?: (parameters: Parameters) => AlmanacError[]
  /** The answer is of all tokens. */
  everyToken?: true
  answer: (asked: TokenAsked<Parameters>) => Promise<Told>
  whole?: (asked: TokenAsked<Parameters>) => Promise<ListStream>
}

export function tokenRoute<Parameters extends { chain: Parameter<Chain> }>(route: TokenRoute<Parameters>): RouteParts {
  const { id, summary, description, everyToken, whole } = route
  return {
    answer: context => {
      const parameters = route.parameters(context.chains, context.settings.pageSizeMax)
      const askedOf = (request: ApiRequest, dialect: Dialect, admission: Admission): TokenAsked<Parameters> => {
        const query = new QueryText(request.query)
        const named = query.optional(parameters.chain)
        const options = holdingsOptions(context, request, admission)
        return { context, request, query, parameters, named, chain: named ?? context.chains.usual, dialect, options }
      }
      return request => {
        const dialect = dialectOf(request, context.settings.dialect)
        return perform(context, request, {
          ...{ scope: 'erc20', about: 'indexed', cacheKey: dialect },
          ...(everyToken ? { everyContract: 'tokens' } : {}),
          work: async admission => {
            const { body, headers, keep = false } = await route.answer(askedOf(request, dialect, admission))
            return { ready: readyAnswer({ headers, body: Buffer.from(body) as Buffer<ArrayBuffer> }), keep }
          },
          ...(whole && { whole: admission => whole(askedOf(request, dialect, admission)) }),
        })
      }
    },
    document: ({ chains, pageSizeMax }, version) => {
      const parameters = route.parameters(chains, pageSizeMax)
      return {
        ...{ id: version === 'v2' ? id : `${id}V22`, tag: 'EVM', summary, description },
        parameters: route.documented(parameters, version),
        answers: { 200: route.success },
        errors: [...route.errors],
        ...(route.failures && { failures: route.failures(parameters) }),
      }
    },
  }
}

/** Of operations that take no other parameter that lists share. */
export function tokenChain(table: ChainTable) {
  return chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.')
}

export function required<Value>(query: QueryText, parameter: Parameter<Value>): Value {
  const value = query.optional(parameter)
  if (value === undefined) throw missing(parameter.name, parameter.accepts)
  return value
}
