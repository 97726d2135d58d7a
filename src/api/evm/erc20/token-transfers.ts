// The lists of transfers of ERC-20 over HTTP: of a token, and of a wallet. The rules are those of NFT transfers
// (`query/nft-transfers.ts`, `query/index-transfers.ts`), on the ledger of tokens.

import type { ChainTable } from '../../../chains.ts'
import { ledgerId, ledgerOf } from '../../../ledgers.ts'
import type { Address } from '../../../model.ts'
import { firstPage, type ListName, type PageCursor } from '../../../query/cursor.ts'
import { whyHeld } from '../../../query/erc20/token-size.ts'
import type { FreshenOptions } from '../../../query/freshen.ts'
import { IndexTransfers, type MixedTransfers } from '../../../query/index-transfers.ts'
import { NftTransfers, type TransfersAnswer, type TransfersPage } from '../../../query/nft-transfers.ts'
import type { WholeTransfers } from '../../../query/transfer-list.ts'
import { carriedSubject, walletFilterOf } from '../../../query/transfer-subject.ts'
import { completenessHeaders, reasonHeaders } from '../../answer.ts'
import type { Context } from '../../context.ts'
import { chainListErrors, inPath, inQuery, inQueryList, listSuccess, onDemandTokens } from '../../openapi-parts.ts'
import { readParameter } from '../../params.ts'
import type { RouteParts } from '../../responder.ts'
import { linesOf } from '../../streams/list-stream.ts'
import { pageAsked } from '../cursor-parameter.ts'
import { contractsParameter, readContracts, walletParameter } from '../evm-parameters.ts'
import { deprecationHeaders, envelopeText } from '../list-envelope.ts'
import { askedBounds, transferParameters } from '../nft-transfers.ts'
import {
  exampleToken,
  linesOfRecords,
  type TransferRows,
  tokenParameter,
  transferColumns,
  transferRecords,
} from './token-json.ts'
import { type TokenAsked, type Told, tokenRoute } from './token-route.ts'

function parametersOf(table: ChainTable, pageSizeMax: number) {
  const { address: _, format: __, ...shared } = transferParameters(table, pageSizeMax)
  return {
    ...shared,
    token: tokenParameter,
    wallet: walletParameter,
    contracts: {
      ...contractsParameter('contract_addresses', 'Transfers of these tokens alone.'),
      example: [exampleToken],
    },
  }
}

type Asked = TokenAsked<ReturnType<typeof parametersOf>>
type Answer = Omit<TransfersAnswer, 'question' | 'facts' | 'rows'> & Shown
/** Rows as they are shown, of one token or of several. */
type Shown = Omit<TransferRows, 'dialect'>
type Question = PageCursor & { about: Address; contracts: readonly Address[] }

/** What tells the lists apart. `about`: the address of the path. */
type List = {
  list: ListName
  about: 'token' | 'wallet'
  id: string
  summary: string
  description: string
  page: (context: Context, question: Question, options: FreshenOptions) => Promise<Answer>
  whole: (context: Context, question: Question, options: FreshenOptions) => Promise<WholeTransfers<Shown>>
}

const shownOfToken = ({ rows, labels, facts }: TransfersPage, token: Address): Shown => {
  return { rows, labels, tokenOf: () => token, factsOf: () => facts }
}

export const erc20Transfers = listRoute({
  ...{ list: 'erc20-transfers', about: 'token', id: 'getTokenTransfers', summary: 'ERC-20 transfers of a token' },
  description: `Every transfer of one ERC-20 token, newest first, mints and burns included. Use it for the history of a token, whole or within blocks or dates. ${onDemandTokens}`,
  page: async (context, { about, ...question }, options) => {
    const transfers = new NftTransfers(context.store, context)
    const { question: _, ...answer } = await transfers.answer({ ...question, contract: about }, options)
    return { ...answer, ...shownOfToken(answer, about) }
  },
  whole: async (context, { about, ...question }, options) => {
    const transfers = new NftTransfers(context.store, context)
    const { pages, ...list } = await transfers.whole({ ...question, contract: about }, options)
    return { ...list, pages: eachOf(pages, page => shownOfToken(page, about)) }
  },
})

const ofWallet = ({ about, contracts: named, ...question }: Question) => ({
  ...question,
  of: { list: 'wallet-transfers', wallet: about, direction: 'both', contracts: named } as const,
})
const shownOfWallet = ({ rows, labels, facts }: MixedTransfers): Shown => {
  return { rows, labels, tokenOf: row => rows.contracts[row]!, factsOf: token => facts.get(token) }
}

