// Requests that no client would send: made from the OpenAPI document with valid and hostile values in every place, and
// some of them broken as bytes. Sends them to a service and says what came back. The same seed makes the same requests.
import { connect, type Socket } from 'node:net'

type Schema = { type?: string; enum?: unknown[]; example?: unknown; examples?: unknown[] }
type Parameter = { name: string; in: 'path' | 'query' | 'header'; example?: unknown; schema?: Schema }
type Operation = { parameters?: Parameter[]; requestBody?: unknown; responses: Record<string, unknown> }
export type OpenApi = { paths: Record<string, Record<string, Operation>> }

export type HostileRun = {
  url: string
  /** A key with every scope. */
  key: string
  document: OpenApi
  count: number
  seed: number
  connections?: number
  onProgress?: (sent: number) => void
}

/** `failures` are requests with an error of the service that is not allowed, at most 20 of them. */
export type HostileResult = { answers: Map<number, number>; silent: number; failures: string[] }

type Made = { bytes: Buffer; method: string; documented: string[]; isRaw: boolean }

const silentMs = 1_000
const failuresMax = 20

export async function sendHostile(run: HostileRun): Promise<HostileResult> {
  const result: HostileResult = { answers: new Map(), silent: 0, failures: [] }
  const maker = new RequestMaker(run)
  let sent = 0
  const work = async () => {
    const client = new HostileClient(run.url)
    while (sent < run.count) {
      sent++
      const made = maker.next()
      const statuses = await client.send(made)
      if (statuses === undefined) result.silent++
      for (const status of statuses ?? []) {
        result.answers.set(status, (result.answers.get(status) ?? 0) + 1)
        if (!isAllowed(status, made) && result.failures.length < failuresMax)
          result.failures.push(`${status} to ${JSON.stringify(made.bytes.toString('latin1').slice(0, 400))}`)
      }
      if (sent % 10_000 === 0) run.onProgress?.(sent)
    }
    client.close()
  }
  await Promise.all(Array.from({ length: run.connections ?? 4 }, work))
  return result
}

/**
 * Overload and another version of HTTP are no errors of the service; 501 is none where the document has it, or where
 * dots in the path lead to another operation.
 */
function isAllowed(status: number, { documented, bytes }: Made): boolean {
  if (status === 501) return documented.includes('501') || withDots.test(bytes.toString('latin1'))
  return status < 500 || status === 503 || status === 505
}

const withDots = /^\S+ [^? ]*\/(\.|%2e){1,2}[/? ]/i

const texts = [
  ...['', ' ', '0', '-1', '1.5', '1e309', 'NaN', '-0', '0x', '0x0', 'null', 'true', '[]', '{}', '%', '%00', '%ff%fe'],
  ...["' OR 1=1 --", '"; DROP TABLE transfers; --', '../../etc/passwd', '..%2f..%2f', '__proto__', 'constructor'],
  ...['%0d%0aX-Injected:%20yes', '9'.repeat(400), 'a'.repeat(5_000), '٣', '🦄', '\u202e', '1970-01-01T00:00:00+99:99'],
  ...['+275760-09-13T00:00:00.001Z', '18446744073709551616', `0x${'f'.repeat(64)}`, '%F0%9F%A6%84', '&', '=', '#', ';'],
]
const headerLines = [
  ...['Accept: application/problem+json', 'Accept-Encoding: br, gzip;q=0.5', 'Accept-Encoding: *', 'If-None-Match: *'],
  ...[
    'Range: bytes=0-',
    'Origin: https://x.example',
    'X-Moralis-Platform: NodeJS SDK',
    'X-Request-Id: \u00ff',
    'Prefer: wait=0',
  ],
  ...['Connection: close', 'Expect: 100-continue', 'Expect: x', 'Upgrade: h2c', 'Transfer-Encoding: gzip', 'Host: y'],
  ...[
    'Content-Length: 0',
    'Content-Length: -1',
    'Cookie: a=b',
    `X-Long: ${'a'.repeat(17_000)}`,
    'Authorization: Bearer x',
  ],
]
const bodies = [
  '',
  '{}',
  '[]',
  'null',
  '{"name":',
  '{"name":1}',
  '{"name":"a","scopes":["x"]}',
  '{"__proto__":{}}',
  'a'.repeat(70_000),
]
const rawLines = [
  'GET / HTTP/2.0',
  'GET /',
  'PRI * HTTP/2.0',
  'GET /health HTTP/1.1',
  'CONNECT x:1 HTTP/1.1',
  '\0',
  '\xff\xfe',
  ':',
  '',
]

class RequestMaker {
  readonly #operations: { path: string; method: string; operation: Operation }[]
  readonly #key: string
  #state: number

