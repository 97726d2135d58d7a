// The NFT transfers operation over HTTP: parameters and cursors in, pages out. The rules are in `query/nft-transfers.ts`.
import type { Chain } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { Address } from '../model.ts'
import {
  NftTransfers,
  type TransfersAnswer,
  type TransfersOptions,
  type TransfersQuestion,
} from '../query/nft-transfers.ts'
import { CursorSigner } from '../store/cursor.ts'
import type { ReadReplica, Store } from '../store/store.ts'
import type { Answer } from './answer.ts'
import { readyAnswer } from './answer-cache.ts'
import type { Exchange } from './exchange.ts'
import { patienceMs, perform, type Workplace } from './operation.ts'
import {
  type ApiVersion,
  type Dialect,
  pickDialect,
  platformHeader,
  readParameter,
  showGiven,
  transferParameters,
} from './params.ts'
import { QueryText } from './query-text.ts'
import { pageTag, type TransferJson, writeTransfers } from './transfer-json.ts'

/** `disable_total` was announced as deprecated on 2023-01-12 (RFC 9745 writes dates so). */
const deprecation = { Deprecation: '@1673481600' }

export class NftTransfersRoute {
  readonly #place: Workplace
  readonly #parameters: ReturnType<typeof transferParameters>
  readonly #transfers: NftTransfers
  readonly #copies: ReplicaReads<NftTransfers>
  #signer: CursorSigner | undefined

  constructor(place: Workplace) {
    this.#place = place
    this.#parameters = transferParameters(place.chains, place.settings.pageSizeMax)
    this.#transfers = new NftTransfers(place.store, place.revision)
    this.#copies = new ReplicaReads(place.replica, store => new NftTransfers(store))
  }

  answer(exchange: Exchange, version: ApiVersion): Answer | Promise<Answer> {
    const dialect = pickDialect({
      setting: this.#place.settings.dialect,
      version,
      hasPlatformHeader: exchange.header(platformHeader) !== undefined,
    })
    return perform(this.#place, exchange, {
      scope: 'nft-transfers',
      cacheKey: () => dialect,
      work: async (_, admission) => {
        const { freshen, settings } = this.#place
        this.#signer ??= new CursorSigner(await this.#place.store.secret())
        const signer = this.#signer
        const query = new QueryText(exchange.query)
        const question = this.#question(exchange, query, version, signer)
        const options = { key: admission.key, freshen, freshenWaitMs: patienceMs(exchange, settings) }
        const answer = (await this.#fromReplica(question, options)) ?? (await this.#transfers.answer(question, options))
        const isDeprecated = version === 'v2' && query.has(this.#parameters.disableTotal)
        const page = pageOf(answer, { dialect, version, signer })
        const { bytes, release } = writeTransfers(page)
        const ready = readyAnswer({
          headers: { ...headersOf(answer, dialect), ...(isDeprecated ? deprecation : {}) },
          body: bytes,
          tag: pageTag(page, bytes.length),
          release,
        })
        // An answer that an indexer may complete is not kept: the next request has to ask it again.
        return { ready, keep: answer.indexComplete || freshen?.contract === undefined }
      },
    })
  }

  /**
   * First pages alone: what follows comes from the store itself, which is never behind what a client has seen. One that is not
   * complete and could be is left to the store, where the indexers' work shows at once.
   */
  async #fromReplica(question: TransfersQuestion, options: TransfersOptions): Promise<TransfersAnswer | undefined> {
    if (question.after !== undefined) return undefined
    return await this.#copies.answer(
      copy => copy.answer(question, { ...options, freshen: undefined }),
      ({ indexComplete }) => indexComplete || options.freshen?.contract === undefined,
    )
  }

  #question(exchange: Exchange, query: QueryText, version: ApiVersion, signer: CursorSigner): TransfersQuestion {
    const parameters = this.#parameters
    const contract = readParameter(parameters.address, exchange.pathParameter('address'))
    const chain = query.optional(parameters.chain)
    const cursor = query.optional(parameters.cursor)
    const fromBlock = query.optional(parameters.fromBlock)
    const toBlock = query.optional(parameters.toBlock)
    const fromDate = fromBlock === undefined ? query.optional(parameters.fromDate) : undefined
    const toDate = toBlock === undefined ? query.optional(parameters.toDate) : undefined
    const asked: TransfersQuestion = {
      chain: (chain ?? this.#place.chains.all[0]!).id,
      contract,
      fromBlock,
      toBlock,
      // Blocks have whole seconds: the first one at or after a fraction is at the next second. None is before 1970.
      fromTime: fromDate === undefined ? undefined : Math.max(0, Math.ceil(fromDate)),
      toTime: toDate === undefined ? undefined : Math.max(-1, Math.floor(toDate)),
      order: version !== 'v2' && query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
      format: query.optional(parameters.format) ?? 'decimal',
      limit: query.optional(parameters.limit) ?? this.#place.settings.pageSizeMax,
      countTotal: version === 'v2' && query.optional(parameters.disableTotal) === false,
      page: 0,
      after: undefined,
      mayContinue: false,
    }
    // What stands beside a cursor is read all the same: a value that makes no sense is a mistake that its sender wants to know.
    return cursor === undefined ? asked : this.#continued(cursor, { contract, chain, version, signer })
  }

  /** The cursor carries the rest of the question; only the address and a given chain are compared with it. */
  #continued(
    text: string,
    given: { contract: Address; chain: Chain | undefined; version: ApiVersion; signer: CursorSigner },
  ): TransfersQuestion {
    const cursor = given.signer.open(text)
    const isForThis =
      cursor !== undefined &&
      cursor.contract === given.contract &&
      (given.chain === undefined || given.chain.id === cursor.chain)
    if (!isForThis) {
      const { name, refusal, accepts } = this.#parameters.cursor
      throw new AlmanacError('bad_request', refusal, {
        details: { parameter: name, given: showGiven(text), accepted: accepts },
      })
    }
    return {
      ...cursor,
      limit: Math.min(cursor.limit, this.#place.settings.pageSizeMax),
      countTotal: cursor.countTotal && given.version === 'v2',
    }
  }
}

