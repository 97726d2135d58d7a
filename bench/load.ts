// Asks a server for as much as it can give over a fixed number of connections: keep-alive, one request at a time on each.
// It reads lengths and not bodies, so that one core of it outruns a bare server on another.
import { connect, type Socket } from 'node:net'

export type Answer = { status: number; header: string; body: Buffer }

export type Load = {
  url: string
  connections: number
  durationMs: number
  /** The next request, whole: `requestBytes` makes one. */
  request: () => Buffer
}

export type LoadResult = { perSecond: number; bytesPerSecond: number; answers: number }

const readBufferBytes = 256 * 1024

export function requestBytes(path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

export async function runLoad({ url, connections, durationMs, request }: Load): Promise<LoadResult> {
  const started = performance.now()
  const endAt = started + durationMs
  let answers = 0
  let bytes = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = await Client.open(url)
      try {
        while (performance.now() < endAt) {
          bytes += await client.count(request())
          answers++
        }
      } finally {
        client.close()
      }
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  return { perSecond: answers / seconds, bytesPerSecond: bytes / seconds, answers }
}

/** One connection. Throws for a body without a length and, where lengths are counted, for any status but 200. */
export class Client {
  readonly #socket: Socket
  #head = ''
  #status = 0
  /** Bytes of the body that are still to come; undefined while the header is read. */
  #missing: number | undefined
  #length = 0
  #kept: Buffer[] | undefined
  #settle: { resolve: () => void; reject: (error: Error) => void } | undefined

  private constructor(url: string, opened: (error?: Error) => void) {
    const { hostname, port } = new URL(url)
    const buffer = Buffer.allocUnsafe(readBufferBytes)
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer,
        callback: (length: number) => {
          this.#read(buffer.subarray(0, length))
          return true
        },
      },
    })
    this.#socket.once('connect', () => opened())
    this.#socket.on('error', error => {
      opened(error)
      this.#settle?.reject(error)
    })
    this.#socket.on('close', () => this.#settle?.reject(new Error('The server closed the connection.')))
  }

  static async open(url: string): Promise<Client> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const client = new Client(url, error => (error === undefined ? resolve() : reject(error)))
    await promise
    return client
  }

  close(): void {
    this.#socket.destroy()
  }

  /** The status, whatever it is. */
  async statusOf(request: Buffer): Promise<number> {
    await this.#ask(request)
    return this.#status
  }

  /** The length of the answer's body. */
  async count(request: Buffer): Promise<number> {
    await this.#ask(request)
    if (this.#status !== 200)
      throw new Error(`Status ${this.#status} to ${request.toString('latin1').split('\r\n')[0]}`)
    return this.#length
  }

  async get(request: Buffer): Promise<Answer> {
    this.#kept = []
    await this.#ask(request)
    const body = Buffer.concat(this.#kept)
    this.#kept = undefined
    return { status: this.#status, header: this.#head, body }
  }

  #ask(request: Buffer): Promise<void> {
    this.#head = ''
    this.#missing = undefined
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#socket.write(request)
    })
  }

  #read(chunk: Buffer): void {
    let body = chunk
    if (this.#missing === undefined) {
      const end = chunk.indexOf('\r\n\r\n')
      this.#head += chunk.toString('latin1', 0, end === -1 ? chunk.length : end)
      if (end === -1) return
      this.#status = Number(this.#head.slice(9, 12))
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1]
      if (length === undefined) {
        this.#finish(new Error(`No length: ${this.#head}`))
        return
      }
      this.#length = Number(length)
      this.#missing = this.#length
      body = chunk.subarray(end + 4)
    }
    this.#missing -= body.length
    this.#kept?.push(Buffer.from(body))
    if (this.#missing === 0) this.#finish(undefined)
  }

  #finish(error: Error | undefined): void {
    const settle = this.#settle
    this.#settle = undefined
    if (error === undefined) settle?.resolve()
    else settle?.reject(error)
  }
}
