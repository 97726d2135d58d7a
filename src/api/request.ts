// One request as the routes see it: its id, its headers and what it asks for. It sends nothing.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AlmanacError, type ErrorCode } from '../errors.ts'

export const apiVersions = ['v2', 'v2.1', 'v2.2'] as const
export type ApiVersion = (typeof apiVersions)[number]

export function versionPath(version: ApiVersion, path: string): string {
  return `/api/${version}${path}`
}

export type RateLimitFacts = { limit: number; remaining: number; resetSeconds: number }

const idPrefix = randomBytes(5).toString('hex')
let idsGiven = 0

export function newRequestId(): string {
  idsGiven++
  return `${idPrefix}-${idsGiven.toString(36)}`
}

const validRequestId = /^[\w.:-]{1,64}$/

/** What an Accept header names, in lower case, with its weight: 1 where none is given, 0 where it is not a number. */
export function weightsIn(accept: string): ReadonlyMap<string, number> {
  const named = accept.split(',').map((part): [string, number] => {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    return [name, Number(parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? 1) || 0]
  })
  return new Map(named)
}

/** Whether an Accept header names a type; a wildcard does not. */
export function namesType(accept: string | undefined, type: string): boolean {
  return accept !== undefined && (weightsIn(accept).get(type) ?? 0) > 0
}

/** The newest known block of a chain that an answer is about, and the age from which answers show it. */
export type Head = { timestamp: number; ageMaxSeconds: number }

/** What the route says of the path: its version and the names of its parameters. */
type PathFacts = { version: ApiVersion; names: readonly string[] }

export class ApiRequest {
  readonly startedMs = performance.now()
  readonly requestId: string
  readonly method: string
  /** Path and query. Empty where the request has no valid ones. */
  readonly target: string
  readonly version: ApiVersion
  /** What the key has left, once it is admitted. Every answer says it, errors included. */
  rateLimit: RateLimitFacts | undefined
  /** Of the key, once it is admitted. */
  keyId: string | undefined
  /** Why it was not answered as asked, and the key that was not admitted, where it is known. */
  refusal: { code: ErrorCode; keyId: string | undefined } | undefined
  /** Whether the console asks, once the key is admitted. */
  isConsole = false
  /** The newest known blocks of the chains that it is about, for an error too. Empty until its work begins. */
  heads: readonly Head[] = []
  #left: AlmanacError | undefined
  #leaving: AbortController | undefined
  readonly #incoming: IncomingMessage
  readonly #names: readonly string[]
  readonly #values: readonly string[]

  constructor(incoming: IncomingMessage, target: string, { version, names }: PathFacts, values: readonly string[]) {
    this.#incoming = incoming
    this.#names = names
    this.#values = values
    this.version = version
    this.target = target
    this.method = incoming.method!
    const given = this.header('x-request-id')
    this.requestId = given !== undefined && validRequestId.test(given) ? given : newRequestId()
  }