function headersOf({ indexComplete, evidence }: TransfersAnswer, dialect: Dialect): Record<string, string> {
  return {
    'X-Dialect': dialect,
    'X-Index-Complete': `${indexComplete}`,
    ...(evidence === undefined ? {} : { 'X-Index-Evidence': evidence }),
  }
}

function pageOf(
  answer: TransfersAnswer,
  { dialect, version, signer }: { dialect: Dialect; version: ApiVersion; signer: CursorSigner },
): TransferJson {
  const { question, total, next } = answer
  const number = (value: number) => (dialect === 'live' ? `${value}` : `"${value}"`)
  const totalText = version === 'v2' ? `"total":${total === undefined ? 'null' : number(total)},` : ''
  const cursorText = next === undefined ? (dialect === 'live' ? 'null' : '""') : `"${signer.seal(next)}"`
  return {
    rows: answer.rows,
    contract: question.contract,
    facts: answer.facts,
    labels: answer.labels,
    format: question.format,
    dialect,
    withNames: version !== 'v2',
    head: `{${totalText}"page":${number(question.page)},"page_size":${number(question.limit)},"cursor":${cursorText},"result":[`,
    tail: `],"block_exists":${answer.blockExists},"index_complete":${answer.indexComplete}}`,
  }
}

// Answers from a replica where one is close enough, and from the store otherwise: all reads of one answer from one of both, so that what
// it claims and what it holds are of one moment.

/** Something that answers from one store, made once for each. */
export class ReplicaReads<Reader> {
  readonly #replica: ReadReplica | undefined
  readonly #make: (store: Store) => Reader
  #known: { store: Store; reader: Reader } | undefined

  constructor(replica: ReadReplica | undefined, make: (store: Store) => Reader) {
    this.#replica = replica
    this.#make = make
  }

  /** Undefined where the replica is not used, or failed, or its answer is not good enough: then the store has to be asked. */
  async answer<Answer>(ask: (reader: Reader) => Promise<Answer>, isEnough: (answer: Answer) => boolean) {
    const store = this.#replica?.current()
    if (store === undefined) return undefined
    if (this.#known?.store !== store) this.#known = { store, reader: this.#make(store) }
    try {
      const answer = await ask(this.#known.reader)
      return isEnough(answer) ? answer : undefined
    } catch (error) {
      if (!(error instanceof AlmanacError && error.code.startsWith('store_'))) throw error
      this.#replica?.failed()
      return undefined
    }
  }
}