  constructor({ document, key, seed }: HostileRun) {
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    )
    this.#key = key
    this.#state = seed >>> 0
  }

  next(): Made {
    const { path, method: documented, operation } = this.#one(this.#operations)
    const method = this.#happens(0.9)
      ? documented
      : this.#one(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'TRACE', 'PROPFIND'])
    const lines = [`${method} ${this.#target(path, operation)} HTTP/1.1`, 'Host: x']
    if (this.#happens(0.9)) lines.push(`X-API-Key: ${this.#happens(0.95) ? this.#key : this.#text()}`)
    while (this.#happens(0.2)) lines.push(this.#one(headerLines))
    const body = operation.requestBody !== undefined || this.#happens(0.02) ? this.#one(bodies) : ''
    if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
    const whole = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
    const isRaw = this.#happens(0.15)
    return { bytes: isRaw ? this.#broken(whole) : whole, method, documented: Object.keys(operation.responses), isRaw }
  }

  #target(path: string, { parameters = [] }: Operation): string {
    const named = path.replace(/{(\w+)}/g, (_, name) =>
      this.#value(parameters.find(parameter => parameter.name === name)),
    )
    const query = parameters
      .filter(parameter => parameter.in === 'query' && this.#happens(0.4))
      .map(parameter => `${this.#happens(0.95) ? parameter.name : this.#text()}=${this.#value(parameter)}`)
    while (this.#happens(0.1)) query.push(`${this.#text()}=${this.#text()}`)
    return query.length === 0 ? named : `${named}?${query.join(this.#happens(0.98) ? '&' : '?')}`
  }

  /** What the document gives as an example, or whole numbers near it, or what it does not expect. */
  #value(parameter: Parameter | undefined): string {
    if (parameter === undefined || this.#happens(0.25)) return this.#text()
    const { schema } = parameter
    if (schema?.enum !== undefined && this.#happens(0.8)) return encodeURIComponent(`${this.#one(schema.enum)}`)
    // Nothing changes meanwhile, so each would last as long as it may.
    if (parameter.name === 'wait') return '0'
    if (schema?.type === 'integer' && this.#happens(0.6)) return `${Math.floor(this.#random() * 30_000)}`
    const example = parameter.example ?? schema?.example ?? schema?.examples?.[0]
    return example === undefined ? this.#text() : encodeURIComponent(`${example}`)
  }

  #text(): string {
    if (this.#happens(0.7)) return this.#one(texts)
    const length = Math.floor(this.#random() * 40)
    return Array.from({ length }, () => String.fromCharCode(33 + Math.floor(this.#random() * 220))).join('')
  }

  /** Cut, repeated, with other bytes in places, or no request at all. */
  #broken(whole: Buffer): Buffer {
    const at = Math.floor(this.#random() * whole.length)
    switch (Math.floor(this.#random() * 5)) {
      case 0:
        return whole.subarray(0, at)
      case 1:
        return Buffer.concat([whole, whole.subarray(at), whole])
      case 2: {
        const changed = Buffer.from(whole)
        for (let times = 0; times < 5; times++) {
          changed[Math.floor(this.#random() * changed.length)] = Math.floor(this.#random() * 256)
        }
        return changed
      }
      case 3:
        return Buffer.from(Array.from({ length: 6 }, () => this.#one(rawLines)).join('\r\n'), 'latin1')
      default:
        return Buffer.from(Array.from({ length: 1 + at }, () => Math.floor(this.#random() * 256)))
    }
  }

  #one<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)]!
  }

  #happens(probability: number): boolean {
    return this.#random() < probability
  }

  /** Mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Sends one request at a time and reads statuses. Broken bytes get a connection of their own, which it half-closes. */
class HostileClient {
  readonly #url: URL
  #socket: Socket | undefined

  constructor(url: string) {
    this.#url = new URL(url)
  }

  /** The statuses of what came back; undefined where nothing did. */
  async send({ bytes, method, isRaw }: Made): Promise<number[] | undefined> {
    if (isRaw) this.close()
    this.#socket ??= this.#open()
    const socket = this.#socket
    let text = ''
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => socket.destroy(), silentMs)
      const done = () => {
        clearTimeout(timer)
        socket.removeAllListeners('data').removeAllListeners('close')
        resolve()
      }
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
        const end = isRaw ? undefined : endOf(text, method)
        if (end === 'whole') done()
        else if (end === 'endless') socket.destroy()
        else if (isRaw && text.includes('text/event-stream')) socket.destroy()
      })
      socket.on('close', done)
      if (isRaw) socket.end(bytes)
      else socket.write(bytes)
    })
    if (isRaw || socket.destroyed || !socket.writable || /\r\nconnection: close/i.test(text)) this.close()
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
    return statuses.length === 0 ? undefined : statuses
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): Socket {
    const { hostname, port } = this.#url
    return connect({ host: hostname, port: Number(port) }).on('error', () => undefined)
  }
}

/** Whether the answer, after interim ones, is whole. An endless one has no length, such as a stream of events. */
function endOf(text: string, method: string): 'whole' | 'endless' | undefined {
  const answer = text.replace(/^(HTTP\/1\.1 1\d\d [^\r]*\r\n(?:[^\r]+\r\n)*\r\n)+/, '')
  const head = answer.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const status = Number(answer.slice(9, 12))
  if (method === 'HEAD' || status === 204 || status === 304) return 'whole'
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.slice(0, head))?.[1]
  if (length === undefined) return 'endless'
  return answer.length - head - 4 >= Number(length) ? 'whole' : undefined
}
