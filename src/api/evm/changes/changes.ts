// The changes of a chain over HTTP: a page after a position, with long polling, or the same as server-sent events. The
// rules are in `query/changes/`.
import { z } from 'zod'
import type { ChainTable } from '../../../chains.ts'
import { AlmanacError } from '../../../errors.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import { type Ledger, ledgerId, ledgerNames } from '../../../ledgers.ts'
import { type ChainId, parseAddress, zeroAddress } from '../../../model.ts'
import { type ChangePage, Changes, type ChangesGone } from '../../../query/changes/changes.ts'
import {
  type ChangeFilter,
  type ChangePosition,
  PositionSigner,
  positionLengthMax,
} from '../../../query/changes/position.ts'
import { type Answer, jsonAnswer, readyAnswer, safetyHeaders } from '../../answer.ts'
import type { Context } from '../../context.ts'
import { chainErrors, inQuery, inQueryList, jsonSuccess, onDemandSentence } from '../../openapi-parts.ts'
import { perform } from '../../operation.ts'
import {
  chainParameter,
  choiceParameter,
  missing,
  type Parameter,
  QueryText,
  unacceptable,
  wholeParameter,
} from '../../params.ts'
import { type ApiRequest, weightsIn } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import { tokenIdParameter } from '../evm-parameters.ts'
import { changeTexts, kindOf } from './change-json.ts'
import { changeStream } from './change-stream.ts'

const limitMax = 100
const waitMaxSeconds = 30

function contractOrWallet(name: string, description: string, example: string) {
  return {
    name,
    read: parseAddress,
    accepts: '0x and 40 hex digits, in any case',
    schema: z.string().regex(/^0[xX][0-9a-fA-F]{40}$/),
    ...{ description, example },
  } satisfies Parameter<unknown>
}

const kinds = ledgerNames.map(ledger => kindOf[ledger])

function parametersOf(table: ChainTable) {
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Required.'),
    contract: contractOrWallet('contract', 'Changes of this contract.', '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'),
    wallet: contractOrWallet(
      'wallet',
      'Transfers to and from this wallet. On a chain that is indexed on demand it needs `contract`.',
      '0x8ae57a027c63fca8070d1bf38622321de8004c67',
    ),
    tokenId: { ...tokenIdParameter, description: 'Transfers of this token of `contract`.' },
    kinds: {
      name: 'kinds',
      read: text => ledgerNames.find(ledger => kindOf[ledger] === text.trim().toLowerCase()),
      accepts: kinds.join(' or '),
      schema: z.enum(kinds as [string, ...string[]]),
      description: `What is told: \`${kinds.join('` and `')}\`. Defaults to \`${kindOf.nft}\`.`,
      example: [kindOf.nft],
    } satisfies Parameter<Ledger>,
    finality: choiceParameter('finality', ['seen', 'final'], {
      default: 'seen',
      description: '`final` tells final transfers alone, which are never retracted.',
    }),
    after: {
      name: 'after',
      read: text => (text.length <= positionLengthMax ? text : undefined),
      accepts: 'the next of an earlier answer',
      schema: z.string().max(positionLengthMax),
      description: 'Position to go on from: `next` of an earlier answer. Without it and `from_block`: from now on.',
      example: 'WzEsIm1SS2x…',
    } satisfies Parameter<string>,
    fromBlock: wholeParameter('from_block', {
      min: 0,
      description: 'Instead of `after`: everything from this block on that is indexed, then what comes.',
      example: 16_220_200,
    }),
    limit: wholeParameter('limit', {
      ...{ min: 1, max: limitMax, default: limitMax, example: 5 },
      description: `Changes of a page, at most ${limitMax}: higher values become ${limitMax}.`,
    }),
    wait: wholeParameter('wait', {
      ...{ min: 0, max: waitMaxSeconds, default: 0, example: 0 },
      description: `Seconds to wait for a first change, at most ${waitMaxSeconds}.`,
    }),
  } satisfies Record<string, Parameter<unknown>>
}

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
    const { kinds: kindsParameter, chain, ...others } = parametersOf(chains)
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
  chain: ChainId
  ledgers: readonly Ledger[]
  after: ChangePosition | undefined
  fromBlock: number | undefined
  limit: number
  waitMs: number
}

type Begun = { asked: Asked; admission: Admission; revision: number }

const noBody = Buffer.alloc(0) as Buffer<ArrayBuffer>

class ChangeFeed {
  readonly #context: Context
  readonly #parameters: ReturnType<typeof parametersOf>
  readonly #changes: Changes
  readonly #positions: PositionSigner

