// What operations on indexed data share: the key, the kept answer, the bounded work, the replica. No rules here.
import { AlmanacError } from '../errors.ts'
import type { Admission, Scope } from '../keys/gatekeeper.ts'
import type { ReadReplica, Store } from '../store/store.ts'
import { overloaded } from './admission-queue.ts'
import { type Answer, deliver, headAgeHeader, type ReadyAnswer } from './answer.ts'
import type { ApiSettings, Context } from './context.ts'
import type { AboutChains } from './evm/head-ages.ts'
import { explainNotFound, reasonHeader, requireConfigured } from './evm/not-indexed.ts'
import type { ApiRequest } from './request.ts'
import type { ListStream } from './streams/list-stream.ts'
import { streamFormOf } from './streams/stream-form.ts'
import { wholeListAnswer } from './streams/whole-list.ts'

export type Operation = {
  /** `any`: every key may ask. */
  scope: Scope | 'any'
  /** Which chains it is about. Absent: none that is indexed by blocks. */
  about?: AboutChains
  /** The answer is of all contracts of a chain, such as those of a wallet, or of all its ERC-20 tokens. */
  everyContract?: boolean | 'tokens'
  /** Begins the whole list, where the operation is a list that can be sent whole. */
  whole?: (admission: Admission) => Promise<ListStream>
  /** Everything besides the URL that the answer depends on. Absent: the answer is never kept. */
  cacheKey?: string
  work: (admission: Admission) => Promise<{ ready: ReadyAnswer; keep: boolean }>
}

/**
 * Answers at once, without a promise, when the key is known and the answer is kept. Overload is refused before the key
 * is checked, so that a refusal costs the key nothing.
 */
export function perform(context: Context, request: ApiRequest, operation: Operation): Answer | Promise<Answer> {
  if (context.turnLoad.isTooMuch(request.startedMs)) throw refused(context, tooManyRequests)
  if (!context.unsent.hasRoom()) throw refused(context, tooMuchUnsent)
  const admission = context.gatekeeper.admit(request.header('x-api-key'), operation.scope, request.isOwnPage)
  return admission instanceof Promise
    ? admission.then(admitted => performAdmitted(context, request, operation, admitted))
    : performAdmitted(context, request, operation, admission)
}

// Made once: a stack for each would be a tenth of what a refusal costs.
const tooManyRequests = overloaded('More requests arrive than can be answered')
const tooMuchUnsent = overloaded('Clients have not taken the answers to earlier requests')

function refused({ metrics }: Context, reason: AlmanacError): AlmanacError {
  metrics.http.shed.inc()
  return reason
}

function performAdmitted(
  context: Context,
  request: ApiRequest,
  { scope, about, everyContract = false, cacheKey, work, whole }: Operation,
  admission: Admission,
): Answer | Promise<Answer> {
  const { cache, queue, unsent, revision: currentRevision, settings } = context
  request.rateLimit = admission.rateLimit
  request.keyId = admission.key.id
  request.isConsole = admission.isConsole
  const form = whole && streamFormOf(request.header('accept'))
  const required = () => requireConfigured(context, request, about)
  if (form !== undefined) {
    const list = () => required().then(() => whole!(admission))
    return wholeListAnswer(context, request, { scope, form, list }, admission).then(async list => {
      const heads = about === undefined ? [] : await context.heads.asked(request, about)
      return withHeaders(list, {
        ...headAgeHeader(heads),
        ...(await reasonHeader(context, request, list, everyContract)),
      })
    })
  }
  const key = cacheKey && `${cacheKey} ${request.target}`
  const revision = currentRevision()
  const kept = key === undefined ? undefined : cache.get(key, revision)
  if (kept !== undefined) return deliver(kept, request)
  const answer = async () => {
    await required()
    // Before what is answered is read: a head that comes in between is younger.
    const heads = about === undefined ? [] : await context.heads.asked(request, about)
    request.heads = heads
    const { ready, keep } = await work(admission).catch(error => explainNotFound(context, request, error))
    if (heads.length > 0) ready.heads = heads
    const reason = await reasonHeader(context, request, ready.plain, everyContract)
    ready.plain = withHeaders(ready.plain, reason)
    ready.notModified = withHeaders(ready.notModified, reason)
    checkLength(ready, settings)
    if (!unsent.hasRoom(ready.plain.body!.length)) {
      ready.plain.release?.()
      throw refused(context, tooMuchUnsent)
    }
    const sent = key !== undefined && keep ? cache.offer(key, revision, ready) : ready
    return await deliver(sent, request)
  }
  return queue.run(answer, { discard: ({ release }) => release?.(), onLate: error => request.leave(error) })
}

function withHeaders(answer: Answer, more: Answer['headers']): Answer {
  return { ...answer, headers: { ...answer.headers, ...more } }
}

/** A retry would end the same, so this is not a 503. */
function checkLength({ plain: { body, release } }: ReadyAnswer, { answerBytesMax }: ApiSettings): void {
  const answerBytes = body!.length
  if (answerBytes <= answerBytesMax) return
  release?.()
  throw new AlmanacError(
    'answer_too_large',
    `The answer has ${answerBytes} bytes, and at most ${answerBytesMax} are sent: lower limit, or have the operator raise limits.answer_bytes_max`,
    { details: { answer_bytes: answerBytes, answer_bytes_max: answerBytesMax } },
  )
}

/** The answer has to leave before the request times out. */
const marginMs = 1_000

/** How long a client waits for data that is not indexed yet: `Prefer: wait=n` (RFC 7240), within the server's bound. */
export function freshenWaitMsOf(request: ApiRequest, settings: ApiSettings): number {
  const asked = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(request.header('prefer') ?? '')?.[1]
  const askedMs = asked === undefined ? settings.freshenWaitMs : Number(asked) * 1_000
  return Math.min(askedMs, Math.max(0, settings.requestTimeoutMs - marginMs))
}

/**
 * Answers from a replica that is close enough. All reads of one answer come from one store, so that what it claims and
 * what it holds are of one moment.
 */
export class ReplicaReads<Reader> {
  readonly #replica: ReadReplica | undefined
  readonly #make: (store: Store) => Reader
  #known: { store: Store; reader: Reader } | undefined

  constructor(replica: ReadReplica | undefined, make: (store: Store) => Reader) {
    this.#replica = replica
    this.#make = make
  }

  /** Undefined where the store has to be asked: the replica is not used, failed, or does not have enough. */
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
