// Answers with a whole list: it takes a place among the streams, makes the head of the answer, and hands over the
// sending. `list-sender.ts` sends.
import { AlmanacError } from '../../errors.ts'
import type { Admission, Scope } from '../../keys/gatekeeper.ts'
import { type Answer, completenessHeaders, safetyHeaders, vary } from '../answer.ts'
import type { Context } from '../context.ts'
import { dialectOf } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import { ListSender } from './list-sender.ts'
import type { ListStream } from './list-stream.ts'
import { type StreamForm, streamTypes } from './stream-form.ts'

export type AskedList = { scope: Scope | 'any'; form: StreamForm; list: () => Promise<ListStream> }

export async function wholeListAnswer(
  context: Context,
  request: ApiRequest,
  { scope, form, list: begin }: AskedList,
  { key }: Admission,
): Promise<Answer> {
  const { streams, queue, settings, gatekeeper } = context
  refusePages(request)
  const close = streams.open(key.id)
  try {
    const list = await queue.run(begin, { onLate: error => request.leave(error) })
    const answer = { status: 200, headers: headersOf(context, request, form, list), body: null }
    if (request.method === 'HEAD') {
      close()
      return answer
    }
    const sender = new ListSender(list, form, {
      ...{ metrics: streams.metrics, log: context.log, requestId: request.requestId, pageSize: settings.pageSizeMax },
      turn: () => streams.turn(),
      rate: streams.rate,
      spend: requests => gatekeeper.spend(request.header('x-api-key') ?? '', scope, requests, request.isOwnPage),
    })
    // What fails before the first row still has a status, unless that takes longer than an answer may.
    await sender.start(settings.requestTimeoutMs)
    // Reading for a client ends when it goes away.
    const release = () => void sender.stop().finally(close)
    return { ...answer, send: outgoing => sender.send(outgoing), release }
  } catch (error) {
    close()
    throw error
  }
}

/** A whole list has no pages. */
function refusePages(request: ApiRequest): void {
  const query = new URLSearchParams(request.query)
  const parameter = ['cursor', 'limit'].find(name => query.getAll(name).some(text => text !== ''))
  if (parameter === undefined) return
  throw new AlmanacError(
    'bad_request',
    `${parameter} must be left out: text/csv and application/x-ndjson are whole lists`,
    {
      details: { parameter, accepted: 'nothing, with this Accept header' },
    },
  )
}

function headersOf({ settings }: Context, request: ApiRequest, form: StreamForm, list: ListStream) {
  return {
    'Content-Type': form === 'csv' ? `${streamTypes.csv}; charset=utf-8` : streamTypes.ndjson,
    ...completenessHeaders(list, dialectOf(request, settings.dialect)),
    ...list.headers,
    'Cache-Control': 'no-store',
    // A proxy that takes all of it at once would fill its disk for a slow reader.
    'X-Accel-Buffering': 'no',
    Vary: vary,
    ...safetyHeaders,
  }
}
