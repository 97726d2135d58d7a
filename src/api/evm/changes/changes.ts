// The changes of a chain over HTTP: a page after a position, with long polling, or the same as server-sent events. The
// rules are in `query/changes/`.
import { AlmanacError } from '../../../errors.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import {
  type ChangeMark,
  type ChangePage,
  Changes,
  type ChangesGone,
  quietMark,
} from '../../../query/changes/changes.ts'
import { type ChangeFilter, type ChangePosition, PositionSigner } from '../../../query/changes/position.ts'
import { type Answer, jsonAnswer, readyAnswer, safetyHeaders } from '../../answer.ts'
import type { Context } from '../../context.ts'
import { chainErrors, inQuery, inQueryList, jsonSuccess, onDemandSentence } from '../../openapi-parts.ts'
import { perform } from '../../operation.ts'
import { QueryText, unacceptable } from '../../params.ts'
import { type ApiRequest, weightsIn } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import {
  type ChangeParameters,
  changeParameters,
  changesMax,
  followContract,
  openedPosition,
  readFilter,
} from './change-filter.ts'
import { changeTexts } from './change-json.ts'
import { changeStream } from './change-stream.ts'

const description = [
  'What happens to transfers as it happens: `seen` in a block that may still be replaced, `retracted` with its block, and `final`. ' +
    'The three share one `id`, so a client that keeps ids has exactly what the chain has. Keep `next` and send it as `after`: nothing is lost over restarts of either side. ' +
    '`wait` holds the answer until there is a change (long polling). ' +
    onDemandSentence,
  'With `Accept: text/event-stream` the answer is a stream: an event `change` for each, whose id is the position behind it, a comment every 15 seconds, and `Last-Event-ID` or `after` to go on. ' +
    'Instead of 410 a stream tells an event `gone` with `from_block`, and goes on; it ends with an event `problem` where it cannot. All filters that are given must hold. ' +
    '[Following transfers](/docs/guides/follow-transfers.html#changes-as-they-happen) has a whole client.',
].join('\n\n')

export const changes: RouteParts = {
  answer: context => {
    const feed = new ChangeFeed(context)
    return request => feed.answer(request)
  },
  document: ({ chains }) => {
    const { kinds: kindsParameter, chain, ...others } = changeParameters(chains)
    return {
      id: 'getChanges',
      summary: 'Changes of transfers as they happen; needs the scope `changes`',
      description,
      parameters: [
        { ...inQuery(chain), required: true },
        ...Object.values(others).map(inQuery),
        inQueryList(kindsParameter),
      ],
      answers: { 200: jsonSuccess('Changes', 'Changes, oldest first, and the position behind them.') },
      errors: [...chainErrors, 'position_gone', 'not_configured', 'interrupted'],
    }
  },
}

type Asked = {
  filter: ChangeFilter
  after: ChangePosition | undefined
  fromBlock: number | undefined
  limit: number
  waitMs: number
}

type Begun = { asked: Asked; admission: Admission; revision: number }

const noBody = Buffer.alloc(0) as Buffer<ArrayBuffer>

class ChangeFeed {
  readonly #context: Context
  readonly #parameters: ChangeParameters
  readonly #changes: Changes
  readonly #positions: PositionSigner

  constructor(context: Context) {
    this.#context = context
    this.#parameters = changeParameters(context.chains)
    this.#changes = new Changes(context.store, context)
    this.#positions = new PositionSigner(context.store.secret)
  }

