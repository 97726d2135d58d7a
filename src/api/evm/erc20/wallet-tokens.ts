// The ERC-20 tokens of a wallet over HTTP. The rules are in `query/erc20/wallet-tokens.ts`.

import type { ChainTable } from '../../../chains.ts'
import { walletTokensMax } from '../../../query/erc20/touched-tokens.ts'
import type { WalletTokensAnswer } from '../../../query/erc20/wallet-tokens.ts'
import { completenessHeaders } from '../../answer.ts'
import {
  chainErrors,
  inPath,
  inQuery,
  inQueryList,
  jsonSuccess,
  nodeErrors,
  walletTokenHeaders,
} from '../../openapi-parts.ts'
import { type Dialect, flagParameter, readParameter, wholeParameter } from '../../params.ts'
import { contractsParameter, readContracts, walletParameter } from '../evm-parameters.ts'
import { exampleToken, tokenFlags } from './token-json.ts'
import { tokenChain, tokenRoute } from './token-route.ts'

function parametersOf(table: ChainTable) {
  return {
    chain: tokenChain(table),
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

export const walletTokens = tokenRoute({
  id: 'getWalletTokenBalances',
  summary: 'Tokens of a wallet',
  description: `What a wallet has of each ERC-20 token that it touched, as the tokens say after the newest block or after \`to_block\`. Use it for the assets of a wallet. Tokens are found in the index, at most ${walletTokensMax} of them and the newest touched first: \`X-Index-Complete\` says whether that is all. With \`token_addresses\` these are asked, and no index is needed. A node of the chain is asked.`,
  parameters: parametersOf,
  documented: ({ chain, toBlock, tokens, excludeSpam }) => [
    inPath(walletParameter),
    inQueryList(tokens),
    ...[chain, toBlock, excludeSpam].map(inQuery),
  ],
  success: jsonSuccess('Erc20Balances', 'The tokens that the wallet has some of.', walletTokenHeaders),
  errors: [...chainErrors, ...nodeErrors],
  everyToken: true,
  // What tokens said is kept where it was read.
  answer: async ({ context, request, query, parameters, chain, dialect, options }) => {
    const wallet = readParameter(walletParameter, request.pathParameter('address'))
    const named = readContracts(query, parameters.tokens)
    const question = {
      ...{ wallet, chain, toBlock: query.optional(parameters.toBlock) },
      tokens: named.length === 0 ? undefined : named,
      excludeSpam: query.optional(parameters.excludeSpam) === true,
    }
    const answer = await context.walletTokens.answer(question, options)
    const lookedAt = answer.lookedAt === undefined ? {} : { 'X-Tokens-Looked-At': `${answer.lookedAt}` }
    return {
      body: JSON.stringify(shown(answer, dialect)),
      headers: { ...completenessHeaders(answer, dialect), ...lookedAt },
    }
  },
})

function shown({ rows }: WalletTokensAnswer, dialect: Dialect) {
  return rows.map(({ token, balance, facts }) => ({
    ...{ token_address: token, name: facts?.name ?? null, symbol: facts?.symbol ?? null },
    ...{ logo: null, thumbnail: null, decimals: facts?.decimals ?? null, balance: `${balance}` },
    ...tokenFlags(facts, dialect),
  }))
}
