// What there is to know of ERC-20 tokens over HTTP: what they say of themselves, by address or by symbol, what a
// spender may take, and how many transfers they had. The rules are in `query/erc20/`.
import { z } from 'zod'
import { shownName } from '../../../annotate/shown-facts.ts'
import type { Chain, ChainTable } from '../../../chains.ts'
import { AlmanacError } from '../../../errors.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import { ledgerId } from '../../../ledgers.ts'
import type { Address } from '../../../model.ts'
import { freshLook } from '../../../query/claims.ts'
import { withDescriptions } from '../../../query/erc20/token-facts.ts'
import { told } from '../../../query/erc20/token-owners.ts'
import { whyHeld } from '../../../query/erc20/token-size.ts'
import { completenessHeaders, type ReadyAnswer, readyAnswer, reasonHeaders } from '../../answer.ts'
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
import { freshenWaitMsOf, perform } from '../../operation.ts'
import {
  addressParameter,
  chainParameter,
  type Dialect,
  dialectOf,
  missing,
  type Parameter,
  QueryText,
  readParameter,
  unacceptable,
} from '../../params.ts'
import type { ApiRequest } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import { walletParameter } from '../evm-parameters.ts'
import { exampleToken, formatted, tokenFlags, tokenParameter } from './token-json.ts'

const tokensMax = 25
const symbolLengthMax = 64
/** Of one symbol: imitations of known tokens are many. */
const foundMax = 25
/** Names of NFT contracts and words within names are found too. */
const namesReadMax = 20_000

