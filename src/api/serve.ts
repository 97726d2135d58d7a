// Puts the app on a socket: limits of the protocol, errors below HTTP, and an orderly end. No routes here.
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AlmanacError } from '../errors.ts'
import { once } from '../once.ts'
import type { App } from './app.ts'
import { type ApiSettings, defaultApiSettings } from './context.ts'
import { methodNotAllowed, problemAnswer } from './problem.ts'
import { newRequestId, unsupportedVersion } from './request.ts'

/** The limits of the settings, and others that have no setting. */
export type ServeOptions = {
  host: string
  /** 0 takes any free port. */
  port: number
  /** How long a client may take to send a request. */
  receiveTimeoutMs?: number
  /** How long a connection may stand still, beyond the time for an answer: its client does not take answers. */
  stallTimeoutMs?: number
  /** How long a refused client has to read why before its connection is cut. */
  lingerMs?: number
  connectionsMax?: number
} & Partial<Pick<ApiSettings, 'urlBytesMax' | 'headerBytesMax' | 'requestTimeoutMs' | 'drainTimeoutMs'>>

export type ServedApp = {
  /** Such as `http://127.0.0.1:8080`, without a slash at the end. */
  url: string
  /** Takes no more connections, lets requests under way finish, closes idle connections. Safe to call again. */
  close(): Promise<void>
}

const defaults = {
  ...defaultApiSettings,
  receiveTimeoutMs: 30_000,
  stallTimeoutMs: 45_000,
  lingerMs: 2_000,
  connectionsMax: 10_000,
}

const keepAliveTimeoutMs = 65_000

/** Requests that may wait for an earlier one of their connection: on one connection, and on all of them. */
const waitingMax = 32
const waitingInAllMax = 2_048

/** Connections that wait to be accepted. The system drops packets of any more, whose clients then wait for a second. */
const backlog = 4_096

const drainSweepMs = 25

/** How often connections are checked for requests that arrive too slowly. */
const receiveCheckMsMax = 5_000

export async function serveApp(app: App, options: ServeOptions): Promise<ServedApp> {
  const limits = { ...defaults, ...options }
  const connections = new Connections(app)
  const server = createServer(
    {
      // The parser counts the URL as part of the headers. The app refuses a URL that is longer than its share.
      maxHeaderSize: limits.headerBytesMax + limits.urlBytesMax,
      requestTimeout: limits.receiveTimeoutMs,
      headersTimeout: limits.receiveTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.receiveTimeoutMs, receiveCheckMsMax),
      keepAliveTimeout: keepAliveTimeoutMs,
      requireHostHeader: false,
      noDelay: true,
    },
    connections.answer,
  )
  // Their bytes are bounded. The parser would drop what is beyond a number of them, such as a second Host.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  server.timeout = limits.requestTimeoutMs + limits.stallTimeoutMs
  server.on('checkExpectation', connections.answer)
  server.on('clientError', (error, socket) =>
    connections.refuse(socket, parserProblem(error as ParserError, limits.urlBytesMax), limits.lingerMs),
  )
  server.on('connect', (_: IncomingMessage, socket) => {
    // Node leaves such a socket to us alone: an error without a listener, such as a reset, would end the process.
    socket.on('error', () => socket.destroy()).on('timeout', () => socket.destroy())
    connections.refuse(socket, methodNotAllowed('CONNECT', []), limits.lingerMs)
  })
  await listen(server, limits)
  return { url: urlOf(server), close: once(() => drain(server, limits.drainTimeoutMs)) }
}

/** `isWatched`: the next one is started once the current one is closed. */
type Connection = {
  current: ServerResponse
  waiting: Parameters<App>[]
  refusal: (() => void) | undefined
  isWatched: boolean
}

/**
 * Hands over the requests of a connection one at a time: an answer that is made before its turn would be held in memory
 * until a client, which may never do so, has read all before it.
 */
class Connections {
  readonly #app: App
  readonly #known = new WeakMap<Duplex, Connection>()
  #waiting = 0

  constructor(app: App) {
    this.#app = app
  }

  /** A client that sends more ahead than may wait loses its connection. */
  readonly answer: App = (incoming, outgoing) => {
    const { socket } = incoming
    if (socket.destroyed) return
    const connection = this.#known.get(socket)
    if (connection === undefined) {
      this.#known.set(socket, { current: outgoing, waiting: [], refusal: undefined, isWatched: false })
      this.#app(incoming, outgoing)
    } else if (!isBusy(connection)) {
      connection.current = outgoing
      this.#app(incoming, outgoing)
    } else if (connection.waiting.length >= waitingMax || this.#waiting >= waitingInAllMax) {
      cutOff(socket)
    } else {
      connection.waiting.push([incoming, outgoing])
      this.#waiting++
      this.#watch(connection, socket)
    }
  }

