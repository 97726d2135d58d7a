// The date to block operation over HTTP. The rules are in `query/lookups/date-to-block.ts`.
import type { ChainTable } from '../../chains.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import { blockAsker, dateToBlock as findBlock, noBlockKnown } from '../../query/lookups/date-to-block.ts'
import { completenessHeaders, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { timestampMax } from '../json-bytes.ts'
import { chainErrors, indexHeaders, inQuery, jsonSuccess } from '../openapi-parts.ts'
import { perform } from '../operation.ts'
import { chainParameter, dateParameter, dialectOf, QueryText, unacceptable } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'

export const dateToBlock: RouteParts = {
  answer: context => {
    const parameters = parametersOf(context.chains)
    return request => {
      const dialect = dialectOf(request, context.settings.dialect)
      return perform(context, request, {
        about: 'indexed',
        scope: 'any',
        cacheKey: dialect,
        work: async admission => {
          const { body, exact } = await answer(context, request, parameters, admission)
          const headers = completenessHeaders({ complete: exact, evidence: undefined }, dialect)
          return { ready: readyAnswer({ headers, body: Buffer.from(body) as Buffer<ArrayBuffer> }), keep: exact }
        },
      })
    }
  },
  document: ({ chains }, version) => {
    const { chain, date } = parametersOf(chains)
    return {
      id: version === 'v2' ? 'getDateToBlock' : 'getDateToBlockV22',
      tag: 'EVM',
      summary: 'Block by date',
      description:
        'The last block at or before a moment, with its hash and its time. Use it to turn a date into a block for other operations. A node is asked where blocks around the moment are not indexed; `X-Index-Complete` is false where there is none.',
      parameters: [inQuery(chain), { ...inQuery(date), required: true }],
      answers: { 200: jsonSuccess('DateToBlock', 'The block, and the date as it was understood.', indexHeaders) },
      errors: [...chainErrors, 'not_found', 'upstream_failed', 'budget_exceeded'],
      failures: [noBlockKnown()],
    }
  },
}

function parametersOf(table: ChainTable) {
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
    date: dateParameter('date', 'The moment. Before the first block it is that one, after the head the head.'),
  }
}

async function answer(
  { store, chains, freshen }: Context,
  request: ApiRequest,
  { chain: chainOf, date }: ReturnType<typeof parametersOf>,
  { key }: Admission,
) {
  const query = new QueryText(request.query)
  const chain = (query.optional(chainOf) ?? chains.usual).id
  const seconds = query.optional(date)
  if (seconds === undefined) throw unacceptable('date', date.accepts)
  const { block, parentHash, exact } = await findBlock(store, { chain, seconds }, blockAsker(freshen?.block, key))
  const body = JSON.stringify({
    date: isoOf(seconds).replace(/\.\d{3}Z$/, '+00:00'),
    block: block.number,
    timestamp: Math.floor(seconds),
    block_timestamp: isoOf(block.timestamp),
    hash: block.hash,
    parent_hash: parentHash ?? null,
  })
  return { body, exact }
}

function isoOf(seconds: number): string {
  return new Date(Math.min(Math.floor(seconds), timestampMax) * 1_000).toISOString()
}
