// What there is to know of ERC-20 tokens over HTTP: what they say of themselves, by address or by symbol, what a
// spender may take, and how many transfers they had. The rules are in `query/erc20/`.

import { z } from 'zod'
import type { Chain, ChainTable } from '../../../chains.ts'
import { AlmanacError } from '../../../errors.ts'
import { ledgerId } from '../../../ledgers.ts'
import type { Address } from '../../../model.ts'
import { freshLook } from '../../../query/claims.ts'
import { told } from '../../../query/erc20/token-owners.ts'
import { whyHeld } from '../../../query/erc20/token-size.ts'
import { completenessHeaders, reasonHeaders } from '../../answer.ts'
import type { Context } from '../../context.ts'
import {
  chainErrors,
  inPath,
  inQuery,
  inQueryList,
  jsonSuccess,
  nodeErrors,
  onDemandTokens,
  stateHeaders,
  tokenHeaders,
} from '../../openapi-parts.ts'
import { addressParameter, missing, type Parameter, type QueryText, readParameter, unacceptable } from '../../params.ts'
import { walletParameter } from '../evm-parameters.ts'
import { exampleToken, formatted, tokenFlags, tokenParameter } from './token-json.ts'
import { required, type TokenAsked, type Told, tokenChain, tokenRoute } from './token-route.ts'

const tokensMax = 25
const symbolLengthMax = 64
/** Of one symbol: imitations of known tokens are many. */
const foundMax = 25
/** Of one symbol: the busiest are looked at, of which some are known to be spam. */
const lookedAtMax = 10 * foundMax

function parametersOf(table: ChainTable) {
  const spelled = (name: string) => `Written as \`${name}[]=…&${name}[]=…\`, \`${name}[0]=…\` or \`${name}=…,…\`.`
  return {
    chain: tokenChain(table),
    addresses: {
      ...addressParameter(`Addresses of 1 to ${tokensMax} tokens. ${spelled('addresses')}`, exampleToken),
      name: 'addresses',
      refusal: 'addresses has an address that is not a valid hex address',
      example: [exampleToken],
    },
    symbols: {
      name: 'symbols',
      read: text => (text.length <= symbolLengthMax ? text : undefined),
      accepts: `a text of at most ${symbolLengthMax} characters`,
      schema: z.string().max(symbolLengthMax),
      description: `From 1 to ${tokensMax} symbols; upper and lower case are the same. ${spelled('symbols')}`,
      example: ['LINK'],
    } satisfies Parameter<string>,
    owner: {
      ...addressParameter('Who owns the tokens.', walletParameter.example),
      name: 'owner_address',
      refusal: 'owner_address is not a valid hex address',
    },
    spender: {
      ...addressParameter('Who may take them.', '0x1111111254eeb25477b68fb85ed929f73a960582'),
      name: 'spender_address',
      refusal: 'spender_address is not a valid hex address',
    },
  }
}

type Asked = TokenAsked<ReturnType<typeof parametersOf>>

const acceptedAddresses = `1 to ${tokensMax} addresses`
const acceptedSymbols = `1 to ${tokensMax} symbols`

/** From 1 to as many as one request may name. */
function listed<Value>(query: QueryText, parameter: Parameter<Value>, accepted: string): Value[] {
  const values = query.list(parameter)
  if (values === undefined) throw missing(parameter.name, accepted)
  if (values.length > tokensMax) throw unacceptable(parameter.name, accepted)
  return values
}

export const tokenMetadataList = tokenRoute({
  id: 'getTokenMetadata',
  summary: 'Metadata of tokens',
  description: `The name, symbol, decimals and supply of up to ${tokensMax} ERC-20 tokens, in the order of the request. Use it to show amounts. A node is asked for the supply, and for what the index does not know; null where a contract does not say it.`,
  parameters: parametersOf,
  documented: ({ addresses, chain }) => [{ ...inQueryList(addresses), required: true }, inQuery(chain)],
  success: jsonSuccess('Erc20Metadata', 'What the tokens say of themselves.', tokenHeaders),
  errors: chainErrors,
  failures: ({ addresses }) => [missing(addresses.name, acceptedAddresses)],
  answer: asked => metadataOf(asked, listed(asked.query, asked.parameters.addresses, acceptedAddresses)),
})

export const tokenMetadataBySymbol = tokenRoute({
  id: 'getTokenMetadataBySymbol',
  summary: 'Metadata of tokens by symbol',
  description: `The tokens of the index that have one of these symbols, at most ${foundMax}: verified ones first, then those with the most transfers, and possible spam last. Any contract may take any symbol: know a token by its address.`,
  parameters: parametersOf,
  documented: ({ symbols, chain }) => [{ ...inQueryList(symbols), required: true }, inQuery(chain)],
  success: jsonSuccess('Erc20Metadata', 'What the tokens say of themselves.', tokenHeaders),
  errors: chainErrors,
  failures: ({ symbols }) => [missing(symbols.name, acceptedSymbols)],
  answer: async asked => {
    const symbols = listed(asked.query, asked.parameters.symbols, acceptedSymbols)
    const found = await Promise.all(symbols.map(symbol => tokensCalled(asked.context, asked.chain, symbol)))
    return await metadataOf(asked, [...new Set(found.flat())].slice(0, foundMax))
  },
})

