// The route of server-sent events: the live feed as a stream that ends with the client, the key or the service.
import { Readable } from 'node:stream'
import { AlmanacError } from '../errors.ts'
import { safetyHeaders } from './answer.ts'
import type { Context } from './context.ts'
import type { ListenerOwner, LiveEvent, LiveFeed } from './live-feed.ts'
import { textSuccess } from './openapi-parts.ts'
import { admitOperator, secretOf } from './operator-routes.ts'
import type { ApiRequest } from './request.ts'
import type { RouteParts } from './responder.ts'

/** A comment is sent this often, so that neither side takes a quiet connection for a dead one. */
const heartbeatMs = 10_000
/** A revoked key ends its streams within a second: a check may see a key as it was read at the check before. */
export const keyCheckMs = 300
/** A client that lets more than this pile up is cut off. It may reconnect and starts with the current state. */
const backlogBytesMax = 4 * 1024 * 1024

const exampleEvent = 'event: block\ndata: {"chain":"eth","number":17722946}\n\n'

export const events: RouteParts = {
  answer: context => async request => {
    const { live, gatekeeper } = context
    const secret = await admitOperator(context, request)
    if (live === undefined) throw new AlmanacError('not_configured', 'Live events are disabled')
    const stillAllowed = async () => secret === undefined || (await gatekeeper.stillHolds(secret, 'ops'))
    const owner = secret === undefined ? await ownerWithoutNeed(context, request) : { key: secret }
    return {
      status: 200,
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        // Asks proxies not to hold anything back.
        'X-Accel-Buffering': 'no',
        ...safetyHeaders,
      },
      body: null,
      ...(request.method === 'HEAD' ? {} : { stream: eventStream(live, owner, stillAllowed) }),
    }
  },
  document: {
    id: 'getEvents',
    summary: 'Live events; needs the scope `ops` unless the operator opened it',
    description: [
      'What happens in this service as it happens: the console is made of it. Starts with `history` (schema `LivePast`), then sends `status` every second (`LiveStatus`, with what is wrong and the figures of the API), `sample` every five ' +
        '(`LiveSample`, the next moment of the history), `block` when the head of a chain moves (`LiveBlock`), ' +
        '`trouble` while the status cannot be read, and `unauthorized`, as the last one, once the key is revoked.',
      'A comment is sent every ten seconds. A client that does not keep up is cut off and may come back. ' +
        'A key may listen 16 times; more are refused with 503.',
    ].join('\n\n'),
    answers: {
      200: textSuccess(
        'text/event-stream',
        'A stream that ends with the client, the key or the service.',
        exampleEvent,
      ),
    },
    errors: ['unauthorized', 'forbidden', 'internal', 'overloaded'],
  },
}

/** Where no key is needed, a client that has one still gets the places of its key. */
async function ownerWithoutNeed({ gatekeeper }: Context, request: ApiRequest): Promise<ListenerOwner> {
  const secret = secretOf(request)
  if (secret !== undefined && (await gatekeeper.stillHolds(secret, 'ops').catch(() => false))) return { key: secret }
  return { address: request.remoteAddress }
}

function eventStream(live: LiveFeed, owner: ListenerOwner, stillAllowed: () => Promise<boolean>): Readable {
  const timers: NodeJS.Timeout[] = []
  let leave = () => {}
  let ended = false
  const release = () => {
    ended = true
    leave()
    for (const timer of timers) clearInterval(timer)
  }
  const stream = new Readable({
    highWaterMark: backlogBytesMax,
    read: () => undefined,
    destroy: (error, done) => {
      release()
      done(error)
    },
  })
  const end = () => {
    if (ended) return
    release()
    stream.push(null)
  }
  const send = (frame: Uint8Array) => {
    if (!ended && !stream.push(frame)) end()
  }
  const check = async () => {
    if (await stillAllowed().catch(() => true)) return
    send(keyEnded)
    end()
  }
  // Comes first: it throws where the feed takes no more listeners, and then no timer may be running.
  leave = live.listen({ owner, hear: event => send(frameOf(event)), end })
  if (ended) leave()
  else timers.push(setInterval(() => send(heartbeat), heartbeatMs).unref(), setInterval(check, keyCheckMs).unref())
  return stream
}

const heartbeat = Buffer.from(': \n\n')
const keyEnded = Buffer.from('event: unauthorized\ndata: {"message":"Invalid key"}\n\n')

/** Each event is written once for all listeners. */
const frames = new WeakMap<LiveEvent, Uint8Array>()

function frameOf(event: LiveEvent): Uint8Array {
  const known = frames.get(event)
  if (known !== undefined) return known
  const frame = Buffer.from(`event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`)
  frames.set(event, frame)
  return frame
}
