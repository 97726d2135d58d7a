// The lists of transfers of ERC-20 over HTTP: of a token, and of a wallet. The rules are those of NFT transfers
// (`query/nft-transfers.ts`, `query/index-transfers.ts`), on the ledger of tokens.
import type { ChainTable } from '../../../chains.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import { ledgerId, ledgerOf } from '../../../ledgers.ts'
import type { Address } from '../../../model.ts'
import { firstPage, type ListName, type PageCursor } from '../../../query/cursor.ts'
import { whyHeld } from '../../../query/erc20/token-size.ts'
import type { FreshenOptions } from '../../../query/freshen.ts'
import { IndexTransfers, type ListAnswer, type MixedTransfers } from '../../../query/index-transfers.ts'
import { NftTransfers, type TransfersAnswer, type TransfersPage } from '../../../query/nft-transfers.ts'
import { carriedSubject, walletFilterOf } from '../../../query/transfer-subject.ts'
import type { WholeTransfers } from '../../../query/whole-transfers.ts'
import { completenessHeaders, readyAnswer, reasonHeaders } from '../../answer.ts'
import type { Context } from '../../context.ts'
import { chainListErrors, inPath, inQuery, inQueryList, listSuccess, onDemandTokens } from '../../openapi-parts.ts'
import { freshenWaitMsOf, perform } from '../../operation.ts'
import { type Dialect, dialectOf, QueryText, readParameter } from '../../params.ts'
import type { ApiRequest } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import { type ListStream, linesOf } from '../../streams/list-stream.ts'
import { openCursor } from '../cursor-parameter.ts'
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

type Parameters = ReturnType<typeof parametersOf>
type Answer = Omit<TransfersAnswer, 'question' | 'facts' | 'rows'> & Shown
/** Rows as they are shown, of one token or of several. */
type Shown = Omit<TransferRows, 'dialect'>
type Question = PageCursor & { about: Address; contracts: readonly Address[] }

/** What tells the lists apart. `about`: the address of the path. */
type List = {
  list: ListName
  about: 'token' | 'wallet'
  /** A page, and the whole list. */
  of: (context: Context) => {
    page: (question: Question, options: FreshenOptions) => Promise<Answer>
    whole: (question: Question, options: FreshenOptions) => Promise<WholeTransfers<Shown>>
  }
}

const ofToken: List = {
  list: 'erc20-transfers',
  about: 'token',
  of: context => {
    const transfers = new NftTransfers(context.store, context)
    const shown = ({ rows, labels, facts }: TransfersPage, token: Address): Shown => {
      return { rows, labels, tokenOf: () => token, factsOf: () => facts }
    }
    return {
      page: async ({ about, ...question }, options) => {
        const { question: _, ...answer } = await transfers.answer({ ...question, contract: about }, options)
        return { ...answer, ...shown(answer, about) }
      },
      whole: async ({ about, ...question }, options) => {
        const { pages, ...list } = await transfers.whole({ ...question, contract: about }, options)
        return { ...list, pages: eachOf(pages, page => shown(page, about)) }
      },
    }
  },
}

const ofWallet: List = {
  list: 'wallet-erc20-transfers',
  about: 'wallet',
  of: context => {
    const { store, claims, contracts, labels } = context
    const transfers = new IndexTransfers(store, { claims, contracts, labels })
    const asked = ({ about, contracts: named, ...question }: Question) => ({
      ...question,
      of: { list: 'wallet-transfers', wallet: about, direction: 'both', contracts: named } as const,
    })
    const shown = ({ rows, labels: found, facts }: MixedTransfers | ListAnswer): Shown => {
      return { rows, labels: found, tokenOf: row => rows.contracts[row]!, factsOf: token => facts.get(token) }
    }
    return {
      page: async (question, options) => {
        const { question: _, ...answer } = await transfers.answer(asked(question), options)
        return { ...answer, ...shown(answer as ListAnswer) }
      },
      whole: async (question, options) => {
        const { pages, ...list } = await transfers.whole(asked(question), options)
        return { ...list, pages: eachOf(pages, shown) }
      },
    }
  },
}

async function* eachOf<From, To>(all: AsyncIterable<From>, made: (one: From) => To): AsyncGenerator<To> {
  for await (const one of all) yield made(one)
}

export const erc20Transfers = listRoute(ofToken, {
  id: 'getTokenTransfers',
  summary: 'ERC-20 transfers of a token',
  description: `Every transfer of one ERC-20 token, newest first, with what was made and what was destroyed. Use it for the history of a token, whole or within blocks or dates. ${onDemandTokens}`,
})

export const walletErc20Transfers = listRoute(ofWallet, {
  id: 'getWalletTokenTransfers',
  summary: 'ERC-20 transfers of a wallet',
  description:
    'ERC-20 transfers to and from one wallet, of all tokens that are indexed, newest first. Use it for the activity of a wallet; with `contract_addresses` it is complete once these tokens are indexed. A transfer from the wallet to itself is listed once. Transfers of the zero address are not kept by wallet.',
})

