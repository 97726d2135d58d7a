// Asks a portal for blocks over HTTP: newline-delimited JSON, packed, read in bounded memory and within the portal's
// rate. What ends early goes on at the next block. It does not look into blocks, and its errors never show the URL.
import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import { followSignals, pause, type SlowestRate, slowestRate, watchRate } from '../../abort.ts'
import { messageOf } from '../../errors.ts'
import { blockNumberMax, type Interval } from '../../model.ts'
import { type EndpointAddress, endpointAddresses } from '../../rpc/endpoint-address.ts'
import { retryAfterOf, unpacked } from '../../rpc/http.ts'
import { limitsOf, Places, type PortalLimits } from './portal-limits.ts'
import { type LineBounds, PortalLines, WrongLine } from './portal-lines.ts'
import { type PortalColumn, type PortalContent, queryBody, refusalOf } from './portal-query.ts'

export type PortalClientOptions = {
  url: string
  requestsPerSecond?: number | undefined
  /** How long to wait for one block while the portal is away, busy or gives nothing. */
  patienceMs?: number | undefined
  /** The first wait between two attempts; each next one is twice as long. */
  backoffMs?: number | undefined
  slowest?: SlowestPart | undefined
}

/** The least that is borne of a part: the rate of an answer, as of nodes, and of all its answers together. */
export type SlowestPart = SlowestRate & {
  /** How long its requests may take. Blocks that arrived by then are used. */
  partMs: number
  /** Of whole lines, in a part whose answers take longer than a window. */
  bytesPerSecond: number
}

/**
 * `away`: it may answer later; `slow`: it answers, and gives too little; `wrong`: it sent what no portal sends;
 * `start`: the dataset begins above.
 */
export class PortalFailure extends Error {
  override readonly name = 'PortalFailure'
  readonly kind: 'away' | 'slow' | 'wrong' | 'start' | 'refused'
  /** Not to be asked again for so long, by its own word. */
  readonly retryAfterMs: number | undefined
  /** The first block of the dataset. */
  readonly start: number | undefined
  /** The block at which it went wrong. */
  readonly block: number | undefined

  constructor(
    kind: PortalFailure['kind'],
    message: string,
    more: { retryAfterMs?: number; start?: number; block?: number } = {},
  ) {
    super(message)
    this.kind = kind
    this.retryAfterMs = more.retryAfterMs
    this.start = more.start
    this.block = more.block
  }
}

/** Lines of consecutive blocks, one each. */
export type PortalAnswer = {
  body: Uint8Array<ArrayBuffer>
  count: number
  /** Columns that the dataset lacks, which were not asked for. */
  lacking: PortalColumn[]
  /** The time of a part ended before all its lines came. */
  isCut: boolean
  /** Why it came too slowly. */
  slowness: string | undefined
}

const slowestPart: SlowestPart = { ...slowestRate, partMs: 60_000, bytesPerSecond: 16_384 }
/** A block of real chains takes some megabytes at most, its header some kilobytes. */
const lineBounds: Record<PortalContent, LineBounds> = {
  whole: { bytesEnough: 24 * 2 ** 20, lineBytesMax: 64 * 2 ** 20 },
  header: { bytesEnough: 2 * 2 ** 20, lineBytesMax: 2 ** 18 },
}
/** More would only take more memory: the rate bounds them anyway. */
const requestsAtOnce = 6
const patienceMs = 120_000
/** How long it is waited for to learn what it has. */
const lookPatienceMs = 10_000
const backoff = { firstMs: 1_000, lastMs: 30_000 }
/** Of a request for what it has. */
const lookMsMax = 15_000
const textBytesMax = 65_536

export class PortalClient {
  readonly name: string
  readonly #address: EndpointAddress
  readonly #paths: { stream: string; head: string }
  readonly #pool: Pool
  readonly #limits: PortalLimits
  readonly #places = new Places(requestsAtOnce)
  readonly #patienceMs: number
  readonly #backoffMs: number
  readonly #slowest: SlowestPart
  /** By column, the highest block from which it was asked for in vain. */
  readonly #lacking = new Map<PortalColumn, number>()