  /** Refuses what is not a request, after the answers to the requests before it. */
  refuse(socket: Duplex, problem: AlmanacError | undefined, lingerMs: number): void {
    const connection = this.#known.get(socket)
    // The bytes may be the rest of a request, which is then not answered and never ends by itself.
    if (connection?.waiting.at(-1)?.[0].complete === false) {
      connection.waiting.pop()
      this.#waiting--
    }
    if (connection === undefined || problem === undefined || !isBusy(connection) || !connection.current.req.complete) {
      refuse(socket, problem, lingerMs)
      return
    }
    connection.refusal = () => refuse(socket, problem, lingerMs)
    this.#watch(connection, socket)
  }

  /** The next one waits for a turn of the event loop, so that a connection with many does not keep others waiting. */
  #watch(connection: Connection, socket: Duplex): void {
    if (connection.isWatched) return
    connection.isWatched = true
    connection.current.once('close', () => setImmediate(() => this.#startNext(connection, socket)))
  }

  #startNext(connection: Connection, socket: Duplex): void {
    connection.isWatched = false
    if (socket.destroyed || socket.writableEnded) {
      this.#waiting -= connection.waiting.length
      connection.waiting = []
      return
    }
    const next = connection.waiting.shift()
    if (next === undefined) {
      connection.refusal?.()
      return
    }
    this.#waiting--
    connection.current = next[1]
    if (connection.waiting.length > 0 || connection.refusal !== undefined) this.#watch(connection, socket)
    this.#app(...next)
  }
}

/** A response is destroyed once it is sent, too. */
function isBusy({ current, isWatched }: Connection): boolean {
  return isWatched || !current.destroyed
}

/** The parser would go on with all that it has read, at 20 µs a request. A result below zero ends it at the next. */
function cutOff(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming: () => number } | null }
  if (parser) parser.onIncoming = () => -1
  socket.destroy()
}

type ParserError = Error & { code?: string; rawPacket?: Buffer }

/** A first line that does not end within the limit is a URL that is too long; otherwise it is the headers. */
function parserProblem({ code, rawPacket }: ParserError, urlBytesMax: number): AlmanacError | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AlmanacError('request_timeout', 'The request took too long to arrive')
  }
  if (code === 'HPE_INVALID_VERSION' || code === 'HPE_PAUSED_H2_UPGRADE') return unsupportedVersion()
  if (code !== 'HPE_HEADER_OVERFLOW') return new AlmanacError('bad_request', 'The request is not valid HTTP')
  const firstLineBytes = rawPacket?.indexOf('\n') ?? -1
  return firstLineBytes === -1 || firstLineBytes > urlBytesMax
    ? new AlmanacError('uri_too_long', `The URL is longer than ${urlBytesMax} bytes`)
    : new AlmanacError('headers_too_large', 'The request headers are too large')
}

/** Answers on the bare socket, where Node made no request of what arrived. */
function refuse(socket: Duplex, problem: AlmanacError | undefined, lingerMs: number): void {
  if (problem === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = newRequestId()
  const { status, headers, body } = problemAnswer(problem, { requestId, accept: undefined, solana: false })
  const all = { ...headers, 'X-Request-Id': requestId, 'Content-Length': `${body!.length}`, Connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.cork()
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`)
  socket.end(body)
  // A client that is still sending would lose the answer if it were cut off now. One that never closes is cut later.
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

async function listen(server: Server, { host, port }: Pick<ServeOptions, 'host' | 'port'>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenFailure(error, { host, port })))
    server.listen({ port, host, backlog }, resolve)
  })
  server.removeAllListeners('error')
}

function listenFailure(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): AlmanacError {
  return new AlmanacError('config_invalid', `Cannot listen on ${host}:${port}.`, {
    cause: error,
    hint:
      error.code === 'EADDRINUSE'
        ? 'stop the process that uses the port, or set listen to another one.'
        : 'set listen to an address of this machine and a port that this user may open.',
  })
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Fails as `serveApp` would where the address cannot be listened on; port 0 always can. */
export async function requireFreePort(place: { host: string; port: number }): Promise<void> {
  const server = createServer()
  await listen(server, place)
  await new Promise(resolve => server.close(resolve))
}

async function drain(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections()
  // A kept-alive connection becomes idle only once its last answer is sent.
  const sweep = setInterval(() => server.closeIdleConnections(), drainSweepMs)
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}