  constructor(context: Context) {
    this.#context = context
    this.#parameters = parametersOf(context.chains)
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
        await this.#freshen(asked, admission)
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
    let known: string | undefined
    return async page => {
      const { next } = page
      const more = 'fromBlock' in page || page.more
      const mark = await this.#changes.mark(filter)
      if (mark === known && !more) return { told: [], next, more: false }
      known = mark
      return await this.#context.queue.run(() => this.#changes.after(filter, next, limit))
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
      follow: this.#follower(asked.filter, limitMax),
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

  /** Starts the indexing of a contract on demand, under the limits of the key. */
  async #freshen({ filter: { contract, ledgers } }: Asked, { key }: Admission): Promise<void> {
    const { freshen, claims } = this.#context
    if (contract === undefined || freshen === undefined) return
    for (const ledger of ledgers) {
      freshen.asked?.(ledger, contract)
      const { chain, each } = await claims.views(ledger, contract)
      const head = chain.state?.head.number ?? Number.POSITIVE_INFINITY
      const isFollowed = each[0]!.coverage.some(({ from, to }) => from <= head && to >= head - followedMax)
      if (!isFollowed) await freshen.contract?.(ledger, contract, 0, key)
    }
  }

  async #asked(request: ApiRequest): Promise<Asked> {
    const query = new QueryText(request.query)
    const parameters = this.#parameters
    const chain = query.optional(parameters.chain)
    if (chain === undefined) throw missing(parameters.chain.name, parameters.chain.accepts)
    const contract = query.optional(parameters.contract)
    const wallet = query.optional(parameters.wallet)
    const tokenId = query.optional(parameters.tokenId)
    const ledgers = ledgerNames.filter(each => (query.list(parameters.kinds) ?? ['nft']).includes(each))
    if (tokenId !== undefined && contract === undefined) throw missing('contract', 'the contract of token_id')
    if (tokenId !== undefined && ledgers.includes('erc20')) throw unacceptable('kinds', 'nft_transfer with token_id')
    if (wallet === zeroAddress) throw unacceptable('wallet', 'a wallet; transfers of the zero address are not kept')
    if (contract === undefined) await this.#requireEvery(chain.name, ledgers)
    const filter: ChangeFilter = {
      ...{ contract, wallet, tokenId },
      ledgers: ledgers.map(ledger => ledgerId(chain.id, ledger)),
      finalOnly: query.optional(parameters.finality) === 'final',
    }
    const given = query.optional(parameters.after)
    const fromBlock = query.optional(parameters.fromBlock)
    if (given !== undefined && fromBlock !== undefined)
      throw unacceptable('from_block', 'left out where after is given')
    // What a stream has told since it was begun with the URL.
    const lastEventId = isStreamAsked(request.header('accept')) ? request.header('last-event-id') : undefined
    const after = lastEventId || given
    return {
      ...{ filter, chain: chain.id, ledgers },
      after: after === undefined ? undefined : this.#opened(filter, after),
      fromBlock,
      limit: query.optional(parameters.limit) ?? limitMax,
      waitMs: (query.optional(parameters.wait) ?? 0) * 1_000,
    }
  }

  #opened(filter: ChangeFilter, text: string): ChangePosition {
    const position = this.#positions.open(filter, text)
    const accepted = 'the next of an earlier answer to the same question'
    if (position === 'other question')
      throw new AlmanacError('bad_request', 'after is of another chain or of other filters', {
        details: { parameter: 'after', accepted },
      })
    if (position === undefined) throw unacceptable('after', accepted)
    return position
  }

  /** On demand only contracts that were requested are there, so nothing tells when a block is complete. */
  async #requireEvery(chain: string, ledgers: readonly Ledger[]): Promise<void> {
    const modes = await this.#context.indexModes().catch(() => undefined)
    const onDemand = ledgers.find(ledger => {
      const mode = modes?.[chain]?.[ledger]
      return ledger === 'erc20' ? modes !== undefined && mode !== 'full' : mode === 'on-demand'
    })
    if (onDemand === undefined) return
    const what = onDemand === 'erc20' ? 'The ERC-20 tokens of' : 'The contracts of'
    throw new AlmanacError('bad_request', `${what} ${chain} are indexed on demand: name one as contract`, {
      details: { parameter: 'contract', accepted: 'the address of a contract' },
    })
  }
}

/** Blocks that a contract may lag behind the head and still is followed. */
const followedMax = 64

function isStreamAsked(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('event-stream')) return false
  const weights = weightsIn(accept)
  return (weights.get('text/event-stream') ?? 0) > (weights.get('application/json') ?? 0)
}
