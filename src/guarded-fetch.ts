// The one way out for addresses that strangers choose: token URIs, pictures, webhooks. It reaches public addresses
// alone unless its caller permits more, and everything that comes back is bounded. It sends no credentials and no
// cookies, and knows no proxy.
import { lookup as lookUp } from 'node:dns/promises'
import { BlockList, connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { Client, type Dispatcher } from 'undici'
import { followSignals, type SlowestRate, slowestRate, untilAborted, watchRate } from './abort.ts'
import { AlmanacError, type ErrorCode, messageOf } from './errors.ts'
import { Mutex } from './once.ts'

/** What a URL may do, first and after each redirect; undefined where it may not be asked at all. */
export type Permit = { http?: boolean; private?: boolean }

export type FetchRules = {
  permits: (url: URL) => Permit | undefined
  /** 0: a redirect is an answer like any other. */
  redirectsMax: number
  /** Of the body, also after it is decompressed. */
  bytesMax: number
  /** A longer body is cut instead of refused. */
  cutsBody?: boolean
  /** From the first lookup to the last byte, redirects included. */
  timeoutMs: number
  /** From the lookup to the last header of one answer. */
  headersTimeoutMs: number
  slowest?: SlowestRate
  resolve?: (hostname: string) => Promise<string[]>
  isPublic?: (address: string) => boolean
}

export type FetchRequest = {
  url: string
  method?: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
}

export type FetchAnswer = {
  status: number
  /** By names in lower case. */
  headers: Readonly<Record<string, string>>
  body: Buffer<ArrayBuffer>
  /** Where it came from, after redirects. */
  url: string
}

/**
 * Why nothing came, in the details of the error. A name without an address and one with private addresses alone are the
 * same to whoever chose it: else a stranger could list the names of a private network.
 */
const failures = {
  invalid_url: { code: 'bad_request', retryable: false },
  refused_host: { code: 'bad_request', retryable: false },
  no_address: { code: 'upstream_failed', retryable: true },
  unreachable: { code: 'upstream_failed', retryable: true },
  timeout: { code: 'timeout', retryable: true },
  too_large: { code: 'upstream_invalid', retryable: false },
  refused_redirect: { code: 'upstream_invalid', retryable: false },
  invalid_answer: { code: 'upstream_invalid', retryable: true },
} as const satisfies Record<string, { code: ErrorCode; retryable: boolean }>
export type FetchFailure = keyof typeof failures

const urlCharactersMax = 8_192
const headerBytesMax = 16 * 1_024
const addressesMax = 8
const redirectStatuses = new Set([301, 302, 303, 307, 308])

/** The failure of an error that `guardedFetch` made; undefined for any other error. */
export function fetchFailureOf(error: unknown): FetchFailure | undefined {
  if (!(error instanceof AlmanacError)) return undefined
  const reason = (error.details as { fetch?: string } | undefined)?.fetch
  return reason !== undefined && reason in failures ? (reason as FetchFailure) : undefined
}

/** Throws what `guardedFetch` would throw before it asks anything: for URLs that are kept for later. */
export function permittedUrl(text: string, { permits }: Pick<FetchRules, 'permits'>): URL {
  const url = text.length > urlCharactersMax ? null : URL.parse(text)
  if (url === null) throw failure('invalid_url', 'This is not a URL')
  const permit = permits(url)
  if (permit === undefined) throw failure('refused_host', `${url.host} may not be asked`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && permit.http))
    throw failure('invalid_url', `The URL must begin with https${permit.http ? ' or http' : ''}`)
  if (url.username !== '' || url.password !== '') throw failure('invalid_url', 'The URL must not have credentials')
  const host = hostOf(url)
  const port = Number(url.port)
  if (!permit.private && port > 0 && port < 1_024 && port !== 80 && port !== 443)
    throw failure('invalid_url', `Port ${port} is not one of a web server`)
  if (!permit.private && isIP(host) === 0 && isLocalName(host))
    throw failure('refused_host', `${url.host} is a name of a private network`)
  return url
}

/** Answers with any status; throws an AlmanacError, or the reason of the signal. */
export async function guardedFetch(request: FetchRequest, rules: FetchRules): Promise<FetchAnswer> {
  using linked = followSignals(...(request.signal === undefined ? [] : [request.signal]))
  const timer = setTimeout(() => {
    linked.abort(failure('timeout', `No whole answer within ${rules.timeoutMs} ms`))
  }, rules.timeoutMs)
  try {
    let url = permittedUrl(request.url, rules)
    for (let redirects = 0; ; redirects++) {
      const answer = await exchange(url, { ...request, signal: linked.signal }, { rules, follows: redirects > 0 })
      if (typeof answer === 'object') return answer
      if (redirects === rules.redirectsMax)
        throw failure('refused_redirect', `${url.host} redirects more than ${rules.redirectsMax} times`)
      url = redirectedUrl(url, answer, rules)
    }
  } finally {
    clearTimeout(timer)
  }
}

