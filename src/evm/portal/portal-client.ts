// Asks a portal for blocks over HTTP: newline-delimited JSON, packed, read in bounded memory and within the portal's
// rate. What ends early goes on at the next block. It does not look into blocks, and its errors never show the URL.
import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import { followSignals, pause } from '../../abort.ts'
import { messageOf } from '../../errors.ts'
import { blockNumberMax, type Interval } from '../../model.ts'
import { type EndpointAddress, endpointAddresses } from '../../rpc/endpoint-address.ts'
import { retryAfterOf, unpacked } from '../../rpc/http.ts'
import { RateBudget } from '../rate-budget.ts'
import { LineTooLong, PortalLines } from './portal-lines.ts'
import { type PortalColumn, type PortalContent, queryBody, refusalOf } from './portal-query.ts'

export type PortalClientOptions = {
  url: string
  /** Public portals take 50 requests in 10 s from one address. */
  requestsPerSecond?: number | undefined
  /** How long one block may be waited for while the portal is away, busy or gives nothing. */
  patienceMs?: number | undefined
  /** The first wait between two attempts; each next one is twice as long. */
  backoffMs?: number | undefined
}

/** `away`: it may answer later; `wrong`: it sent what no portal sends; `start`: the dataset begins above. */
export class PortalFailure extends Error {
  override readonly name = 'PortalFailure'
  readonly kind: 'away' | 'wrong' | 'start' | 'refused'
  /** Not to be asked again for so long, by its own word. */
  readonly retryAfterMs: number | undefined
  /** The first block of the dataset. */
  readonly start: number | undefined

  constructor(kind: PortalFailure['kind'], message: string, more: { retryAfterMs?: number; start?: number } = {}) {
    super(message)
    this.kind = kind
    this.retryAfterMs = more.retryAfterMs
    this.start = more.start
  }
}

/** Lines of consecutive blocks, one each. */
export type PortalAnswer = {
  body: Uint8Array<ArrayBuffer>
  count: number
  /** Columns that the dataset lacks, which were not asked for. */
  lacking: PortalColumn[]
}

const requestsPerSecond = 5
const patienceMs = 120_000
/** How long it is waited for to learn what it has. */
const lookPatienceMs = 10_000
const backoff = { firstMs: 1_000, lastMs: 30_000 }
/** A stream that takes longer is cut and goes on with the next request. */
const requestMsMax = 300_000
/** The same for what it has. */
const lookMsMax = 15_000
/** What is enough for one range, however few blocks it is. */
const bytesEnough = 24 * 2 ** 20
const textBytesMax = 65_536

/** Chains that read one portal share its rate. */
const budgets = new Map<string, RateBudget>()

export class PortalClient {
  readonly name: string
  readonly #address: EndpointAddress
  readonly #paths: { stream: string; head: string }
  readonly #pool: Pool
  readonly #budget: RateBudget
  readonly #patienceMs: number
  readonly #backoffMs: number
  /** By column, the highest block from which it was asked for in vain. */
  readonly #lacking = new Map<PortalColumn, number>()
  #quietUntilMs = 0

