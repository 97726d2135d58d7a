// Changes as server-sent events: a stream that ends with the client, the key or the service, and takes no more than its
// client reads. It reads nothing by itself.
import { Readable } from 'node:stream'
import type { ChangePage, ChangeRows, ChangesGone } from '../../../query/changes/changes.ts'
import type { ChangePosition } from '../../../query/changes/position.ts'
import { problemAnswer } from '../../problem.ts'
import type { Listeners } from './listeners.ts'

/** A comment is sent this often, so that neither side takes a quiet connection for a dead one. */
const heartbeatMs = 15_000
/** A revoked key ends its streams within about a second, and so does a client that went. */
const checkMs = 1_000
const pauseMs = 50
/** After which a client connects again. */
const retryMs = 3_000
const backlogBytes = 64 * 1024

export type StreamParts = {
  first: { page: ChangePage | ChangesGone; revision: number }
  close: () => void
  listeners: Listeners
  requestId: string
  revision: () => number
  follow: (page: ChangePage | ChangesGone) => Promise<ChangePage | ChangesGone>
  /** Pays for a page. */
  spend: () => Promise<void>
  stillAllowed: () => Promise<boolean>
  seal: (position: ChangePosition) => string
  texts: (told: ChangeRows) => readonly string[]
}

export function changeStream(parts: StreamParts): Readable {
  const stream = Readable.from(framesOf(parts), { objectMode: false, highWaterMark: backlogBytes })
  return stream.once('close', parts.close)
}

async function* framesOf(parts: StreamParts): AsyncGenerator<string> {
  const { first, listeners, stillAllowed, spend, seal } = parts
  let { page, revision } = first
  let sentMs = performance.now()
  yield `retry: ${retryMs}\n\n`
  try {
    while (true) {
      const frames = 'fromBlock' in page ? [goneFrame(page, seal)] : page.told.flatMap(told => framesIn(told, parts))
      const isMore = 'fromBlock' in page || page.more
      if (frames.length > 0) {
        yield frames.join('')
        sentMs = performance.now()
        await spend()
      } else if (performance.now() - sentMs >= heartbeatMs) {
        // With the position: a quiet stream goes on from there too.
        yield `: \nid: ${seal(page.next)}\n\n`
        sentMs = performance.now()
      }
      // One that could not be read yet is not tried again at once.
      if (!isMore || frames.length === 0) await listeners.wait(revision, isMore ? pauseMs : checkMs)
      if (listeners.isClosed || !(await stillAllowed())) return
      const now = parts.revision()
      page = isMore || now !== revision ? await parts.follow(page) : { told: [], next: page.next, more: false }
      revision = now
    }
  } catch (error) {
    const { body } = problemAnswer(error, { requestId: parts.requestId, accept: undefined, solana: false })
    yield `event: problem\ndata: ${Buffer.from(body!).toString()}\n\n`
  }
}

function goneFrame({ fromBlock, next }: ChangesGone, seal: StreamParts['seal']): string {
  return `event: gone\nid: ${seal(next)}\ndata: {"from_block":${fromBlock}}\n\n`
}

function framesIn(told: ChangeRows, { texts, seal }: StreamParts): string[] {
  return texts(told).map((text, at) => `event: change\nid: ${seal(told.behind(at))}\ndata: ${text}\n\n`)
}