function redirectedUrl(from: URL, location: string, rules: FetchRules): URL {
  const to = location.length > urlCharactersMax ? null : URL.parse(location, from)
  if (to === null) throw failure('refused_redirect', `${from.host} redirects to what is not a URL`)
  try {
    return permittedUrl(to.href, rules)
  } catch (cause) {
    throw failure('refused_redirect', `${from.host} redirects to where it may not`, cause)
  }
}

type Exchange = FetchRequest & { signal: AbortSignal }

/** One request and its answer; of a redirect that is to be followed, its location. */
async function exchange(
  url: URL,
  { method = 'GET', headers = {}, body, signal: outer }: Exchange,
  { rules, follows }: { rules: FetchRules; follows: boolean },
): Promise<FetchAnswer | string> {
  using linked = followSignals(outer)
  const { signal } = linked
  const timer = setTimeout(() => {
    linked.abort(failure('timeout', `${url.host} did not answer within ${rules.headersTimeoutMs} ms`))
  }, rules.headersTimeoutMs)
  let pinned: PinnedClient | undefined
  try {
    signal.throwIfAborted()
    const addresses = await untilAborted(addressesOf(url, rules, signal), signal)
    pinned = pinnedClient(url, addresses)
    const asked = pinned.client.request({
      ...{ method, path: `${url.pathname}${url.search}`, signal },
      // What a caller sends to a host is not for the next one.
      headers: { 'accept-encoding': 'gzip, br', ...(follows ? { accept: headers.accept ?? '*/*' } : headers) },
      body: body ?? null,
    })
    // While it connects, the request itself does not listen to the signal.
    const answer = await untilAborted(asked, signal)
    clearTimeout(timer)
    const known = plainHeaders(answer.headers)
    // It fails when the connection ends, also where it is not read.
    answer.body.on('error', () => {})
    if (method === 'GET' && rules.redirectsMax > 0 && redirectStatuses.has(answer.statusCode))
      return known.location ?? ''
    const read = { bytes: 0 }
    const tooSlow = (slow: string): void => linked.abort(failure('timeout', `${url.host}: ${slow}`))
    using _ = watchRate(rules.slowest ?? slowestRate, () => read.bytes, tooSlow)
    const whole = await readBody(answer.body, { url, rules, headers: known, read })
    return { status: answer.statusCode, headers: known, body: whole, url: url.href }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof AlmanacError) throw error
    throw brokenExchange(url, error)
  } finally {
    clearTimeout(timer)
    // Whatever is still to come.
    pinned?.end()
  }
}

type PinnedClient = { client: Client; end: () => void }