  /** Fires once the answer is not needed any more: the client has left, or the request timed out. */
  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      this.#leaving = new AbortController()
      if (this.#left !== undefined) this.#leaving.abort(this.#left)
    }
    return this.#leaving.signal
  }

  leave(reason: AlmanacError): void {
    this.#left ??= reason
    this.#leaving?.abort(reason)
  }

  /** Why the answer is not needed any more; undefined while the client waits for it. */
  get left(): AlmanacError | undefined {
    return this.#left
  }

  /** Whether a page of this service asks. Browsers say so, over HTTPS and on this machine, and no page can fake it. */
  get isOwnPage(): boolean {
    return this.header('sec-fetch-site') === 'same-origin'
  }

  get remoteAddress(): string {
    return this.#incoming.socket.remoteAddress ?? ''
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }

  pathParameter(name: string): string {
    return this.#values[this.#names.indexOf(name)] ?? ''
  }

  /** Without the question mark. A fragment is not part of it. */
  get query(): string {
    const at = pathOf(this.target).length
    if (this.target[at] !== '?') return ''
    const hash = this.target.indexOf('#', at)
    return this.target.slice(at + 1, hash === -1 ? undefined : hash)
  }

  /** Fails beyond the limit. The rest is then read and dropped, so that the client gets to the answer. */
  async #readBody(bytesMax: number): Promise<string> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of this.#incoming.iterator({ destroyOnReturn: false })) {
        bytes += chunk.length
        if (bytes > bytesMax) throw new AlmanacError('bad_request', `The body is longer than ${bytesMax} bytes`)
        chunks.push(chunk)
      }
    } catch (error) {
      this.#incoming.resume()
      if (error instanceof AlmanacError) throw error
      throw new AlmanacError('bad_request', 'The body broke off', { cause: error })
    }
    return Buffer.concat(chunks).toString()
  }

  /** Fails also where the body is not JSON. */
  async readJson(bytesMax: number): Promise<unknown> {
    const text = await this.#readBody(bytesMax)
    try {
      return JSON.parse(text)
    } catch (error) {
      const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
      const at = position === undefined ? text.length : Number(position)
      throw new AlmanacError('bad_request', 'The body must be JSON', {
        details: { parameter: 'body', position: at, accepted: 'JSON' },
      })
    }
  }
}

/** All readers of URLs agree on these: nothing to decode, nothing to normalise. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/
const plainTarget = /^\/[!#$&-;=?-[\]_a-z~]*$/

/** Path and query of a request, normalised where they need it. Undefined where target and Host header make no URL. */
export function targetOf({ url = '', method, headers }: IncomingMessage): string | undefined {
  // HTTP/1.0 clients leave the Host header out. Only texts that name this service depend on it.
  const host = headers.host || 'localhost'
  if (plainTarget.test(url) && !url.includes('/.') && plainHost.test(host)) return url
  // `OPTIONS *` asks about the server as a whole; every path answers the same.
  if (url === '*' && method === 'OPTIONS') return '/'
  const isAbsolute = url.startsWith('http://') || url.startsWith('https://')
  if (!(isAbsolute || url.startsWith('/')) || /^[^?]*\\/.test(url)) return undefined
  const parsed = URL.parse(isAbsolute ? url : `http://${host}${url}`)
  if (parsed === null || !(isAbsolute || isHost(host, parsed.hostname))) return undefined
  return parsed.href.slice(parsed.href.indexOf('/', 'https://'.length))
}

/** The path of a target: everything before its query and its fragment. */
export function pathOf(target: string): string {
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  const hash = path.indexOf('#')
  return hash === -1 ? path : path.slice(0, hash)
}

/** A Host header with anything but a host and a port, such as a path, would move the target. */
function isHost(header: string, hostname: string): boolean {
  return hostname.length === header.length || hostname === header.replace(/:\d+$/, '').toLowerCase()
}

/** What is wrong with a request before its target is read: its version, its headers. */
export function faultOf(
  { httpVersionMajor, rawHeaders }: IncomingMessage,
  headerBytesMax: number,
): AlmanacError | undefined {
  // The parser also takes 0.9 and 2.0, whose clients would not understand the answer.
  if (httpVersionMajor !== 1) return unsupportedVersion()
  let headerBytes = 0
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    headerBytes += name.length + rawHeaders[at + 1]!.length + headerLineBytes
  }
  // The parser bounds the headers together with the URL.
  if (headerBytes > headerBytesMax) return new AlmanacError('headers_too_large', 'The request headers are too large')
  // RFC 9112, 3.2: a proxy could take another one than we do. Node keeps the first and drops the rest.
  if (hosts > 1) return new AlmanacError('bad_request', 'The request has more than one Host header')
  return undefined
}

/** Of a colon, a space and the end of the line. */
const headerLineBytes = 4

export function unsupportedVersion(): AlmanacError {
  return new AlmanacError('http_version_not_supported', 'The request is not HTTP/1.1 or HTTP/1.0')
}
