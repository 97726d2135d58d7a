// One request as the routes see it: its id, its headers and what it asked for. It sends nothing.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { AlmanacError } from '../errors.ts'
import type { RateLimitFacts } from './problem.ts'

/** `incoming` is absent when the app is called without a server around it. */
export type AppEnvironment = { Bindings: { incoming?: IncomingMessage } }

/** A request, from whichever side it came in. */
export type Asked = {
  method: string
  /** Path and query. */
  target: string
  /** By names in lower case. */
  headers: IncomingHttpHeaders
  pathParameter: (name: string) => string | undefined
  body?: () => AsyncIterable<Uint8Array> | null
}

export function askedByContext({ req, env }: Context<AppEnvironment>): Asked {
  const { url, method, raw } = req
  return {
    method,
    // Behind `http://` or `https://` and the host.
    target: url.slice(url.indexOf('/', 8)),
    // Node's own record of the headers is at hand; a Headers object would have to be made.
    headers: env?.incoming?.headers ?? Object.fromEntries(raw.headers),
    pathParameter: name => req.param(name),
    body: () => raw.body,
  }
}

const idPrefix = randomBytes(5).toString('hex')
let idsGiven = 0

export function newRequestId(): string {
  idsGiven++
  return `${idPrefix}-${idsGiven.toString(36)}`
}

const saneRequestId = /^[\w.:-]{1,64}$/

export class Exchange {
  readonly startedMs = performance.now()
  readonly requestId: string
  readonly target: string
  readonly method: string
  /** What is left for the key, once it was let in: told with every answer, errors included. */
  rateLimit: RateLimitFacts | undefined
  readonly #asked: Asked

  constructor(asked: Asked) {
    this.#asked = asked
    this.target = asked.target
    this.method = asked.method
    const given = this.header('x-request-id')
    this.requestId = given !== undefined && saneRequestId.test(given) ? given : newRequestId()
  }

  header(name: string): string | undefined {
    const value = this.#asked.headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }

  pathParameter(name: string): string {
    return this.#asked.pathParameter(name) ?? ''
  }

  /** What came with the request. Reading stops, with an error, beyond the limit. */
  async readBody(bytesMax: number): Promise<string> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of this.#asked.body?.() ?? []) {
        bytes += chunk.length
        if (bytes > bytesMax) throw new AlmanacError('bad_request', `The body is longer than ${bytesMax} bytes`)
        chunks.push(chunk)
      }
    } catch (error) {
      if (error instanceof AlmanacError) throw error
      throw new AlmanacError('bad_request', 'The body broke off', { cause: error })
    }
    return Buffer.concat(chunks).toString()
  }

  get query(): string {
    const at = this.target.indexOf('?')
    if (at === -1) return ''
    const hash = this.target.indexOf('#', at)
    return this.target.slice(at + 1, hash === -1 ? undefined : hash)
  }
}