export const walletErc20Transfers = listRoute({
  ...{ list: 'wallet-erc20-transfers', about: 'wallet', id: 'getWalletTokenTransfers' },
  summary: 'ERC-20 transfers of a wallet',
  description:
    'ERC-20 transfers to and from one wallet, of all tokens that are indexed, newest first. Use it for the activity of a wallet; with `contract_addresses` it is complete once these tokens are indexed. A transfer from the wallet to itself is listed once. Transfers of the zero address are not kept by wallet.',
  page: async (context, question, options) => {
    const { question: _, ...answer } = await new IndexTransfers(context.store, context).answer(
      ofWallet(question),
      options,
    )
    return { ...answer, ...shownOfWallet(answer) }
  },
  whole: async (context, question, options) => {
    const { pages, ...list } = await new IndexTransfers(context.store, context).whole(ofWallet(question), options)
    return { ...list, pages: eachOf(pages, shownOfWallet) }
  },
})

async function* eachOf<From, To>(all: AsyncIterable<From>, made: (one: From) => To): AsyncGenerator<To> {
  for await (const one of all) yield made(one)
}

function listRoute(list: List): RouteParts {
  return tokenRoute({
    ...{ id: list.id, summary: list.summary, description: list.description },
    parameters: parametersOf,
    documented: ({ token, wallet, contracts, disableTotal, ...shared }, version) => [
      inPath(list.about === 'token' ? token : wallet),
      ...(list.about === 'token' ? [] : [inQueryList(contracts)]),
      ...Object.values(version === 'v2' ? { ...shared, disableTotal } : shared).map(inQuery),
    ],
    success: listSuccess('Erc20Transfers', 'A page of transfers.'),
    errors: chainListErrors,
    ...(list.about === 'wallet' ? { everyToken: true as const } : {}),
    answer: asked => pageOf(list, asked),
    whole: async asked => {
      const { context, dialect, options } = asked
      const question = { ...questionOf(list, asked), limit: context.streams.rowsPerBatch }
      const { pages, ...whole } = await list.whole(context, question, options)
      const batches = linesOf(pages, page => linesOfRecords(transferRecords({ ...page, dialect })))
      return { ...whole, columns: transferColumns, batches }
    },
  })
}

async function pageOf(list: List, asked: Asked): Promise<Told> {
  const { context, request, query, parameters, dialect, options } = asked
  const { freshen, cursors, store } = context
  const question = questionOf(list, asked)
  const answer = await list.page(context, question, options)
  const { total, next, complete, blockExists } = answer
  const cursor = next && cursors.seal({ ...next, chain: ledgerOf(next.chain).chain })
  const { chain: ledger, about: contract, page, limit: pageSize } = question
  const envelope = envelopeText({ dialect, version: request.version, total, page, pageSize, cursor })
  const rows = JSON.stringify(transferRecords({ ...answer, dialect }))
  // Of one token; a wallet has many.
  const isHeld = !complete && list.about === 'token'
  const why = isHeld ? await whyHeld(store, { ledger, contract }) : undefined
  return {
    body: `{${envelope},"result":${rows},"block_exists":${blockExists},"index_complete":${complete}}`,
    headers: {
      ...completenessHeaders(answer, dialect),
      ...reasonHeaders(why),
      ...deprecationHeaders(query.has(parameters.disableTotal)),
    },
    // An answer that an indexer may complete is not kept: the next request has to ask the indexer again.
    keep: complete || freshen?.contract === undefined,
  }
}

function questionOf(
  { list, about: whose }: List,
  { context, request, query, parameters, named, chain }: Asked,
): Question {
  const { settings, cursors } = context
  const { version } = request
  const about = readParameter(parameters[whose], request.pathParameter('address'))
  const contracts = whose === 'wallet' ? readContracts(query, parameters.contracts) : []
  const { filter } = carriedSubject({ list: 'wallet-transfers', wallet: about, direction: 'both', contracts })
  const first: PageCursor = {
    ...firstPage,
    ...askedBounds(query, parameters),
    ...{ list, subject: about.slice(2), filter, chain: chain.id },
    order: query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
    limit: query.optional(parameters.limit) ?? settings.pageSizeMax,
    countTotal: query.optional(parameters.disableTotal) === false && version === 'v2',
  }
  const page = pageAsked(first, { query, cursors, version, chain: named, limitMax: settings.pageSizeMax })
  return { ...page, about, contracts: walletFilterOf(page.filter).contracts, chain: ledgerId(page.chain, 'erc20') }
}
