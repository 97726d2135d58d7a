// The NFT transfers operation over HTTP: parameters and cursors in, pages out. `query/nft-transfers.ts` has the rules.
import { z } from 'zod'
import type { ChainTable } from '../../chains.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import type { BoundsQuestion } from '../../query/block-bounds.ts'
import { type CursorSigner, firstPage, type PageCursor } from '../../query/cursor.ts'
import type { FreshenOptions } from '../../query/freshen.ts'
import { NftTransfers, type TransfersAnswer, type TransfersQuestion, transferReads } from '../../query/nft-transfers.ts'
import { completenessHeaders, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { inPath, inQuery, listErrors, listSuccess, onDemandSentence } from '../openapi-parts.ts'
import { freshenWaitMsOf, perform, ReplicaReads } from '../operation.ts'
import {
  addressParameter,
  chainParameter,
  choiceParameter,
  type Dialect,
  dateParameter,
  dialectOf,
  exampleContract,
  type Parameter,
  QueryText,
  readFlag,
  readParameter,
  wholeParameter,
} from '../params.ts'
import type { ApiRequest, ApiVersion } from '../request.ts'
import type { RouteParts } from '../responder.ts'
import { type ListStream, linesOf } from '../streams/list-stream.ts'
import { asLines, pageTag, type TransferJson, transferColumns, writeTransfers } from '../transfer-json.ts'
import { cursorParameter, pageAsked } from './cursor-parameter.ts'
import { deprecationHeaders, envelopeText } from './list-envelope.ts'

const description =
  'Every transfer of the NFTs of one contract, newest first, mints and burns included. Use it for the history of a ' +
  `collection, whole or within blocks or dates. ${onDemandSentence} ` +
  'A chain that is known and not configured here answers 200 with what is stored of it, mostly an empty list, and ' +
  '`X-Index-Complete: false` with the reason in `X-Index-Incomplete-Reason`.'

export const nftTransfers: RouteParts = {
  answer: context => {
    const pages = new TransferPages(context)
    return request => {
      const dialect = dialectOf(request, context.settings.dialect)
      return perform(context, request, {
        about: 'asked',
        scope: 'nft-transfers',
        cacheKey: dialect,
        work: admission => pages.answer(request, dialect, admission),
        whole: admission => pages.whole(request, dialect, admission),
      })
    }
  },
  document: ({ chains, pageSizeMax }, version) => {
    const { order, disableTotal, address, ...shared } = transferParameters(chains, pageSizeMax)
    const facts = { tag: 'EVM' as const, description, errors: listErrors }
    if (version === 'v2') {
      return {
        ...facts,
        id: 'getNFTContractTransfers',
        summary: 'NFT transfers of a contract',
        parameters: [inPath(address), ...Object.values({ ...shared, disableTotal }).map(inQuery)],
        answers: {
          200: listSuccess('TransferCollection', 'A page of transfers, newest first.'),
        },
      }
    }
    return {
      ...facts,
      id: 'getNFTContractTransfersV22',
      summary: 'NFT transfers of a contract, with names and a choice of order',
      parameters: [inPath(address), ...Object.values({ ...shared, order }).map(inQuery)],
      answers: { 200: listSuccess('NamedTransferCollection', 'A page of transfers.') },
    }
  },
}

const csvAdvice = 'For a whole list as CSV, send the header Accept: text/csv'
const linesAdvice = 'For a whole list as NDJSON, send the header Accept: application/x-ndjson'
/** By what people take for a format of the answer. */
const wholeListAdvice: Readonly<Record<string, string>> = {
  ...{ csv: csvAdvice, 'text/csv': csvAdvice },
  ...{ ndjson: linesAdvice, jsonl: linesAdvice, 'application/x-ndjson': linesAdvice },
}

/** `usual`: where no limit is given. `sizeField`: the field of the answer that holds the size of a page. */
export function transferParameters(
  table: ChainTable,
  pageSizeMax: number,
  { usual = pageSizeMax, sizeField = 'page_size' } = {},
) {
  return {
    address: addressParameter('Address of the NFT contract.', exampleContract),
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
    fromBlock: wholeParameter('from_block', {
      min: 0,
      description: 'First block. Takes precedence over `from_date`.',
      example: 16_220_200,
    }),
    toBlock: wholeParameter('to_block', {
      min: 0,
      description: 'Last block, inclusive. Takes precedence over `to_date`.',
      example: 16_220_260,
    }),
    fromDate: dateParameter('from_date', 'Start of the range.'),
    toDate: dateParameter('to_date', 'End of the range, inclusive.'),
    format: {
      ...choiceParameter('format', ['decimal', 'hex'], { default: 'decimal', description: 'How to write token ids.' }),
      instead: text => wholeListAdvice[text.trim().toLowerCase()],
    } satisfies Parameter<'decimal' | 'hex'>,
    limit: wholeParameter('limit', {
      ...{ min: 1, max: pageSizeMax, default: usual, example: 5 },
      description: `Rows of a page, at most ${pageSizeMax}: higher values become ${pageSizeMax}, and \`${sizeField}\` says so.`,
    }),
    order: choiceParameter('order', ['ASC', 'DESC'], { default: 'DESC', description: 'Oldest or newest first.' }),
    disableTotal: {
      name: 'disable_total',
      read: readFlag,
      accepts: 'true or false',
      schema: z.boolean().default(true),
      description: 'Set to `false` to count all matching rows in `total`.',
      example: true,
      deprecated: true as const,
    },
    cursor: cursorParameter,
  } satisfies Record<string, Parameter<unknown>>
}

/** Blocks win over dates. */
export function askedBounds(
  query: QueryText,
  parameters: Pick<ReturnType<typeof transferParameters>, 'fromBlock' | 'toBlock' | 'fromDate' | 'toDate'>,
): BoundsQuestion {
  const fromBlock = query.optional(parameters.fromBlock)
  const toBlock = query.optional(parameters.toBlock)
  const fromDate = fromBlock === undefined ? query.optional(parameters.fromDate) : undefined
  const toDate = toBlock === undefined ? query.optional(parameters.toDate) : undefined
  return {
    fromBlock,
    toBlock,
    // Blocks have whole seconds: the first one at or after a fraction is at the next second. No block is before 1970.
    fromTime: fromDate === undefined ? undefined : Math.max(0, Math.ceil(fromDate)),
    toTime: toDate === undefined ? undefined : Math.max(-1, Math.floor(toDate)),
  }
}

class TransferPages {
  readonly #context: Context
  readonly #parameters: ReturnType<typeof transferParameters>
  readonly #transfers: NftTransfers
  readonly #copies: ReplicaReads<NftTransfers>

  constructor(context: Context) {
    this.#context = context
    this.#parameters = transferParameters(context.chains, context.settings.pageSizeMax)
    // A replica's pages take the store's labels: they claim nothing, and a second copy would take as much memory.
    const { store, replica, labels, chains } = context
    this.#transfers = new NftTransfers(store, context)
    this.#copies = new ReplicaReads(replica, copy => new NftTransfers(copy, transferReads(copy, labels, chains)))
  }

  async answer(request: ApiRequest, dialect: Dialect, { key }: Admission) {
    const { freshen, settings, cursors } = this.#context
    const { version } = request
    const query = new QueryText(request.query)
    const question = this.#question(request, query, cursors)
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const answer = (await this.#fromReplica(question, options)) ?? (await this.#transfers.answer(question, options))
    const isDeprecated = version === 'v2' && query.has(this.#parameters.disableTotal)
    const page = pageOf(answer, { dialect, version, cursors })
    const { bytes, release } = writeTransfers(page)
    const ready = readyAnswer({
      headers: {
        ...completenessHeaders(answer, dialect),
        ...deprecationHeaders(isDeprecated),
      },
      body: bytes,
      tag: pageTag(page, bytes.length),
      release,
    })
    // An answer that an indexer may complete is not kept: the next request has to ask the indexer again.
    return { ready, keep: answer.complete || freshen?.contract === undefined }
  }

  async whole(request: ApiRequest, dialect: Dialect, { key }: Admission): Promise<ListStream> {
    const { freshen, settings, cursors, streams } = this.#context
    const asked = this.#question(request, new QueryText(request.query), cursors)
    const question = { ...asked, limit: streams.rowsPerBatch }
    const options = { key, freshen, freshenWaitMs: freshenWaitMsOf(request, settings) }
    const { pages, ...list } = await this.#transfers.whole(question, options)
    const { contract, format } = question
    const withNames = request.version !== 'v2'
    const shown = { contract, format, dialect, withNames, ...asLines }
    const batches = linesOf(pages, page => writeTransfers({ ...page, ...shown }))
    return { ...list, columns: transferColumns(withNames), batches }
  }

  /**
   * First pages only: later ones come from the store, which is never behind what a client has seen. A page that an
   * indexer could complete is left to the store, where the indexer's work shows at once.
   */
  async #fromReplica(question: TransfersQuestion, options: FreshenOptions): Promise<TransfersAnswer | undefined> {
    if (question.after !== undefined) return undefined
    return await this.#copies.answer(
      copy => copy.answer(question, { ...options, freshen: undefined }),
      ({ complete }) => complete || options.freshen?.contract === undefined,
    )
  }

  #question(request: ApiRequest, query: QueryText, cursors: CursorSigner): TransfersQuestion {
    const { version } = request
    const parameters = this.#parameters
    const contract = readParameter(parameters.address, request.pathParameter('address'))
    const chain = query.optional(parameters.chain)
    const { pageSizeMax } = this.#context.settings
    const first: PageCursor = {
      ...firstPage,
      ...askedBounds(query, parameters),
      list: 'contract-transfers',
      subject: contract.slice(2),
      chain: (chain ?? this.#context.chains.usual).id,
      order: version !== 'v2' && query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
      format: query.optional(parameters.format) ?? 'decimal',
      limit: query.optional(parameters.limit) ?? pageSizeMax,
      countTotal: version === 'v2' && query.optional(parameters.disableTotal) === false,
    }
    return { ...pageAsked(first, { query, cursors, version, chain, limitMax: pageSizeMax }), contract }
  }
}

function pageOf(
  answer: TransfersAnswer,
  { dialect, version, cursors }: { dialect: Dialect; version: ApiVersion; cursors: CursorSigner },
): TransferJson {
  const { question, total, next } = answer
  const { page, limit: pageSize } = question
  const cursor = next && cursors.seal(next)
  return {
    rows: answer.rows,
    contract: question.contract,
    facts: answer.facts,
    labels: answer.labels,
    format: question.format,
    dialect,
    withNames: version !== 'v2',
    head: `{${envelopeText({ dialect, version, total, page, pageSize, cursor })},"result":[`,
    tail: `],"block_exists":${answer.blockExists},"index_complete":${answer.complete}}`,
  }
}
