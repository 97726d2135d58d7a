// The contracts of a chain over HTTP. The rules are in `query/lookups/contract-list.ts`.
import { z } from 'zod'
import type { ChainTable } from '../../chains.ts'
import { ledgerId, ledgerNames } from '../../ledgers.ts'
import { ContractList, contractOrders, type ListedContract } from '../../query/lookups/contract-list.ts'
import { jsonAnswer } from '../answer.ts'
import { inPath, inQuery, jsonSuccess } from '../openapi-parts.ts'
import { admitOperator, operatorErrors } from '../operator-routes.ts'
import { chainParameter, choiceParameter, type Parameter, QueryText, readParameter, wholeParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'

const [limitMax, textMax] = [100, 100]

function textParameter(name: string, description: string, example: string): Parameter<string> {
  const read = (text: string) => (text.length > textMax ? undefined : text.trim())
  return { name, read, accepts: `at most ${textMax} characters`, schema: z.string().max(textMax), description, example }
}

function parametersOf(table: ChainTable) {
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id.'),
    ledger: choiceParameter('ledger', ledgerNames, {
      default: 'nft',
      description: '`nft`: contracts of NFTs. `erc20`: ERC-20 tokens, which are not listed by `activity`.',
    }),
    order: choiceParameter('order', contractOrders, {
      default: 'transfers',
      description:
        '`transfers`: those with the most transfers first, as of when each was last judged; new ones last. `activity`: the latest transfer first, which needs the view `by_block`. `address`: by address.',
    }),
    search: textParameter(
      'search',
      'How an address begins, or a part of a name or symbol. Names are found in the order of transfers, among 20,000 contracts a page.',
      'apes',
    ),
    after: textParameter(
      'after',
      'What the answer before gave as `after`. An address lists those after it, by address.',
      '191204-0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
    ),
    limit: wholeParameter('limit', {
      ...{ min: 1, max: limitMax, default: 20, example: 20 },
      description: `How many to list, at most ${limitMax}.`,
    }),
  } satisfies Record<string, Parameter<unknown>>
}

/** `after` in the answer asks for the next ones; null on the last page. */
export const contracts: RouteParts = {
  answer: context => {
    const list = new ContractList(context.store, context.contracts)
    const parameters = parametersOf(context.chains)
    return async request => {
      await admitOperator(context, request)
      const query = new QueryText(request.query)
      const chain = readParameter(parameters.chain, request.pathParameter('chain'))
      const given = query.optional(parameters.after)
      // Before there were orders, an address said after which one to list.
      const usual = given !== undefined && /^0x[0-9a-f]{40}$/i.test(given) ? 'address' : 'transfers'
      const ledger = query.optional(parameters.ledger) ?? 'nft'
      const told = (await context.status()).chains[chain.name]
      const { contracts, after, suggested } = await list.answer({
        chain: ledgerId(chain.id, ledger),
        isOnDemand: (ledger === 'nft' ? told : told?.erc20)?.index === 'on-demand',
        order: query.optional(parameters.order) ?? usual,
        search: query.optional(parameters.search),
        after: given,
        limit: query.optional(parameters.limit) ?? 20,
      })
      return jsonAnswer({
        ...{ chain: chain.name, contracts: contracts.map(shown), after: after ?? null },
        suggested: suggested.map(({ address, label }) => ({ address, label: label ?? null })),
      })
    }
  },
  document: ({ chains }) => {
    const { chain, ...inUrl } = parametersOf(chains)
    return {
      id: 'listContracts',
      summary: 'Contracts of a chain; needs the scope `ops` unless the operator opened it',
      description:
        'The contracts of a chain with stored transfers, with their names and how many transfers each has. A page may hold fewer than `limit` and still name the next one.',
      parameters: [inPath(chain), ...Object.values(inUrl).map(inQuery)],
      answers: { 200: jsonSuccess('ContractList', 'Contracts in the order that was asked for.') },
      errors: ['bad_request', ...operatorErrors, 'not_configured'],
    }
  },
}

function shown({ address, transfers, name, symbol, standard, last, ...more }: ListedContract) {
  return {
    ...{ address, transfers, name: name ?? null, symbol: symbol ?? null, contract_type: standard ?? null },
    ...{ verified_collection: more.verified, possible_spam: more.possibleSpam },
    last_block: last?.block ?? null,
    last_block_timestamp: last === undefined ? null : new Date(last.timestamp * 1_000).toISOString(),
    blocks_left: more.blocksLeft ?? null,
  }
}
