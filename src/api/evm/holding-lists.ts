// How every list of who owns what is answered over HTTP: parameters and cursors in, pages out. `holding-routes.ts` has
// the lists, `query/holdings/` the rules.
import { AlmanacError } from '../../errors.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import type { ChainId } from '../../model.ts'
import { firstPage, type ListName, type PageCursor } from '../../query/cursor.ts'
import type { HoldingsOptions, HoldingsQueries, ListAnswer, ListQuestion } from '../../query/holdings/questions.ts'
import type { HoldingStreams } from '../../query/holdings/streams/holding-streams.ts'
import { completenessHeaders, readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import {
  chainErrors,
  chainListErrors,
  type ExampleName,
  inPath,
  inQueryList,
  jsonSuccess,
  listSuccess,
  nodeErrors,
  stateHeaders,
} from '../openapi-parts.ts'
import { perform } from '../operation.ts'
import { type Dialect, dialectOf, exampleContract, QueryText } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'
import type { ListStream } from '../streams/list-stream.ts'
import { streamTypes } from '../streams/stream-form.ts'
import { pageAsked } from './cursor-parameter.ts'
import { carriedFilter, filterOf, type HoldingFilter, type KeyForm } from './holding-cursor.ts'
import {
  documented,
  type HoldingParameters,
  holdingParameters,
  readAtBlock,
  readFilter,
  usualPageSize,
} from './holding-parameters.ts'
import { holdingsOptions, mayKeep, picturesAt } from './holdings-context.ts'
import { deprecationHeaders, type Envelope, envelopeText } from './list-envelope.ts'
import type { NftOptions } from './nft-json.ts'

/** What tells the lists apart. */
export type HoldingList<Row, Key> = {
  list: ListName
  id: string
  summary: string
  description: string
  schema: ExampleName
  keys: KeyForm<Key>
  /** Of the path, and how the subject of a cursor is made of them. */
  path: readonly ('address' | 'wallet' | 'tokenId')[]
  subjectOf: (request: ApiRequest, parameters: HoldingParameters) => string
  /** Beside those of every list. */
  query: readonly (keyof HoldingParameters)[]
  /** By default that of the setting. */
  limitMax?: number
  /** That says the size of a page. By default `page_size`. */
  sizeField?: string
  /** Contract NFTs count pages from 0, the others from 1. */
  firstPage: 0 | 1
  ask: (
    holdings: HoldingsQueries,
    question: ListQuestion<Key> & { subject: string; filter: HoldingFilter },
    options: HoldingsOptions,
  ) => Promise<ListAnswer<Row, Key>>
  body: (answer: ListAnswer<Row, Key>, page: HoldingPage) => string
  /** The whole list in one answer. Absent where there is none. */
  stream?: (streams: HoldingStreams, asked: StreamAsked) => Promise<ListStream>
}

export type StreamAsked = {
  chain: ChainId
  atBlock: number | undefined
  subject: string
  filter: HoldingFilter
  /** How records are written. */
  shown: NftOptions
  options: HoldingsOptions
}

export type HoldingPage = Envelope & Pick<NftOptions, 'format' | 'pictureAt'> & { filter: HoldingFilter }

export function holdingList<Row, Key>(list: HoldingList<Row, Key>): RouteParts {
  return {
    answer: context => {
      const pages = new HoldingPages(context, list)
      return request => {
        const dialect = dialectOf(request, context.settings.dialect)
        return perform(context, request, {
          about: 'indexed',
          everyContract: list.path[0] === 'wallet',
          scope: 'nft-holdings',
          cacheKey: dialect,
          work: admission => pages.answer(request, dialect, admission),
          ...(list.stream && { whole: admission => pages.whole(request, dialect, admission) }),
        })
      }
    },
    document: ({ chains, pageSizeMax }, version) => {
      const parameters = holdingParameters(chains, list.limitMax ?? pageSizeMax, list.sizeField)
      const shared = [...list.query, 'chain', 'limit', 'cursor'] as const
      const query = documented(
        parameters,
        shared.filter(name => name !== 'tokenAddresses'),
      )
      const contracts = list.query.includes('tokenAddresses') ? [inQueryList(parameters.tokenAddresses)] : []
      return {
        id: version === 'v2' ? list.id : `${list.id}V22`,
        tag: 'EVM',
        summary: list.summary,
        description: `${list.description} Pages stay as of the block of the first one while tokens move.`,
        parameters: [...list.path.map(name => inPath(parameters[name])), ...contracts, ...query],
        answers: {
          200: list.stream
            ? listSuccess(list.schema, pageSentence)
            : jsonSuccess(list.schema, pageSentence, stateHeaders),
        },
        errors: [
          ...(list.stream === undefined ? chainErrors : ([...chainListErrors, 'list_too_large'] as const)),
          ...(list.query.includes('atDate') ? nodeErrors : []),
        ],
        failures: [
          answeredWhole(
            `The ${list.path[0] === 'wallet' ? `wallet ${parameters.wallet.example}` : `contract ${exampleContract}`} has too many holdings to be answered in pages`,
            list.id,
          ),
        ],
      }
    },
  }
}

const pageSentence = 'A page of the list, as of the block of its first page.'

type Asked = { cursor: PageCursor; filter: HoldingFilter }

class HoldingPages<Row, Key> {
  readonly #context: Context
  readonly #list: HoldingList<Row, Key>
  readonly #parameters: HoldingParameters
  readonly #limitMax: number

  constructor(context: Context, list: HoldingList<Row, Key>) {
    this.#context = context
    this.#list = list
    this.#limitMax = list.limitMax ?? context.settings.pageSizeMax
    this.#parameters = holdingParameters(context.chains, this.#limitMax)
  }

  async answer(request: ApiRequest, dialect: Dialect, admission: Admission) {
    const query = new QueryText(request.query)
    const signer = this.#context.cursors
    const { cursor, filter } = await this.#asked(request, query, admission)
    const { chain, atBlock, limit, countTotal, subject, format, page } = cursor
    const after = page === 0 ? undefined : this.#list.keys.read(cursor)
    const options = holdingsOptions(this.#context, request, admission)
    const question = { chain, atBlock, after, limit, countTotal, subject, filter }
    const answer = await this.#list.ask(this.#context.holdings, question, options).catch(error => {
      throw this.#namingStream(error)
    })
    const next =
      answer.next &&
      signer.seal({
        ...cursor,
        page: page + 1,
        atBlock: answer.next.atBlock,
        ...this.#list.keys.carry(answer.next.after),
      })
    const body = this.#list.body(answer, {
      ...{ dialect, version: request.version, total: answer.total, format, filter },
      ...{ page: page + this.#list.firstPage, pageSize: limit, cursor: next },
      pictureAt: filter.mediaItems ? picturesAt(this.#context, request, { chain, key: options.key }) : undefined,
    })
    const ready = readyAnswer({
      headers: {
        ...completenessHeaders(answer, dialect),
        ...deprecationHeaders(query.has(this.#parameters.disableTotal)),
      },
      body: Buffer.from(body) as Buffer<ArrayBuffer>,
    })
    return { ready, keep: !filter.mediaItems && mayKeep(this.#context, answer, options) }
  }

  async whole(request: ApiRequest, dialect: Dialect, admission: Admission): Promise<ListStream> {
    const query = new QueryText(request.query)
    const { cursor, filter } = await this.#asked(request, query, admission)
    const { chain, atBlock, subject, format } = cursor
    const options = holdingsOptions(this.#context, request, admission)
    const shown = { dialect, format, normalizeMetadata: filter.normalizeMetadata }
    return await this.#list.stream!(this.#context.holdingStreams, { chain, atBlock, subject, filter, shown, options })
  }

  /** What is too much for pages is answered whole. */
  #namingStream(error: unknown): unknown {
    const { id, stream } = this.#list
    if (!(error instanceof AlmanacError) || error.code !== 'list_too_large' || stream === undefined) return error
    return answeredWhole(error.message, id, error)
  }

  async #asked(request: ApiRequest, query: QueryText, { key }: Admission): Promise<Asked> {
    const parameters = this.#parameters
    const { list, query: names, subjectOf } = this.#list
    const subject = subjectOf(request, parameters)
    const chain = query.optional(parameters.chain)
    const chainId = (chain ?? this.#context.chains.usual).id
    const filter = readFilter(query, parameters, names)
    const isCounted = names.includes('disableTotal') && query.optional(parameters.disableTotal) === false
    const first: PageCursor = {
      ...firstPage,
      ...{ list, subject, chain: chainId, filter: carriedFilter(filter) },
      format: (names.includes('format') && query.optional(parameters.format)) || 'decimal',
      limit: query.optional(parameters.limit) ?? Math.min(usualPageSize, this.#limitMax),
      countTotal: isCounted && request.version === 'v2',
      atBlock: names.includes('atBlock')
        ? await readAtBlock(query, parameters, this.#context, { chain: chainId, key })
        : undefined,
    }
    const { cursors } = this.#context
    const { version } = request
    const cursor = pageAsked(first, { query, cursors, version, chain, limitMax: this.#limitMax })
    return { cursor, filter: cursor === first ? filter : filterOf(cursor.filter) }
  }
}

function answeredWhole(tooLarge: string, operation: string, cause?: AlmanacError): AlmanacError {
  const accept = Object.values(streamTypes)
  const message = `${tooLarge}: ask ${operation} with Accept: ${accept.join(' or ')}`
  return new AlmanacError('list_too_large', message, { cause, details: { operation, accept } })
}

/** The usual body. `status` says whether what was asked for is indexed, where the hosted service has it. */
export function listBody(
  rows: readonly unknown[],
  page: Envelope,
  status?: { complete: boolean; at: 'start' | 'end' },
): string {
  const statusText = status === undefined ? '' : `"status":"${status.complete ? 'SYNCED' : 'SYNCING'}"`
  const [start, end] = status?.at === 'start' ? [`${statusText},`, ''] : ['', statusText && `,${statusText}`]
  return `{${start}${envelopeText(page)},"result":${JSON.stringify(rows)}${end}}`
}
