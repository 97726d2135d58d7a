// What the operations on indexed data have in common: the key, the kept answer, the bounded work. No rule of one of them here.
import { AlmanacError } from '../errors.ts'
import type { Admission, Scope } from '../keys/gatekeeper.ts'
import type { Answer } from './answer.ts'
import { type AnswerCache, deliver, type ReadyAnswer } from './answer-cache.ts'
import type { AppDependencies } from './dependencies.ts'
import type { Exchange } from './exchange.ts'
import type { WorkGate } from './work-gate.ts'

export type Workplace = AppDependencies & {
  cache: AnswerCache
  gate: WorkGate
  /** The store's, asked once for the requests that arrived together. */
  revision: () => number
  /** Why the service is not ready, as it was last asked for. */
  readiness?: { askedMs: number; reason: Promise<string | undefined> }
}

export type Operation = {
  scope: Scope
  /** Everything besides the URL that the answer depends on. Undefined: it is never kept. */
  cacheKey?: (exchange: Exchange) => string
  work: (exchange: Exchange, admission: Admission) => Promise<{ ready: ReadyAnswer; keep: boolean }>
}

/** Answers at once, without a promise, when the key is known and the answer is kept. */
export function perform(place: Workplace, exchange: Exchange, operation: Operation): Answer | Promise<Answer> {
  const admission = place.gatekeeper.admit(exchange.header('x-api-key'), operation.scope)
  return admission instanceof Promise
    ? admission.then(admitted => performAdmitted(place, exchange, operation, admitted))
    : performAdmitted(place, exchange, operation, admission)
}

function performAdmitted(
  place: Workplace,
  exchange: Exchange,
  operation: Operation,
  admission: Admission,
): Answer | Promise<Answer> {
  exchange.rateLimit = admission.rateLimit
  const key = operation.cacheKey && `${operation.cacheKey(exchange)} ${exchange.target}`
  const revision = place.revision()
  const kept = key === undefined ? undefined : place.cache.get(key, revision)
  return kept === undefined ? place.gate.run(() => work()) : deliver(kept, exchange)

  async function work(): Promise<Answer> {
    const { ready, keep } = await operation.work(exchange, admission)
    const length = ready.plain.body!.length
    if (length > place.settings.answerBytesMax) {
      const { answerBytesMax } = place.settings
      // Asking again would end the same, so this is no 503.
      throw new AlmanacError(
        'answer_too_large',
        `The answer has ${length} bytes, and at most ${answerBytesMax} are sent: lower limit, or have the operator raise limits.answerBytesMax`,
        { details: { answerBytes: length, answerBytesMax } },
      )
    }
    const sent = key !== undefined && keep ? place.cache.offer(key, revision, ready) : ready
    return await deliver(sent, exchange)
  }
}
