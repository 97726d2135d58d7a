// The route of server-sent events: what the live feed tells, as a stream that ends with the client, the key or the service.
import { AlmanacError } from '../errors.ts'
import { type Answer, safetyHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { LiveEvent, LiveFeed } from './live-feed.ts'
import type { Workplace } from './operation.ts'
import { admitOperator } from './ops.ts'

/** A comment goes out this often, so that neither side takes a quiet connection for a dead one. */
const heartbeatMs = 10_000
/** A revoked key ends its streams within a second: a look may find a key that was read as long ago as the look before. */
export const keyCheckMs = 300
/** A client that lets more than this pile up is cut off; it can come back and starts with the state of then. */
const backlogBytesMax = 4 * 1024 * 1024

export async function answerEvents(place: Workplace, exchange: Exchange): Promise<Answer> {
  const secret = await admitOperator(place, exchange)
  const { live, gatekeeper } = place
  if (live === undefined) throw new AlmanacError('not_configured', 'Nothing is told live here')
  const stillAllowed = async () => secret === undefined || (await gatekeeper.stillHolds(secret, 'ops'))
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Asks proxies to pass everything on at once.
      'X-Accel-Buffering': 'no',
      ...safetyHeaders,
    },
    body: null,
    stream: exchange.method === 'HEAD' ? emptyStream() : eventStream(live, stillAllowed),
  }
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: controller => controller.close() })
}

function eventStream(live: LiveFeed, stillAllowed: () => Promise<boolean>): ReadableStream<Uint8Array> {
  const timers: NodeJS.Timeout[] = []
  let leave = () => {}
  let ended = false
  const release = () => {
    ended = true
    leave()
    for (const timer of timers) clearInterval(timer)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = () => {
          if (ended) return
          release()
          controller.close()
        }
        const send = (frame: Uint8Array) => {
          if (ended) return
          controller.enqueue(frame)
          if ((controller.desiredSize ?? 0) < 0) end()
        }
        const check = async () => {
          if (await stillAllowed().catch(() => true)) return
          send(keyEnded)
          end()
        }
        // Before anything that would stay behind where there is no room for another listener.
        leave = live.listen({ hear: event => send(frameOf(event)), end })
        if (ended) return leave()
        timers.push(
          setInterval(() => send(heartbeat), heartbeatMs).unref(),
          setInterval(() => void check(), keyCheckMs).unref(),
        )
      },
      cancel: release,
    },
    { highWaterMark: backlogBytesMax, size: frame => frame.length },
  )
}

const heartbeat = Buffer.from(': \n\n')
const keyEnded = Buffer.from('event: unauthorized\ndata: {"message":"Invalid key"}\n\n')

/** One event is written once, however many listen. */
const frames = new WeakMap<LiveEvent, Uint8Array>()

function frameOf(event: LiveEvent): Uint8Array {
  const known = frames.get(event)
  if (known !== undefined) return known
  const frame = Buffer.from(`event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`)
  frames.set(event, frame)
  return frame
}
