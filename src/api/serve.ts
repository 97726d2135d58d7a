// Puts the app on a socket: limits of the protocol, errors below the app, and an orderly end. No routes here.
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { AlmanacError } from '../errors.ts'
import type { App } from './app.ts'
import { newRequestId } from './exchange.ts'
import { type ApiSettings, defaultApiSettings } from './operation.ts'
import { problemAnswer } from './problem.ts'

/** The limits of the settings, and others that nobody has had to change. */
export type ServeOptions = {
  host: string
  /** 0 takes any free one. */
  port: number
  /** How long a client may take to send a request. */
  receiveTimeoutMs?: number
  /** How long, beyond the time for an answer, nothing may move on a connection: its client takes no answers. */
  stallTimeoutMs?: number
  keepAliveTimeoutMs?: number
  /** How long a refused client has to read why before its connection is cut. */
  lingerMs?: number
  connectionsMax?: number
} & Partial<Pick<ApiSettings, 'urlBytesMax' | 'headerBytesMax' | 'requestTimeoutMs' | 'drainTimeoutMs'>>

export type ServedApp = {
  /** Such as `http://127.0.0.1:8080`, without a slash at the end. */
  url: string
  /** Takes no more connections, lets requests under way finish, closes idle connections. Safe to repeat. */
  close(): Promise<void>
}

const defaults = {
  ...defaultApiSettings,
  receiveTimeoutMs: 30_000,
  stallTimeoutMs: 45_000,
  keepAliveTimeoutMs: 65_000,
  lingerMs: 2_000,
  connectionsMax: 10_000,
}

const drainSweepMs = 25

/** How often connections are looked at for requests that arrive too slowly. */
const receiveCheckMsMax = 5_000

export async function serveApp(app: App, options: ServeOptions): Promise<ServedApp> {
  const limits = { ...defaults, ...options }
  const answer = getRequestListener(app.fetch, {
    // Stands in for a Host header that HTTP/1.0 clients leave out; no answer depends on it.
    hostname: 'localhost',
    // Only a Host header or a target that makes no URL gets here: the app answers everything else itself.
    errorHandler: () =>
      problemResponse(new AlmanacError('bad_request', 'The request target or the Host header is not valid')),
  })
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (hasSeveralHosts(incoming)) {
      sendProblem(outgoing, 'The request has more than one Host header')
      return
    }
    // `OPTIONS *` asks about the server as a whole; every path answers the same.
    if (incoming.url === '*' && incoming.method === 'OPTIONS') incoming.url = '/'
    if (!app.direct(incoming, outgoing)) answer(incoming, outgoing)
  }
  const server = createServer(
    {
      // The parser counts the URL as part of the headers; the app itself refuses a URL of more than its share.
      maxHeaderSize: limits.headerBytesMax + limits.urlBytesMax,
      requestTimeout: limits.receiveTimeoutMs,
      headersTimeout: limits.receiveTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.receiveTimeoutMs, receiveCheckMsMax),
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      requireHostHeader: false,
      noDelay: true,
    },
    listener,
  )
  server.maxConnections = limits.connectionsMax
  server.timeout = limits.requestTimeoutMs + limits.stallTimeoutMs
  server.on('checkExpectation', listener)
  server.on('clientError', (error, socket) =>
    refuse(socket, parserProblem(error as ParserError, limits.urlBytesMax), limits.lingerMs),
  )
  server.on('connect', (_: IncomingMessage, socket) =>
    refuse(socket, new AlmanacError('method_not_allowed', 'The method CONNECT is not allowed here'), limits.lingerMs),
  )
  await listen(server, limits)
  return { url: urlOf(server), close: onceOnly(() => drain(server, limits.drainTimeoutMs)) }
}

/** RFC 9112, 3.2: two of them could mean one place to a proxy and another one to us. Node keeps the first and drops the rest. */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

function sendProblem(outgoing: ServerResponse, message: string): void {
  const { status, headers, body } = problemParts(new AlmanacError('bad_request', message))
  outgoing.writeHead(status, { ...headers, 'Content-Length': body.length, Connection: 'close' }).end(body)
}

type ParserError = Error & { code?: string; rawPacket?: Buffer }

/** A first line that does not end within the limit is a URL that is too long; otherwise it is the headers. */
function parserProblem({ code, rawPacket }: ParserError, urlBytesMax: number): AlmanacError | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AlmanacError('request_timeout', 'The request took too long to arrive')
  }
  if (code !== 'HPE_HEADER_OVERFLOW') return new AlmanacError('bad_request', 'The request is not valid HTTP')
  const firstLineBytes = rawPacket?.indexOf('\n') ?? -1
  return firstLineBytes === -1 || firstLineBytes > urlBytesMax
    ? new AlmanacError('uri_too_long', `The URL is longer than ${urlBytesMax} bytes`)
    : new AlmanacError('headers_too_large', 'The request headers are too large')
}

/** Answers below HTTP's own machinery, on the bare socket. */
function refuse(socket: Duplex, problem: AlmanacError | undefined, lingerMs: number): void {
  if (problem === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, headers, body } = problemParts(problem)
  const lines = Object.entries({ ...headers, 'Content-Length': `${body.length}`, Connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`), body]))
  // Cutting at once could take the answer from a client that is still sending; a client that never closes is cut in the end.
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

function problemParts(problem: AlmanacError) {
  const requestId = newRequestId()
  const answer = problemAnswer(problem, { requestId, accept: undefined, solana: false })
  return {
    ...answer,
    headers: { ...answer.headers, 'X-Request-Id': requestId },
    body: answer.body as Buffer<ArrayBuffer>,
  }
}

function problemResponse(problem: AlmanacError): Response {
  const { status, headers, body } = problemParts(problem)
  return new Response(body, { status, headers })
}

async function listen(server: Server, { host, port }: ServeOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenFailure(error, { host, port })))
    server.listen(port, host, resolve)
  })
  server.removeAllListeners('error')
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): AlmanacError {
  return new AlmanacError('config_invalid', `Cannot listen on ${host}:${port}.`, {
    cause: error,
    hint:
      error.code === 'EADDRINUSE'
        ? 'stop the process that uses the port, or set listen to another one.'
        : 'set listen to an address of this machine and a port that may be used.',
  })
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

async function drain(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections()
  // A connection that a client keeps alive becomes idle only once its last answer is sent.
  const sweep = setInterval(() => server.closeIdleConnections(), drainSweepMs)
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
