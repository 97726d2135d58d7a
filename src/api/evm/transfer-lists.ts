// The lists of transfers over several contracts over HTTP: of a wallet, of a token, of a block, of all. The rules are
// in `query/index-transfers.ts`.
import type { ChainTable } from '../../chains.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import { type CursorSigner, firstPage, type PageCursor } from '../../query/cursor.ts'
import type { Freshen, FreshenOptions } from '../../query/freshen.ts'
import { IndexTransfers, type ListAnswer, type ListQuestion } from '../../query/index-transfers.ts'
import { transferReads } from '../../query/nft-transfers.ts'
import { carriedSubject, type TransferSubject, walletFilterOf } from '../../query/transfer-subject.ts'
import type { Store } from '../../store/store.ts'
import { completenessHeaders, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import {
  chainListErrors,
  inPath,
  inQuery,
  inQueryList,
  type Json,
  listSuccess,
  nodeErrors,
  onDemandSentence,
} from '../openapi-parts.ts'
import { freshenWaitMsOf, perform, ReplicaReads } from '../operation.ts'
import { dialectOf, QueryText, readParameter } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'
import { type ListStream, linesOf } from '../streams/list-stream.ts'
import { asLines, type MixedJson, mixedPageTag, transferColumns, writeMixedTransfers } from '../transfer-json.ts'
import { pageAsked } from './cursor-parameter.ts'
import {
  blockParameter,
  contractsParameter,
  directionParameter,
  includePrices,
  readContracts,
  tokenIdParameter,
  walletParameter,
} from './evm-parameters.ts'
import { deprecationHeaders, type Envelope, envelopeText } from './list-envelope.ts'
import { askedBounds, transferParameters } from './nft-transfers.ts'

function parametersOf(table: ChainTable, pageSizeMax: number) {
  return {
    ...transferParameters(table, pageSizeMax),
    wallet: walletParameter,
    tokenId: tokenIdParameter,
    block: blockParameter,
    direction: directionParameter,
    contracts: contractsParameter('contract_addresses', 'Transfers of these contracts alone.'),
    includePrices,
  }
}

type Parameters = ReturnType<typeof parametersOf>

/** What tells the lists apart. */
type List = {
  id: string
  summary: string
  description: string
  hasBounds: boolean
  everyContract: boolean
  /** What the path and the query ask for. */
  subjectOf: (request: ApiRequest, query: QueryText, parameters: Parameters) => TransferSubject
  inPath: (parameters: Parameters) => Json[]
  inQuery?: (parameters: Parameters) => Json[]
}

export const walletTransfers = listRoute({
  id: 'getWalletNFTTransfers',
  summary: 'NFT transfers of a wallet',
  description:
    'NFT transfers to and from one wallet, of all contracts, newest first. Use it for the activity of a wallet; `direction` keeps those that it sent or received. A transfer from the wallet to itself is listed once. Transfers of the zero address are not kept by wallet.',
  ...{ hasBounds: true, everyContract: true },
  subjectOf: (request, query, { wallet, direction, contracts }) => ({
    list: 'wallet-transfers',
    wallet: readParameter(wallet, request.pathParameter('address')),
    direction: query.optional(direction) ?? 'both',
    contracts: readContracts(query, contracts),
  }),
  inPath: ({ wallet }) => [inPath(wallet)],
  inQuery: ({ direction, contracts }) => [inQuery(direction), inQueryList(contracts)],
})

export const tokenTransfers = listRoute({
  id: 'getNFTTransfers',
  summary: 'NFT transfers of a token',
  description: `Every transfer of one token, newest first, back to its mint. Use it for the provenance of an NFT. ${onDemandSentence}`,
  ...{ hasBounds: false, everyContract: false },
  subjectOf: (request, _, { address, tokenId }) => ({
    list: 'token-transfers',
    contract: readParameter(address, request.pathParameter('address')),
    tokenId: readParameter(tokenId, request.pathParameter('token_id')),
  }),
  inPath: ({ address, tokenId }) => [inPath(address), inPath(tokenId)],
})

export const blockTransfers = listRoute({
  id: 'getNFTTransfersByBlock',
  summary: 'NFT transfers of a block',
  description:
    'Every NFT transfer in one block, of all contracts, newest first. Use it to follow a chain block by block. A final block is found by its hash with the help of a node.',
  ...{ hasBounds: false, everyContract: true },
  subjectOf: (request, _, { block }) => ({
    list: 'block-transfers',
    block: readParameter(block, request.pathParameter('block_number_or_hash')),
  }),
  inPath: ({ block }) => [inPath(block)],
})

export const allTransfers = listRoute({
  id: 'getNFTTransfersFromToBlock',
  summary: 'NFT transfers of all contracts',
  description:
    'NFT transfers of all contracts of a chain, newest first. Use it for a feed of the chain, or for a period between two blocks or dates.',
  ...{ hasBounds: true, everyContract: true },
  subjectOf: () => ({ list: 'transfers' }),
  inPath: () => [],
})

function listRoute(list: List): RouteParts {
  return {
    answer: context => {
      const pages = new ListPages(context, list)
      return request => {
        const dialect = dialectOf(request, context.settings.dialect)
        return perform(context, request, {
          about: 'indexed',
          everyContract: list.everyContract,
          scope: 'nft-transfers',
          cacheKey: dialect,
          work: admission => pages.answer(request, admission),
          whole: admission => pages.whole(request, admission),
        })
      }
    },
    document: ({ chains, pageSizeMax }, version) => {
      const parameters = parametersOf(chains, pageSizeMax)
      const { chain, fromBlock, toBlock, fromDate, toDate, format, limit, order, disableTotal, cursor } = parameters
      const bounds = list.hasBounds ? [fromBlock, toBlock, fromDate, toDate] : []
      const shared = [chain, ...bounds, format, limit, order, disableTotal, parameters.includePrices, cursor]
      const schema = version === 'v2' ? 'TransferCollection' : 'NamedTransferCollection'
      return {
        id: version === 'v2' ? list.id : `${list.id}V22`,
        tag: 'EVM',
        summary: list.summary,
        description: list.description,
        parameters: [...list.inPath(parameters), ...(list.inQuery?.(parameters) ?? []), ...shared.map(inQuery)],
        answers: { 200: listSuccess(schema, 'A page of transfers.') },
        errors: list.id === 'getNFTTransfersByBlock' ? [...chainListErrors, ...nodeErrors] : chainListErrors,
      }
    },
  }
}

class ListPages {
  readonly #context: Context
  readonly #list: List
  readonly #parameters: Parameters
  readonly #transfers: IndexTransfers
  readonly #copies: ReplicaReads<IndexTransfers>

  constructor(context: Context, list: List) {
    const { chains, settings, store, freshen, replica } = context
    const askBlock = freshen?.block
    this.#context = context
    this.#list = list
    this.#parameters = parametersOf(chains, settings.pageSizeMax)
    const { claims, contracts, labels } = context
    this.#transfers = new IndexTransfers(store, { claims, contracts, labels, askBlock })
    const ofCopy = (copy: Store) => new IndexTransfers(copy, { ...transferReads(copy, labels, chains), askBlock })
    this.#copies = new ReplicaReads(replica, ofCopy)
  }

  async answer(request: ApiRequest, { key }: Admission) {
    const { freshen, settings, cursors } = this.#context
    const query = new QueryText(request.query)
    const question = this.#question(request, query, cursors)
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const answer = (await this.#fromReplica(question, options)) ?? (await this.#transfers.answer(question, options))
    const dialect = dialectOf(request, settings.dialect)
    const page = pageOf(answer, { dialect, version: request.version, cursor: answer.next && cursors.seal(answer.next) })
    const { bytes, release } = writeMixedTransfers(page)
    const ready = readyAnswer({
      headers: {
        ...completenessHeaders(answer, dialect),
        ...deprecationHeaders(query.has(this.#parameters.disableTotal)),
      },
      body: bytes,
      tag: mixedPageTag(page, bytes.length),
      release,
    })
    return { ready, keep: isFinal(answer, freshen) }
  }

  async whole(request: ApiRequest, { key }: Admission): Promise<ListStream> {
    const { freshen, settings, cursors, streams } = this.#context
    const asked = this.#question(request, new QueryText(request.query), cursors)
    const question = { ...asked, limit: streams.rowsPerBatch }
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const { pages, ...list } = await this.#transfers.whole(question, options)
    const withNames = request.version !== 'v2'
    const shown = { format: question.format, dialect: dialectOf(request, settings.dialect), withNames, ...asLines }
    const batches = linesOf(pages, page => writeMixedTransfers({ ...page, ...shown }))
    return { ...list, columns: transferColumns(withNames), batches }
  }

  /** First pages only: later ones come from the store, which is never behind what a client has seen. */
  async #fromReplica(question: ListQuestion, options: FreshenOptions): Promise<ListAnswer | undefined> {
    if (question.page > 0) return undefined
    return await this.#copies.answer(
      copy => copy.answer(question, { ...options, freshen: undefined }),
      answer => isFinal(answer, options.freshen),
    )
  }

  #question(request: ApiRequest, query: QueryText, cursors: CursorSigner): ListQuestion {
    const parameters = this.#parameters
    const { pageSizeMax } = this.#context.settings
    const of = this.#list.subjectOf(request, query, parameters)
    const chain = query.optional(parameters.chain)
    query.optional(parameters.includePrices)
    const isCounted = query.optional(parameters.disableTotal) === false && request.version === 'v2'
    const first: PageCursor = {
      ...firstPage,
      ...(this.#list.hasBounds ? askedBounds(query, parameters) : {}),
      ...carriedSubject(of),
      chain: (chain ?? this.#context.chains.usual).id,
      order: query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
      format: query.optional(parameters.format) ?? 'decimal',
      limit: query.optional(parameters.limit) ?? pageSizeMax,
      countTotal: isCounted,
    }
    const { version } = request
    const page = pageAsked(first, { query, cursors, version, chain, limitMax: pageSizeMax })
    return { ...page, of: of.list === 'wallet-transfers' ? { ...of, ...walletFilterOf(page.filter) } : of }
  }
}

/** An answer that an indexer may complete is not kept: the next request has to ask the indexer again. */
function isFinal({ question, complete }: ListAnswer, freshen: Freshen | undefined): boolean {
  return complete || question.of.list !== 'token-transfers' || freshen?.contract === undefined
}

function pageOf(answer: ListAnswer, facts: Pick<Envelope, 'dialect' | 'version' | 'cursor'>): MixedJson {
  const { rows, facts: shown, labels, question, total } = answer
  const { format, page, limit: pageSize } = question
  return {
    ...{ rows, facts: shown, labels, format, dialect: facts.dialect, withNames: facts.version !== 'v2' },
    head: `{${envelopeText({ ...facts, total, page, pageSize })},"result":[`,
    tail: `],"block_exists":${answer.blockExists},"index_complete":${answer.complete}}`,
  }
}