  constructor(options: PortalClientOptions) {
    const [address] = endpointAddresses([options.url])
    this.#address = address!
    this.name = address!.name
    const { pathname, search } = new URL(options.url)
    const dataset = pathname.replace(/\/+$/, '')
    this.#paths = { stream: `${dataset}/finalized-stream${search}`, head: `${dataset}/finalized-head${search}` }
    this.#pool = new Pool(address!.origin, {
      connections: requestsAtOnce,
      pipelining: 1,
      connect: { timeout: 5_000 },
      // A portal looks through files of others before it begins.
      headersTimeout: 60_000,
      bodyTimeout: 30_000,
    })
    this.#limits = limitsOf(address!.origin, options.requestsPerSecond)
    this.#patienceMs = options.patienceMs ?? patienceMs
    this.#backoffMs = options.backoffMs ?? backoff.firstMs
    this.#slowest = options.slowest ?? slowestPart
  }

  /** It asked for a pause, which is not over. */
  get isQuiet(): boolean {
    return this.#limits.quietMs > 0
  }

  /** Blocks from the lowest on: all that were asked for, or fewer where those are enough bytes or no more are there. */
  async blocks(
    { from, to }: Interval,
    { content, without = [] }: { content: PortalContent; without?: readonly PortalColumn[] },
    signal: AbortSignal,
  ): Promise<PortalAnswer> {
    const lines = new PortalLines(to - from + 1, lineBounds[content])
    const lacking = new Set<PortalColumn>()
    const attempts = new Attempts(this.#patienceMs, this.#backoffMs)
    const time = new PartTime(this.#slowest)
    let late: PortalFailure | undefined
    while (!lines.isFull && late === undefined) {
      if (time.leftMs === 0) {
        late = new PortalFailure('slow', `no whole answer within ${this.#slowest.partMs} ms`)
        continue
      }
      const before = lines.count
      const next = { from: from + lines.count, to }
      for (const [column, highest] of this.#lacking) if (next.from <= highest) lacking.add(column)
      const query = { content, without: [...without, ...lacking] }
      const outcome = await this.#stream(next, query, { lines, time }, signal)
      signal.throwIfAborted()
      if (outcome instanceof PortalFailure && outcome.kind === 'slow') late = outcome
      else if (lines.count > before) attempts.reset()
      else if (outcome === 'asks less') continue
      // What is there is worth more than waiting for the rest.
      else if (lines.count > 0) break
      else await this.#wait(attempts, outcome, signal)
    }
    if (late !== undefined && lines.count === 0) throw late
    // One that ran out of time may have come as fast as its line takes it.
    const isCut = late !== undefined && time.leftMs === 0
    const slowness = late !== undefined && !isCut ? late.message : time.slowness(lines.bytes)
    return { body: lines.body(), count: lines.count, lacking: [...lacking], isCut, slowness }
  }

  /** The last final block that it has. */
  finalizedHead(options: { isPatient: boolean }, signal: AbortSignal): Promise<number> {
    return this.#retried(options, signal, async () => {
      const { status, text, retryAfterMs } = await this.#whole({ path: this.#paths.head, method: 'GET' }, signal)
      if (status !== 200) throw this.#failureOf(status, text, retryAfterMs)
      const number = numberIn(text)
      if (number !== undefined) return number
      throw new PortalFailure('wrong', 'it tells its last block in a form that cannot be read')
    })
  }

  /** The first block of the dataset. */
  start(options: { isPatient: boolean }, signal: AbortSignal): Promise<number> {
    return this.#retried(options, signal, async () => {
      const body = queryBody({ from: 0, to: 0 }, { content: 'header', without: [...this.#lacking.keys()] })
      const exchange = { path: this.#paths.stream, method: 'POST' as const, body }
      const { status, text, retryAfterMs } = await this.#whole(exchange, signal)
      if (status === 200) return 0
      const refusal = status === 400 ? refusalOf(text) : undefined
      // It looked for the column in the first block.
      if (refusal?.is === 'column') return 0
      if (refusal?.is === 'start') return refusal.start
      throw this.#failureOf(status, text, retryAfterMs)
    })
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  /** One request, and the lines that it gives. `ended`: it ended early; a failure: it gave nothing further. */
  async #stream(
    interval: Interval,
    query: Parameters<typeof queryBody>[1],
    { lines, time }: { lines: PortalLines; time: PartTime },
    signal: AbortSignal,
  ): Promise<'ended' | 'asks less' | PortalFailure> {
    const begun = await this.#begin(signal, time.leftMs)
    if (begun instanceof PortalFailure) return begun
    using request = begun
    using _ = time.measure()
    const before = lines.count
    try {
      const body = queryBody(interval, query)
      const answer = await this.#send({ path: this.#paths.stream, method: 'POST', body }, request.signal)
      if (answer.status === 200) {
        time.answered()
        using _watch = watchRate(this.#slowest, () => lines.received, request.abort)
        for await (const chunk of answer.stream as AsyncIterable<Buffer>) {
          lines.add(chunk)
          // Leaving the loop ends the connection: nothing that was not asked for is read.
          if (lines.isFull) return 'ended'
        }
        lines.finish()
        return 'ended'
      }
      const text = await textOf(answer.stream)
      const refusal = answer.status === 400 ? refusalOf(text) : undefined
      // Another request may have learnt it meanwhile.
      if (refusal?.is === 'column' && !refusal.isRequired && !query.without.includes(refusal.column)) {
        this.#lacking.set(refusal.column, Math.max(interval.from, this.#lacking.get(refusal.column) ?? -1))
        return 'asks less'
      }
      throw this.#failureOf(answer.status, text, answer.retryAfterMs)
    } catch (error) {
      lines.dropPart()
      signal.throwIfAborted()
      if (request.signal.aborted) return new PortalFailure('slow', messageOf(request.signal.reason))
      if (error instanceof WrongLine)
        throw new PortalFailure('wrong', error.message, { block: interval.from + lines.count - before })
      if (!(error instanceof PortalFailure)) return new PortalFailure('away', this.#textOf(error, request.signal))
      if (error.kind === 'away') return error
      throw error
    }
  }

  /** What takes one request: asked again for a few seconds, or not at all. */
  async #retried<Result>(
    { isPatient }: { isPatient: boolean },
    signal: AbortSignal,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    const attempts = new Attempts(isPatient ? Math.min(this.#patienceMs, lookPatienceMs) : 0, this.#backoffMs)
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof PortalFailure) || error.kind !== 'away') throw error
        await this.#wait(attempts, error, signal)
      }
    }
  }

  async #whole(exchange: Exchange, signal: AbortSignal): Promise<{ status: number; text: string } & Hint> {
    const begun = await this.#begin(signal, lookMsMax)
    if (begun instanceof PortalFailure) throw begun
    using request = begun
    try {
      const { status, stream, retryAfterMs } = await this.#send(exchange, request.signal)
      return { status, text: await textOf(stream), retryAfterMs }
    } catch (error) {
      signal.throwIfAborted()
      throw new PortalFailure('away', this.#textOf(error, request.signal))
    }
  }

  /** Waits for its turn, or says why none comes; what follows is ended after a while, or where `abort` says why. */
  async #begin(signal: AbortSignal, msMax: number): Promise<Request | PortalFailure> {
    using waited = new DisposableStack()
    waited.use(await this.#places.take(signal))
    if (!(await this.#limits.turn(this.#patienceMs, signal))) {
      const retryAfterMs = this.#limits.quietMs
      const seconds = Math.ceil(retryAfterMs / 1_000)
      return new PortalFailure('away', `it asked for a pause of ${seconds} s (Retry-After)`, { retryAfterMs })
    }
    const linked = waited.use(followSignals(signal))
    const abort = (message: string): void => linked.abort(new Error(message))
    const timer = setTimeout(() => abort(`no whole answer within ${Math.round(msMax)} ms`), msMax)
    waited.defer(() => clearTimeout(timer))
    const held = waited.move()
    return { signal: linked.signal, abort, [Symbol.dispose]: () => held.dispose() }
  }

  async #send(exchange: Exchange, signal: AbortSignal): Promise<{ status: number; stream: Readable } & Hint> {
    const { authorization } = this.#address
    const headers = {
      'content-type': 'application/json',
      'accept-encoding': 'gzip',
      ...(authorization === undefined ? {} : { authorization }),
    }
    const { statusCode: status, headers: given, body } = await this.#pool.request({ ...exchange, headers, signal })
    const stream = unpacked(body, given['content-encoding'])
    return { status, stream, retryAfterMs: retryAfterOf(given['retry-after']) }
  }

  /** Waits before the next attempt, or fails where that would take too long. */
  async #wait(attempts: Attempts, outcome: 'ended' | PortalFailure, signal: AbortSignal): Promise<void> {
    const failure = outcome === 'ended' ? new PortalFailure('slow', 'it ended its answer without a block') : outcome
    const ms = attempts.nextMs(failure.retryAfterMs)
    if (ms === undefined) throw failure
    await pause(ms, signal)
    signal.throwIfAborted()
  }

  #failureOf(status: number, text: string, retryAfterMs: number | undefined): PortalFailure {
    const hint = retryAfterMs === undefined ? {} : { retryAfterMs }
    this.#limits.quietFor(retryAfterMs ?? (status === 429 ? this.#backoffMs : 0))
    if (status === 204) return new PortalFailure('away', 'it has no final blocks there yet', hint)
    const refusal = status === 400 ? refusalOf(text) : undefined
    if (refusal?.is === 'start')
      return new PortalFailure('start', `its blocks begin with ${refusal.start}`, { start: refusal.start })
    const said = this.#address.redact(text.slice(0, 300)).trim()
    const message = `it answered with the status ${status}${said === '' ? '' : `: ${said}`}`
    return new PortalFailure(status >= 500 || status === 429 || status === 408 ? 'away' : 'refused', message, hint)
  }

  #textOf(error: unknown, signal: AbortSignal): string {
    return this.#address.redact(messageOf(signal.aborted ? signal.reason : error))
  }
}

