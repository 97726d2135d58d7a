// The short way for the operations: plain GET requests go from Node's request to Node's response, past the framework, which
// takes as long as everything else that a kept answer costs. Whatever is unusual about a request leaves it to the framework.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../log.ts'
import type { Answer } from './answer.ts'
import type { Desk, Work } from './desk.ts'
import { Exchange } from './exchange.ts'

/** Takes a request and answers it, or leaves it alone and says so. */
export type DirectListener = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

type DirectRoute = { route: string; pattern: RegExp; names: readonly string[]; work: Work }

/** Both mean the same to every reader of URLs: nothing to decode, nothing to normalise. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const plainQuery = '(?:\\?[\\w.~=&,;:+*\\[\\]-]*)?'

export class DirectPath {
  readonly #routes: DirectRoute[] = []
  readonly #desk: Desk
  readonly #log: Log

  constructor(desk: Desk, log: Log) {
    this.#desk = desk
    this.#log = log
  }

  /** `route` is written as for the framework: `:name` stands for a part of the path. */
  add(route: string, work: Work): void {
    const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!)
    const path = route.replace(/\./g, '\\.').replace(/:\w+/g, '([0-9A-Za-z]+)')
    this.#routes.push({ route, pattern: new RegExp(`^${path}/?${plainQuery}$`), names, work })
  }

  readonly listener: DirectListener = (incoming, outgoing) => {
    const { method, url, headers } = incoming
    if ((method !== 'GET' && method !== 'HEAD') || !isPlain(incoming)) return false
    for (const { route, pattern, names, work } of this.#routes) {
      const found = pattern.exec(url!)
      if (found === null) continue
      const pathParameter = (name: string) => found[names.indexOf(name) + 1]
      this.#answer(new Exchange({ method, target: url!, headers, pathParameter }), route, work, outgoing)
      return true
    }
    return false
  }

  #answer(exchange: Exchange, route: string, work: Work, outgoing: ServerResponse): void {
    const send = (answer: Answer): void => {
      try {
        sendAnswer(outgoing, answer)
      } catch (error) {
        this.#log.error({ err: error, request_id: exchange.requestId, route }, 'An answer could not be sent')
        outgoing.destroy()
      }
    }
    const answer = this.#desk.answer(exchange, route, work)
    if (answer instanceof Promise) answer.then(send)
    else send(answer)
  }
}

function isPlain({ headers }: IncomingMessage): boolean {
  return (
    headers.host !== undefined &&
    plainHost.test(headers.host) &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

function sendAnswer(outgoing: ServerResponse, { status, headers, body, release }: Answer): void {
  if (body === null || outgoing.req.method === 'HEAD') {
    outgoing.writeHead(status, headers).end()
    release?.()
    return
  }
  const hasLength = headers['Content-Length'] !== undefined
  outgoing.writeHead(status, hasLength ? headers : { ...headers, 'Content-Length': `${Buffer.byteLength(body)}` })
  outgoing.end(body, release)
}