/** Verified first, possible spam last. */
async function tokensCalled({ store, contracts }: Context, chain: Chain, symbol: string): Promise<Address[]> {
  const ledger = ledgerId(chain.id, 'erc20')
  const ranked = await store.rankedContracts(ledger, undefined, lookedAtMax, symbol.trim())
  const tokens = ranked.map(({ contract }) => contract)
  const facts = await contracts.of(ledger, tokens)
  const rank = (token: Address) => {
    const { verifiedCollection = false, possibleSpam = false } = facts.get(token) ?? {}
    return verifiedCollection ? 0 : possibleSpam ? 2 : 1
  }
  return tokens.toSorted((one, other) => rank(one) - rank(other))
}

async function metadataOf({ context, chain, dialect, options }: Asked, tokens: readonly Address[]): Promise<Told> {
  const { tokenFacts, tokenCalls, store } = context
  const asked = { chain, about: tokens, toBlock: undefined }
  const [supplies, labels] = await Promise.all([
    tokens.length === 0 ? undefined : told(tokenCalls.totalSupplies(asked, tokens, options)),
    store.labelsOf(chain.id, tokens),
  ])
  const facts = await tokenFacts.of(asked, tokens, options)
  const shown = tokens.map((address, at) => {
    const { name = null, symbol = null, decimals } = facts.get(address) ?? {}
    const supply = supplies?.values[at]
    return {
      ...{ address, address_label: labels.get(address) ?? null, name, symbol },
      decimals: decimals === undefined ? null : `${decimals}`,
      ...{ logo: null, logo_hash: null, thumbnail: null },
      total_supply: supply === undefined ? null : `${supply}`,
      total_supply_formatted: formatted(supply, decimals),
      ...{ fully_diluted_valuation: null, market_cap: null, circulating_supply: null },
      ...{ block_number: null, validated: null, created_at: null },
      ...tokenFlags(facts.get(address), dialect),
      ...{ categories: [], links: {} },
    }
  })
  const block = supplies === undefined ? {} : { 'X-Block-Number': `${supplies.block}` }
  return { body: JSON.stringify(shown), headers: { 'X-Dialect': dialect, ...block } }
}

export const allowance = tokenRoute({
  id: 'getTokenAllowance',
  summary: 'Allowance of a spender',
  description:
    'How much of one ERC-20 token a spender may take from its owner, in the smallest unit, as the token says after the newest block. A node is asked. 404: no contract at the address answers `allowance`.',
  parameters: parametersOf,
  documented: ({ owner, spender, chain }) => [
    inPath(tokenParameter),
    { ...inQuery(owner), required: true },
    { ...inQuery(spender), required: true },
    inQuery(chain),
  ],
  success: jsonSuccess('Erc20Allowance', 'In the smallest unit.', tokenHeaders),
  errors: [...chainErrors, ...nodeErrors, 'not_found'],
  failures: ({ owner }) => [missing(owner.name, owner.accepts), tellsNone()],
  answer: async ({ context, request, query, parameters, chain, dialect, options }) => {
    const token = readParameter(tokenParameter, request.pathParameter('address'))
    const [owner, spender] = [required(query, parameters.owner), required(query, parameters.spender)]
    const asked = { chain, toBlock: undefined, about: [token] }
    const allowed = await context.tokenCalls.allowance(asked, { token, owner, spender }, options)
    if (allowed === undefined) throw tellsNone()
    return { body: JSON.stringify({ allowance: `${allowed}` }), headers: { 'X-Dialect': dialect } }
  },
})

function tellsNone(): AlmanacError {
  return new AlmanacError('not_found', 'No contract at this address answers allowance()')
}

export const tokenCounts = tokenRoute({
  id: 'getTokenStats',
  summary: 'Token stats',
  description: `How many transfers one ERC-20 token had. Use it instead of counting a list. ${onDemandTokens}`,
  parameters: parametersOf,
  documented: ({ chain }) => [inPath(tokenParameter), inQuery(chain)],
  success: jsonSuccess('Erc20Stats', 'The count as a text.', stateHeaders),
  errors: chainErrors,
  answer: async ({ context, request, chain, dialect, options }) => {
    const { store, claims } = context
    const contract = readParameter(tokenParameter, request.pathParameter('address'))
    const ledger = ledgerId(chain.id, 'erc20')
    const look = async () => {
      const { state } = await claims.chain(ledger)
      const block = state?.head.number ?? -1
      const claim = await claims.of(ledger, contract, { from: 0, to: block }, 'by_token')
      return { ...claim, transfers: await store.transferCount({ chain: ledger, contract, toBlock: block }) }
    }
    const answer = await freshLook(look, ({ complete }) => complete, { chain: ledger, contract }, options)
    const why = answer.complete ? undefined : await whyHeld(store, { ledger, contract })
    return {
      body: JSON.stringify({ transfers: { total: `${answer.transfers}` } }),
      headers: { ...completenessHeaders(answer, dialect), ...reasonHeaders(why) },
    }
  },
})