type Request = Disposable & { signal: AbortSignal; abort: (message: string) => void }
type Exchange = { path: string; method: 'GET' | 'POST'; body?: string }
type Hint = { retryAfterMs: number | undefined }

/** How long to wait after attempts that gave nothing. */
class Attempts {
  readonly #patienceMs: number
  readonly #firstMs: number
  #sinceMs = performance.now()
  #backoffMs: number

  constructor(patienceMs: number, firstMs: number) {
    this.#patienceMs = patienceMs
    this.#firstMs = firstMs
    this.#backoffMs = firstMs
  }

  reset(): void {
    this.#sinceMs = performance.now()
    this.#backoffMs = this.#firstMs
  }

  /** Undefined once the patience for it is used up. */
  nextMs(retryAfterMs: number | undefined): number | undefined {
    const ms = retryAfterMs ?? this.#backoffMs
    this.#backoffMs = Math.min(backoff.lastMs, 2 * this.#backoffMs)
    return performance.now() - this.#sinceMs + ms > this.#patienceMs ? undefined : ms
  }
}

/** How long the requests of a part are under way, and whether that is too long for what they gave. */
class PartTime {
  readonly #slowest: SlowestPart
  #endedMs = 0
  #streamedMs = 0
  #answeredAtMs: number | undefined