function parametersOf(table: ChainTable) {
  const spelled = (name: string) => `Written as \`${name}[]=…&${name}[]=…\`, \`${name}[0]=…\` or \`${name}=…,…\`.`
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
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
      description: `From 1 to ${tokensMax} symbols, in any case. ${spelled('symbols')}`,
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

type Asked = { request: ApiRequest; query: QueryText; chain: Chain; dialect: Dialect; admission: Admission }

/** What nodes say is kept where it is read, so that answers need not be kept too. */
function answering(work: (context: Context, asked: Asked) => Promise<ReadyAnswer>): RouteParts['answer'] {
  return context => {
    const { chain: chainOf } = parametersOf(context.chains)
    return request =>
      perform(context, request, {
        ...{ scope: 'erc20', about: 'indexed' },
        work: async admission => {
          const query = new QueryText(request.query)
          const chain = query.optional(chainOf) ?? context.chains.usual
          const dialect = dialectOf(request, context.settings.dialect)
          return { ready: await work(context, { request, query, chain, dialect, admission }), keep: false }
        },
      })
  }
}

function answered(value: unknown, headers: Record<string, string>): ReadyAnswer {
  return readyAnswer({ headers, body: Buffer.from(JSON.stringify(value)) as Buffer<ArrayBuffer> })
}

export const tokenMetadataList: RouteParts = {
  answer: answering(async (context, asked) => {
    const parameter = parametersOf(context.chains).addresses
    const tokens = asked.query.list(parameter)
    if (tokens === undefined) throw missing(parameter.name, acceptedAddresses)
    if (tokens.length > tokensMax) throw unacceptable(parameter.name, acceptedAddresses)
    return await metadataOf(context, asked, tokens)
  }),
  document: ({ chains }, version) => {
    const { addresses, chain } = parametersOf(chains)
    return {
      id: version === 'v2' ? 'getTokenMetadata' : 'getTokenMetadataV22',
      tag: 'EVM',
      summary: 'Metadata of tokens',
      description: `The name, symbol, decimals and supply of up to ${tokensMax} ERC-20 tokens, in the order of the request. Use it to show amounts. A node is asked for the supply, and for what the index does not know; null where a contract does not say it.`,
      parameters: [{ ...inQueryList(addresses), required: true }, inQuery(chain)],
      answers: { 200: jsonSuccess('Erc20Metadata', 'What the tokens say of themselves.', tokenHeaders) },
      errors: chainErrors,
      failures: [missing(addresses.name, acceptedAddresses)],
    }
  },
}

const acceptedAddresses = `1 to ${tokensMax} addresses`
const acceptedSymbols = `1 to ${tokensMax} symbols`

export const tokenMetadataBySymbol: RouteParts = {
  answer: answering(async (context, asked) => {
    const parameter = parametersOf(context.chains).symbols
    const symbols = asked.query.list(parameter)
    if (symbols === undefined) throw missing(parameter.name, acceptedSymbols)
    if (symbols.length > tokensMax) throw unacceptable(parameter.name, acceptedSymbols)
    const found = await Promise.all(symbols.map(symbol => tokensCalled(context, asked.chain, symbol)))
    return await metadataOf(context, asked, [...new Set(found.flat())].slice(0, foundMax))
  }),
  document: ({ chains }, version) => {
    const { symbols, chain } = parametersOf(chains)
    return {
      id: version === 'v2' ? 'getTokenMetadataBySymbol' : 'getTokenMetadataBySymbolV22',
      tag: 'EVM',
      summary: 'Metadata of tokens by symbol',
      description: `The tokens of the index that have one of these symbols, at most ${foundMax}: verified ones first, and possible spam last. A symbol is no name that belongs to anybody: look at the address.`,
      parameters: [{ ...inQueryList(symbols), required: true }, inQuery(chain)],
      answers: { 200: jsonSuccess('Erc20Metadata', 'What the tokens say of themselves.', tokenHeaders) },
      errors: chainErrors,
      failures: [missing(symbols.name, acceptedSymbols)],
    }
  },
}

/** Verified first, possible spam last. */
async function tokensCalled({ store, contracts }: Context, chain: Chain, symbol: string): Promise<Address[]> {
  const ledger = ledgerId(chain.id, 'erc20')
  const wanted = symbol.trim().toLowerCase()
  const { contracts: named } = await store.named({ text: symbol.trim(), limit: 10 * foundMax, readMax: namesReadMax })
  const tokens = named
    .filter(each => each.chain === ledger && shownName(each.symbol)?.toLowerCase() === wanted)
    .map(({ contract }) => contract)
  const facts = await contracts.of(ledger, tokens)
  const rank = (token: Address) => {
    const { verifiedCollection = false, possibleSpam = false } = facts.get(token) ?? {}
    return verifiedCollection ? 0 : possibleSpam ? 2 : 1
  }
  return tokens.toSorted((one, other) => rank(one) - rank(other))
}

async function metadataOf(context: Context, { chain, dialect, admission }: Asked, tokens: readonly Address[]) {
  const { contracts, tokenCalls, freshen, store } = context
  const ledger = ledgerId(chain.id, 'erc20')
  const options = { key: admission.key, freshen }
  const asked = { chain, about: tokens, toBlock: undefined }
  const [known, supplies, labels] = await Promise.all([
    contracts.of(ledger, tokens),
    tokens.length === 0 ? undefined : told(tokenCalls.totalSupplies(asked, tokens, options)),
    store.labelsOf(chain.id, tokens),
  ])
  const facts = await withDescriptions(tokenCalls, asked, tokens, known, options)
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
  return answered(shown, { 'X-Dialect': dialect, ...block })
}

export const allowance: RouteParts = {
  answer: answering(async (context, { request, query, chain, dialect, admission }) => {
    const parameters = parametersOf(context.chains)
    const token = readParameter(tokenParameter, request.pathParameter('address'))
    const owner = required(query, parameters.owner)
    const spender = required(query, parameters.spender)
    const options = { key: admission.key, freshen: context.freshen }
    const asked = { chain, toBlock: undefined, about: [token] }
    const allowed = await context.tokenCalls.allowance(asked, { token, owner, spender }, options)
    if (allowed === undefined) throw tellsNone()
    return answered({ allowance: `${allowed}` }, { 'X-Dialect': dialect })
  }),
  document: ({ chains }, version) => {
    const { owner, spender, chain } = parametersOf(chains)
    return {
      id: version === 'v2' ? 'getTokenAllowance' : 'getTokenAllowanceV22',
      tag: 'EVM',
      summary: 'Allowance of a spender',
      description:
        'How much of one ERC-20 token a spender may take from its owner, in the smallest unit, as the token says after the newest block. A node is asked. 404: nothing there tells an allowance.',
      parameters: [
        inPath(tokenParameter),
        { ...inQuery(owner), required: true },
        { ...inQuery(spender), required: true },
        inQuery(chain),
      ],
      answers: { 200: jsonSuccess('Erc20Allowance', 'In the smallest unit.', tokenHeaders) },
      errors: [...chainErrors, ...nodeErrors, 'not_found'],
      failures: [missing(owner.name, owner.accepts), tellsNone()],
    }
  },
}

function tellsNone(): AlmanacError {
  return new AlmanacError('not_found', 'No contract at this address tells an allowance')
}

function required<Value>(query: QueryText, parameter: Parameter<Value>): Value {
  const value = query.optional(parameter)
  if (value === undefined) throw missing(parameter.name, parameter.accepts)
  return value
}

export const tokenCounts: RouteParts = {
  answer: answering(async (context, { request, chain, dialect, admission }) => {
    const { store, claims, freshen, settings } = context
    const contract = readParameter(tokenParameter, request.pathParameter('address'))
    const ledger = ledgerId(chain.id, 'erc20')
    const look = async () => {
      const { state } = await claims.chain(ledger)
      const block = state?.head.number ?? -1
      const claim = await claims.of(ledger, contract, { from: 0, to: block }, 'by_token')
      return { ...claim, transfers: await store.transferCount({ chain: ledger, contract, toBlock: block }) }
    }
    const options = { key: admission.key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const answer = await freshLook(look, ({ complete }) => complete, { chain: ledger, contract }, options)
    const why = answer.complete ? undefined : await whyHeld(store, { ledger, contract })
    const headers = { ...completenessHeaders(answer, dialect), ...reasonHeaders(why) }
    return answered({ transfers: { total: `${answer.transfers}` } }, headers)
  }),
  document: ({ chains }, version) => ({
    id: version === 'v2' ? 'getTokenStats' : 'getTokenStatsV22',
    tag: 'EVM',
    summary: 'Token stats',
    description: `How many transfers one ERC-20 token had. Use it instead of counting a list. ${onDemandTokens}`,
    parameters: [inPath(tokenParameter), inQuery(parametersOf(chains).chain)],
    answers: { 200: jsonSuccess('Erc20Stats', 'The count as a text.', stateHeaders) },
    errors: chainErrors,
  }),
}