  constructor(options: PortalClientOptions) {
    const [address] = endpointAddresses([options.url])
    this.#address = address!
    this.name = address!.name
    const { pathname, search } = new URL(options.url)
    const dataset = pathname.replace(/\/+$/, '')
    this.#paths = { stream: `${dataset}/finalized-stream${search}`, head: `${dataset}/finalized-head${search}` }
    this.#pool = new Pool(address!.origin, {
      // More at once would only take more memory: the rate bounds them anyway.
      connections: 6,
      pipelining: 1,
      connect: { timeout: 5_000 },
      // A portal looks through files of others before it begins.
      headersTimeout: 60_000,
      bodyTimeout: 30_000,
    })
    this.#budget = budgetOf(address!.origin, options.requestsPerSecond)
    this.#patienceMs = options.patienceMs ?? patienceMs
    this.#backoffMs = options.backoffMs ?? backoff.firstMs
  }

  /** It asked not to be asked for now. */
  get isQuiet(): boolean {
    return performance.now() < this.#quietUntilMs
  }

  /** Blocks from the lowest on: all that were asked for, or fewer where those are enough bytes or no more are there. */
  async blocks(
    { from, to }: Interval,
    { content, without = [] }: { content: PortalContent; without?: readonly PortalColumn[] },
    signal: AbortSignal,
  ): Promise<PortalAnswer> {
    const lines = new PortalLines({ linesMax: to - from + 1, bytesEnough })
    const lacking = new Set<PortalColumn>()
    const attempts = new Attempts(this.#patienceMs, this.#backoffMs)
    while (!lines.isFull) {
      const before = lines.count
      const next = { from: from + lines.count, to }
      for (const [column, highest] of this.#lacking) if (next.from <= highest) lacking.add(column)
      const body = queryBody(next, { content, without: [...without, ...lacking] })
      const outcome = await this.#stream(next, body, lines, signal)
      signal.throwIfAborted()
      if (lines.count > before) attempts.reset()
      else if (outcome === 'asks less') continue
      // What is there is worth more than waiting for the rest.
      else if (lines.count > 0) break
      else await this.#wait(attempts, outcome, signal)
    }
    return { body: lines.body(), count: lines.count, lacking: [...lacking] }
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
    { from }: Interval,
    body: string,
    lines: PortalLines,
    signal: AbortSignal,
  ): Promise<'ended' | 'asks less' | PortalFailure> {
    using request = await this.#begin(signal)
    try {
      const answer = await this.#send({ path: this.#paths.stream, method: 'POST', body }, request.signal)
      if (answer.status === 200) {
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
      if (refusal?.is === 'column' && !refusal.isRequired && this.#learn(refusal.column, from)) return 'asks less'
      throw this.#failureOf(answer.status, text, answer.retryAfterMs)
    } catch (error) {
      lines.dropPart()
      signal.throwIfAborted()
      if (error instanceof LineTooLong) throw new PortalFailure('wrong', error.message)
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

  /** Whether that is news. */
  #learn(column: PortalColumn, from: number): boolean {
    if (from <= (this.#lacking.get(column) ?? -1)) return false
    this.#lacking.set(column, from)
    return true
  }

  async #whole(exchange: Exchange, signal: AbortSignal): Promise<{ status: number; text: string } & Hint> {
    using request = await this.#begin(signal, lookMsMax)
    try {
      const { status, stream, retryAfterMs } = await this.#send(exchange, request.signal)
      return { status, text: await textOf(stream), retryAfterMs }
    } catch (error) {
      signal.throwIfAborted()
      throw new PortalFailure('away', this.#textOf(error, request.signal))
    }
  }

  /** Waits for its turn; what follows is ended after a while. */
  async #begin(signal: AbortSignal, msMax = requestMsMax): Promise<Disposable & { signal: AbortSignal }> {
    await this.#budget.take(1, signal)
    const quietMs = Math.max(0, this.#quietUntilMs - performance.now())
    if (quietMs > this.#patienceMs)
      throw new PortalFailure('away', `it asked not to be asked for ${Math.ceil(quietMs / 1_000)} s`)
    await pause(quietMs, signal)
    signal.throwIfAborted()
    const linked = followSignals(signal)
    const late = new Error(`no whole answer within ${msMax} ms`)
    const timer = setTimeout(() => linked.abort(late), msMax)
    return {
      signal: linked.signal,
      [Symbol.dispose]: () => {
        clearTimeout(timer)
        linked[Symbol.dispose]()
      },
    }
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
    const failure = outcome === 'ended' ? new PortalFailure('away', 'it ended its answer without a block') : outcome
    const ms = attempts.nextMs(failure.retryAfterMs)
    if (ms === undefined) throw failure
    await pause(ms, signal)
    signal.throwIfAborted()
  }

  #failureOf(status: number, text: string, retryAfterMs: number | undefined): PortalFailure {
    const hint = retryAfterMs === undefined ? {} : { retryAfterMs }
    this.#quietUntilMs = Math.max(this.#quietUntilMs, performance.now() + (retryAfterMs ?? 0))
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

  /** Undefined where there is no patience left for it. */
  nextMs(retryAfterMs: number | undefined): number | undefined {
    const ms = retryAfterMs ?? this.#backoffMs
    this.#backoffMs = Math.min(backoff.lastMs, 2 * this.#backoffMs)
    return performance.now() - this.#sinceMs + ms > this.#patienceMs ? undefined : ms
  }
}

function budgetOf(origin: string, perSecond: number | undefined): RateBudget {
  if (perSecond !== undefined) return new RateBudget(perSecond)
  const known = budgets.get(origin) ?? new RateBudget(requestsPerSecond)
  budgets.set(origin, known)
  return known
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