/** What was checked is what is connected to: no second lookup happens. */
function pinnedClient(url: URL, addresses: readonly string[]): PinnedClient {
  const pinned = addresses.map(address => ({ address, family: isIP(address) }))
  const host = hostOf(url)
  const options = {
    ...{ host, autoSelectFamily: true, noDelay: true },
    lookup: ((_, { all }, answer) => {
      if (all) answer(null, pinned)
      else answer(null, pinned[0]!.address, pinned[0]!.family)
    }) satisfies LookupFunction,
  }
  let socket: Socket | undefined
  const client = new Client(url.origin, {
    ...{ pipelining: 0, allowH2: false, maxHeaderSize: headerBytesMax, headersTimeout: 0, bodyTimeout: 0 },
    connect: ({ protocol }, connected) => {
      const isTls = protocol === 'https:'
      const port = Number(url.port) || (isTls ? 443 : 80)
      const connecting = isTls
        ? connectTls({ ...options, port, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
        : connectPlain({ ...options, port })
      socket = connecting
        .once(isTls ? 'secureConnect' : 'connect', () => connected(null, connecting))
        .on('error', error => connected(error, null))
    },
  })
  const end = (): void => {
    socket?.destroy()
    void client.destroy().catch(() => {})
  }
  return { client, end }
}

/** The system looks names up in threads that files need too, and a name may be made to take long: two at a time. */
const lookups = [new Mutex(), new Mutex()]
let lookupsBegun = 0

async function resolvedInTurn(hostname: string, signal: AbortSignal): Promise<string[]> {
  const lane = lookups[lookupsBegun++ % lookups.length]!
  return await lane.run(async () => (signal.aborted ? [] : resolved(hostname)))
}

async function addressesOf(url: URL, rules: FetchRules, signal: AbortSignal): Promise<string[]> {
  const { resolve = (hostname: string) => resolvedInTurn(hostname, signal), isPublic = isPublicAddress } = rules
  signal.throwIfAborted()
  const host = hostOf(url)
  const isLiteral = isIP(host) !== 0
  const found = isLiteral ? [host] : await resolve(host).catch(nothing(url))
  if (rules.permits(url)?.private) return found
  const allowed = found.filter(isPublic)
  if (allowed.length > 0) return allowed.slice(0, addressesMax)
  if (isLiteral) throw failure('refused_host', `${url.host} is an address of a private or special range`)
  throw noAddress(url, new Error(found.length === 0 ? 'none was found' : `${found.join(', ')} are not public`))
}

async function resolved(hostname: string): Promise<string[]> {
  const found = await lookUp(hostname, { all: true })
  return found.map(({ address }) => address)
}

function nothing(url: URL): (cause: unknown) => never {
  return cause => {
    throw noAddress(url, cause)
  }
}

function noAddress(url: URL, cause: unknown): AlmanacError {
  return failure('no_address', `${url.host} has no public address`, cause)
}

type BodyContext = { url: URL; rules: FetchRules; headers: Readonly<Record<string, string>>; read: { bytes: number } }

/** Bytes are counted after they are decompressed. Leaving the loop ends the stream: a bomb unpacks one chunk more. */
async function readBody(
  body: Readable,
  { url, rules: { bytesMax, cutsBody = false }, headers, read }: BodyContext,
): Promise<Buffer<ArrayBuffer>> {
  const tooLarge = (): AlmanacError => failure('too_large', `${url.host} sends more than ${bytesMax} bytes`)
  if (!cutsBody && Number(headers['content-length']) > bytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  // Crumbs of a byte each would take a hundred times their size.
  let chunksLeft = 1_000 + bytesMax / 256
  for await (const chunk of unpacked(body, headers['content-encoding'], url) as AsyncIterable<Buffer>) {
    read.bytes += chunk.length
    chunks.push(chunk)
    if (read.bytes <= bytesMax && chunksLeft-- > 0) continue
    if (!cutsBody) throw tooLarge()
    break
  }
  return Buffer.concat(chunks).subarray(0, bytesMax)
}

function unpacked(body: Readable, encoding: string | undefined, url: URL): Readable {
  if (encoding === undefined || encoding === 'identity') return body
  const unpacker = encoding === 'gzip' ? createGunzip() : encoding === 'br' ? createBrotliDecompress() : undefined
  if (unpacker === undefined) throw failure('invalid_answer', `${url.host} sends a compression that was not asked for`)
  body.on('error', error => unpacker.destroy(error))
  unpacker.on('close', () => body.destroy())
  return body.pipe(unpacker)
}

function plainHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value
      return first === undefined ? [] : [[name.toLowerCase(), first]]
    }),
  )
}

function brokenExchange(url: URL, cause: unknown): AlmanacError {
  const { code = '', name } = cause as NodeJS.ErrnoException
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return failure('too_large', `${url.host} sends too many headers`, cause)
  if (name === 'HTTPParserError' || /^(Z_|ERR__ERROR_|ERR_BROTLI|ERR_PADDING)/.test(code))
    return failure('invalid_answer', `The answer of ${url.host} is not valid`, cause)
  return failure('unreachable', `${url.host} could not be reached, or broke off`, cause)
}

function failure(reason: FetchFailure, message: string, cause?: unknown): AlmanacError {
  const { code, retryable } = failures[reason]
  // Errors of parsers carry what a host said.
  const said = cause === undefined ? {} : { cause: new Error(messageOf(cause)) }
  return new AlmanacError(code, message, { details: { fetch: reason }, retryable, ...said })
}

/** Without the brackets of IPv6 and the dot after a full name. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** A name that a public resolver does not know. */
export function isLocalName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return !name.includes('.') || /\.(localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)$/.test(name)
}

// The special-purpose registries of IANA. Of IPv6 the other way round: what is not global unicast is special.
const specialIpv4 = blockList('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
const globalIpv6 = blockList('ipv6', ['2000::/3'])
/** Teredo and other protocols, documentation, 6to4, AS112. */
const specialIpv6 = blockList('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

function blockList(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}

/** What is not an address is not public either. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !specialIpv4.check(address)
  if (family === 0 || address.includes('%')) return false
  if (globalIpv6.check(address, 'ipv6')) return !specialIpv6.check(address, 'ipv6')
  // A network without IPv4 reaches IPv4 so, and then every host has such an address.
  const [, high = '0', low] =
    /^\[64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})\]$/.exec(new URL(`http://[${address}]`).hostname) ?? []
  return low !== undefined && isPublicAddress(dotted(Number.parseInt(high, 16), Number.parseInt(low, 16)))
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