  constructor(slowest: SlowestPart) {
    this.#slowest = slowest
  }

  /** A timer may fire a moment early, and what is left then is nothing. */
  get leftMs(): number {
    const leftMs = this.#slowest.partMs - this.#endedMs
    return leftMs < 5 ? 0 : leftMs
  }

  /** Of one request, from now until it is disposed. */
  measure(): Disposable {
    const sinceMs = performance.now()
    this.#answeredAtMs = undefined
    return {
      [Symbol.dispose]: () => {
        const nowMs = performance.now()
        this.#endedMs += nowMs - sinceMs
        this.#streamedMs += nowMs - (this.#answeredAtMs ?? nowMs)
      },
    }
  }

  /** It may look through files of others before: that counts as time alone. */
  answered(): void {
    this.#answeredAtMs = performance.now()
  }

  slowness(bytes: number): string | undefined {
    const { windowMs, bytesPerSecond } = this.#slowest
    if (this.#streamedMs <= windowMs || bytes >= (bytesPerSecond * this.#streamedMs) / 1_000) return undefined
    return `it took ${Math.round(this.#streamedMs)} ms for ${bytes} bytes of blocks`
  }
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > textBytesMax) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

function numberIn(text: string): number | undefined {
  try {
    const { number } = JSON.parse(text) as { number?: unknown }
    const isBlock = Number.isSafeInteger(number) && (number as number) >= 0 && (number as number) <= blockNumberMax
    return isBlock ? (number as number) : undefined
  } catch {
    return undefined
  }
}