  async answer(request: ApiRequest): Promise<Answer> {
    const isStream = isStreamAsked(request.header('accept'))
    let first: (Begun & { page: ChangePage | ChangesGone }) | undefined
    const answer = await perform(this.#context, request, {
      about: 'indexed',
      scope: 'changes',
      work: async admission => {
        const asked = await this.#asked(request)
        const revision = this.#context.store.revision()
        await followContract(this.#context, asked.filter, admission.key)
        const position = asked.after ?? (await this.#changes.begin(asked.filter, asked.fromBlock))
        const page = await this.#changes.after(asked.filter, position, asked.limit)
        if ('fromBlock' in page && !isStream) throw this.#positionGone(asked.filter, page)
        first = { asked, page, admission, revision }
        const body = isStream ? noBody : this.#body(asked, page as ChangePage)
        return { ready: readyAnswer({ headers: {}, body }), keep: false }
      },
    })
    if (first === undefined) return answer
    const { asked, page } = first
    if (isStream) return this.#stream(request, first)
    if ('fromBlock' in page || page.told.length > 0 || asked.waitMs === 0) return answer
    return await this.#waited(request, { ...first, page })
  }

  /** A request that waits takes no slot among those at work. */
  async #waited(
    request: ApiRequest,
    { asked, page: none, admission, revision: before }: Begun & { page: ChangePage },
  ): Promise<Answer> {
    const { listeners, store } = this.#context
    const close = listeners.open(admission.key.id)
    try {
      const follow = this.#follower(asked.filter, asked.limit)
      const untilMs = performance.now() + asked.waitMs
      let [page, revision] = [none, before]
      while (page.told.length === 0 && !listeners.isClosed && !request.signal.aborted) {
        const leftMs = untilMs - performance.now()
        if (leftMs <= 0) break
        await listeners.wait(revision, page.more ? 0 : leftMs, request.signal)
        const now = store.revision()
        if (now !== revision || page.more) {
          const read = await follow(page)
          if ('fromBlock' in read) throw this.#positionGone(asked.filter, read)
          page = read
        }
        revision = now
      }
      return jsonAnswer(JSON.parse(this.#body(asked, page).toString()))
    } finally {
      close()
    }
  }

  #positionGone(filter: ChangeFilter, { fromBlock, next }: ChangesGone): AlmanacError {
    return new AlmanacError(
      'position_gone',
      `What was told from block ${fromBlock} on cannot be followed any more: forget what you keep of it, and go on with after=details.next`,
      { details: { from_block: fromBlock, next: this.#positions.seal(filter, next) } },
    )
  }

  /** Reads on behind a page, where something of it changed. */
  #follower(
    filter: ChangeFilter,
    limit: number,
  ): (page: ChangePage | ChangesGone) => Promise<ChangePage | ChangesGone> {
    let known: ChangeMark | undefined
    return async page => {
      const { next } = page
      const more = 'fromBlock' in page || page.more
      // Who listens for weeks asks for the contract every day.
      if (filter.contract !== undefined)
        for (const ledger of filter.ledgers) this.#context.freshen?.asked?.(ledger, filter.contract)
      const mark = await this.#changes.mark(filter, known)
      if (mark === known && !more) return { told: [], next, more: false }
      const read = await this.#context.queue.run(() => this.#changes.after(filter, next, limit))
      known = 'fromBlock' in read ? undefined : quietMark(mark, read.next, filter)
      return read
    }
  }

  #stream(
    request: ApiRequest,
    { asked, page, admission, revision }: Begun & { page: ChangePage | ChangesGone },
  ): Answer {
    const { gatekeeper, listeners, store } = this.#context
    const headers = {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Asks proxies not to hold anything back.
      'X-Accel-Buffering': 'no',
      ...safetyHeaders,
    }
    if (request.method === 'HEAD') return { status: 200, headers, body: null }
    const secret = request.header('x-api-key') ?? ''
    const stream = changeStream({
      first: { page, revision },
      close: listeners.open(admission.key.id),
      listeners,
      requestId: request.requestId,
      revision: () => store.revision(),
      follow: this.#follower(asked.filter, changesMax),
      spend: () => gatekeeper.spend(secret, 'changes', 1, request.isOwnPage),
      stillAllowed: () => gatekeeper.stillHolds(secret, 'changes'),
      seal: position => this.#positions.seal(asked.filter, position),
      texts: told => changeTexts(told, this.#dialect, this.#context.chains),
    })
    return { status: 200, headers, body: null, stream }
  }

  get #dialect() {
    return this.#context.settings.dialect ?? 'live'
  }

  #body({ filter }: Asked, { told, next, more }: ChangePage): Buffer<ArrayBuffer> {
    const texts = told.flatMap(rows => changeTexts(rows, this.#dialect, this.#context.chains))
    const position = this.#positions.seal(filter, next)
    return Buffer.from(`{"changes":[${texts.join()}],"next":"${position}","more":${more}}`) as Buffer<ArrayBuffer>
  }

  async #asked(request: ApiRequest): Promise<Asked> {
    const query = new QueryText(request.query)
    const parameters = this.#parameters
    const filter = await readFilter(this.#context, parameters, query)
    const given = query.optional(parameters.after)
    const fromBlock = query.optional(parameters.fromBlock)
    if (given !== undefined && fromBlock !== undefined)
      throw unacceptable('from_block', 'left out where after is given')
    // What a stream has told since it was begun with the URL.
    const lastEventId = isStreamAsked(request.header('accept')) ? request.header('last-event-id') : undefined
    const after = lastEventId || given
    return {
      filter,
      after: after === undefined ? undefined : openedPosition(this.#positions, filter, after),
      fromBlock,
      limit: query.optional(parameters.limit) ?? changesMax,
      waitMs: (query.optional(parameters.wait) ?? 0) * 1_000,
    }
  }
}

function isStreamAsked(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('event-stream')) return false
  const weights = weightsIn(accept)
  return (weights.get('text/event-stream') ?? 0) > (weights.get('application/json') ?? 0)
}
