// The ERC-20 tokens of a wallet over HTTP. The rules are in `query/erc20/wallet-tokens.ts`.
import type { ChainTable } from '../../../chains.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import { WalletTokens, type WalletTokensAnswer, walletTokensMax } from '../../../query/erc20/wallet-tokens.ts'
import { completenessHeaders, readyAnswer } from '../../answer.ts'
import type { Context } from '../../context.ts'
import {
  chainErrors,
  inPath,
  inQuery,
  inQueryList,
  jsonSuccess,
  nodeErrors,
  walletTokenHeaders,
} from '../../openapi-parts.ts'
import { freshenWaitMsOf, perform } from '../../operation.ts'
import {
  chainParameter,
  type Dialect,
  dialectOf,
  flagParameter,
  QueryText,
  readParameter,
  wholeParameter,
} from '../../params.ts'
import type { ApiRequest } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import { contractsParameter, readContracts, walletParameter } from '../evm-parameters.ts'
import { exampleToken, tokenFlags } from './token-json.ts'

function parametersOf(table: ChainTable) {
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
    toBlock: wholeParameter('to_block', {
      min: 0,
      description:
        'Block after which the tokens are asked. Defaults to the head of the index. Old blocks take an archive node.',
      example: 16_220_260,
    }),
    tokens: {
      ...contractsParameter('token_addresses', 'Balances of these tokens alone, whether they are indexed or not.'),
      example: [exampleToken],
    },
    excludeSpam: flagParameter('exclude_spam', 'Leaves possible spam out.'),
  }
}

export const walletTokens: RouteParts = {
  answer: context => {
    const { store, claims, contracts, tokenCalls: calls, holdingsAdmission: admission } = context
    const tokens = new WalletTokens({ indexes: store.indexes, claims, contracts, calls, admission })
    return request => {
      const dialect = dialectOf(request, context.settings.dialect)
      return perform(context, request, {
        ...{ scope: 'erc20', about: 'indexed', everyContract: 'tokens' },
        work: async admission => {
          const answer = await answerOf(context, tokens, request, admission)
          const headers = {
            ...completenessHeaders(answer, dialect),
            ...(answer.lookedAt === undefined ? {} : { 'X-Tokens-Looked-At': `${answer.lookedAt}` }),
          }
          const body = Buffer.from(JSON.stringify(shown(answer, dialect))) as Buffer<ArrayBuffer>
          // What tokens said is kept where it was read.
          return { ready: readyAnswer({ headers, body }), keep: false }
        },
      })
    }
  },
  document: ({ chains }, version) => {
    const { chain, toBlock, tokens, excludeSpam } = parametersOf(chains)
    return {
      id: version === 'v2' ? 'getWalletTokenBalances' : 'getWalletTokenBalancesV22',
      tag: 'EVM',
      summary: 'Tokens of a wallet',
      description: `What a wallet has of each ERC-20 token that it touched, as the tokens say after the newest block or after \`to_block\`. Use it for the assets of a wallet. Tokens are found in the index, at most ${walletTokensMax} of them and the newest touched first: \`X-Index-Complete\` says whether that is all. With \`token_addresses\` these are asked, and no index is needed. A node of the chain is asked.`,
      parameters: [
        inPath(walletParameter),
        inQueryList(tokens),
        inQuery(chain),
        inQuery(toBlock),
        inQuery(excludeSpam),
      ],
      answers: { 200: jsonSuccess('Erc20Balances', 'The tokens that the wallet has some of.', walletTokenHeaders) },
      errors: [...chainErrors, ...nodeErrors],
    }
  },
}

async function answerOf(
  { chains, freshen, settings }: Context,
  tokens: WalletTokens,
  request: ApiRequest,
  { key }: Admission,
): Promise<WalletTokensAnswer> {
  const parameters = parametersOf(chains)
  const query = new QueryText(request.query)
  const wallet = readParameter(walletParameter, request.pathParameter('address'))
  const named = readContracts(query, parameters.tokens)
  const question = {
    ...{ wallet, chain: query.optional(parameters.chain) ?? chains.usual, toBlock: query.optional(parameters.toBlock) },
    tokens: named.length === 0 ? undefined : named,
    excludeSpam: query.optional(parameters.excludeSpam) === true,
  }
  const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings), signal: request.signal }
  return await tokens.answer(question, options)
}

function shown({ rows }: WalletTokensAnswer, dialect: Dialect) {
  return rows.map(({ token, balance, facts }) => ({
    ...{ token_address: token, name: facts?.name ?? null, symbol: facts?.symbol ?? null },
    ...{ logo: null, thumbnail: null, decimals: facts?.decimals ?? null, balance: `${balance}` },
    ...tokenFlags(facts, dialect),
  }))
}