function listRoute(list: List, { id, ...facts }: { id: string; summary: string; description: string }): RouteParts {
  return {
    answer: context => {
      const pages = new TokenTransferPages(context, list)
      return request => {
        const dialect = dialectOf(request, context.settings.dialect)
        return perform(context, request, {
          about: 'indexed',
          ...(list.about === 'wallet' ? { everyContract: 'tokens' } : {}),
          scope: 'erc20',
          cacheKey: dialect,
          work: admission => pages.answer(request, dialect, admission),
          whole: admission => pages.whole(request, dialect, admission),
        })
      }
    },
    document: ({ chains, pageSizeMax }, version) => {
      const { token, wallet, contracts, disableTotal, ...shared } = parametersOf(chains, pageSizeMax)
      return {
        ...facts,
        id: version === 'v2' ? id : `${id}V22`,
        tag: 'EVM',
        parameters: [
          inPath(list.about === 'token' ? token : wallet),
          ...(list.about === 'token' ? [] : [inQueryList(contracts)]),
          ...Object.values(version === 'v2' ? { ...shared, disableTotal } : shared).map(inQuery),
        ],
        answers: {
          200: listSuccess('Erc20Transfers', 'A page of transfers.'),
        },
        errors: chainListErrors,
      }
    },
  }
}

class TokenTransferPages {
  readonly #context: Context
  readonly #list: List
  readonly #reads: ReturnType<List['of']>
  readonly #parameters: Parameters

  constructor(context: Context, list: List) {
    this.#context = context
    this.#list = list
    this.#reads = list.of(context)
    this.#parameters = parametersOf(context.chains, context.settings.pageSizeMax)
  }

  async answer(request: ApiRequest, dialect: Dialect, { key }: Admission) {
    const { freshen, settings, cursors } = this.#context
    const query = new QueryText(request.query)
    const question = this.#question(request, query)
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const answer = await this.#reads.page(question, options)
    const { total, next, indexComplete, blockExists } = answer
    const cursor = next && cursors.seal({ ...next, chain: ledgerOf(next.chain).chain })
    const { page, limit: pageSize } = question
    const envelope = envelopeText({ dialect, version: request.version, total, page, pageSize, cursor })
    const rows = JSON.stringify(transferRecords({ ...answer, dialect }))
    const body = `{${envelope},"result":${rows},"block_exists":${blockExists},"index_complete":${indexComplete}}`
    const why = indexComplete ? undefined : await this.#whyHeld(question)
    const ready = readyAnswer({
      headers: {
        ...completenessHeaders({ ...answer, complete: indexComplete }, dialect),
        ...reasonHeaders(why),
        ...deprecationHeaders(query.has(this.#parameters.disableTotal)),
      },
      body: Buffer.from(body) as Buffer<ArrayBuffer>,
    })
    // An answer that an indexer may complete is not kept: the next request has to ask the indexer again.
    return { ready, keep: indexComplete || freshen?.contract === undefined }
  }

  async whole(request: ApiRequest, dialect: Dialect, { key }: Admission): Promise<ListStream> {
    const { freshen, settings, streams } = this.#context
    const question = { ...this.#question(request, new QueryText(request.query)), limit: streams.rowsPerBatch }
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const { pages, ...list } = await this.#reads.whole(question, options)
    const batches = linesOf(pages, page => linesOfRecords(transferRecords({ ...page, dialect })))
    return { ...list, columns: transferColumns, batches }
  }

  /** Of one token; a wallet has many. */
  async #whyHeld({ chain, about }: Question): Promise<string | undefined> {
    if (this.#list.about === 'wallet') return undefined
    return await whyHeld(this.#context.store, { ledger: chain, contract: about })
  }

  #question(request: ApiRequest, query: QueryText): Question {
    const parameters = this.#parameters
    const { list, about: whose } = this.#list
    const { chains, settings, cursors } = this.#context
    const about = readParameter(parameters[whose], request.pathParameter('address'))
    const contracts = whose === 'wallet' ? readContracts(query, parameters.contracts) : []
    const chain = query.optional(parameters.chain)
    const text = query.optional(parameters.cursor)
    const subject = about.slice(2)
    const { filter } = carriedSubject({ list: 'wallet-transfers', wallet: about, direction: 'both', contracts })
    const asked: PageCursor = {
      ...firstPage,
      ...askedBounds(query, parameters),
      ...{ list, subject, filter },
      chain: ledgerId((chain ?? chains.usual).id, 'erc20'),
      order: query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
      limit: query.optional(parameters.limit) ?? settings.pageSizeMax,
      countTotal: query.optional(parameters.disableTotal) === false && request.version === 'v2',
    }
    // Parameters beside a cursor are read all the same, so that the sender learns of an invalid one.
    if (text === undefined) return { ...asked, about, contracts }
    const cursor = openCursor(cursors, text, { list, subject, chain })
    return {
      ...{ ...cursor, about, contracts: walletFilterOf(cursor.filter).contracts },
      chain: ledgerId(cursor.chain, 'erc20'),
      limit: Math.min(cursor.limit, settings.pageSizeMax),
      countTotal: cursor.countTotal && request.version === 'v2',
    }
  }
}
