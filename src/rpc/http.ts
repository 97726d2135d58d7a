// One HTTP request with a bound on its time and its size. It knows no JSON-RPC, and its errors never show the URL.
import { PassThrough, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { Pool } from 'undici'
import { followSignals, slowestRate, watchRate } from '../abort.ts'
import { messageOf } from '../errors.ts'
import type { EndpointAddress } from './endpoint-address.ts'
import { withoutTls } from './failures.ts'

export type HttpAnswer = { status: number; body: Buffer; retryAfterMs: number | undefined }
export type HttpBounds = {
  timeoutMs: number
  bytesMax: number
  /** What all requests of one question may still receive. */
  bytesLeft: { count: number }
  signal: AbortSignal
}

export class HttpFailure extends Error {
  readonly kind: 'timeout' | 'transport' | 'response-too-large'
  constructor(kind: HttpFailure['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export class HttpChannel {
  readonly #pool: Pool
  readonly #address: EndpointAddress
  readonly #headers: Record<string, string>

  constructor(address: EndpointAddress) {
    this.#address = address
    this.#pool = new Pool(address.origin, {
      connections: 64,
      // A connection that breaks must not take a pipeline of requests with it.
      pipelining: 1,
      keepAliveTimeout: 20_000,
      connect: { timeout: 5_000 },
      // One timer covers the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      // Compression costs more than it saves on the same machine or network.
      'accept-encoding': address.isPrivate ? 'identity' : 'gzip, br',
      ...(address.authorization === undefined ? {} : { authorization: address.authorization }),
    }
  }

  /** A redirect is an answer like any other: it is not followed. */
  async post(body: string, { timeoutMs, bytesMax, bytesLeft, signal }: HttpBounds): Promise<HttpAnswer> {
    using linked = followSignals(signal)
    const tooLate = (): void => linked.abort(new HttpFailure('timeout', `no whole answer within ${timeoutMs} ms`))
    const timer = setTimeout(tooLate, timeoutMs)
    let bytes = 0
    let chunksLeft = 10_000 + bytesMax / 256
    const take = (count: number): void => {
      bytes += count
      bytesLeft.count -= count
      // Crumbs of a byte each would take a hundred times their size.
      if (bytes <= bytesMax && bytesLeft.count >= 0 && chunksLeft-- > 0) return
      throw new HttpFailure('response-too-large', `the answer is larger than ${bytesMax} bytes`)
    }
    try {
      const exchange = { path: this.#address.path, method: 'POST' as const, headers: this.#headers, body }
      const { statusCode, headers, body: stream } = await this.#pool.request({ ...exchange, signal: linked.signal })
      const received = (): number => bytes
      using _ = watchRate(slowestRate, received, slow => linked.abort(new HttpFailure('timeout', slow)))
      const whole = await readWhole(unpacked(stream, headers['content-encoding']), take)
      return { status: statusCode, body: whole, retryAfterMs: retryAfterOf(headers['retry-after']) }
    } catch (error) {
      if (linked.signal.aborted) throw linked.signal.reason
      if (error instanceof HttpFailure) throw error
      throw new HttpFailure('transport', this.#address.redact(reasonOf(error)))
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

/** The bytes of an answer as they were before they were compressed. */
export function unpacked(stream: Readable, encoding: string | string[] | undefined): Readable {
  if (encoding === undefined || encoding === 'identity') return stream
  const unpacker =
    encoding === 'gzip' ? createGunzip() : encoding === 'br' ? createBrotliDecompress() : new PassThrough()
  stream.on('error', error => unpacker.destroy(error))
  unpacker.on('close', () => stream.destroy())
  return stream.pipe(unpacker)
}

/**
 * `take` gets every chunk after it is unpacked, and throws when it is one too many: leaving the loop destroys the
 * stream and the connection, and nothing more is read or unpacked.
 */
async function readWhole(stream: Readable, take: (bytes: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    take(chunk.length)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

/** OpenSSL names what is no TLS by its first bytes, as a wrong version, in a line of hex and paths. */
function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException
  const isPlain = code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  return isPlain ? withoutTls : messageOf(error)
}

/** No server's word keeps an endpoint or a portal away for longer: then it is asked again. */
const retryAfterMaxMs = 10 * 60_000

/** A Retry-After header in seconds or as a date, as milliseconds from now; undefined where it is missing or neither. */
export function retryAfterOf(header: string | string[] | undefined, nowMs = Date.now()): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined || text.trim() === '') return undefined
  const seconds = Number(text)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - nowMs
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, retryAfterMaxMs) : undefined
}
