// JSON-RPC over the several endpoints of one chain: the best one is asked, another one when it fails or dawdles, and the caller learns
// who answered. It checks the form of answers only; whether they are true is `verify.ts`'s business.
//
//   const rpc = new ChainRpc({ chain: { name: 'eth', id: 1 }, endpoints: [{ url: 'http://127.0.0.1:8545' }] })
//   const { values, endpoint } = await rpc.ask([{ method: 'eth_blockNumber', params: [] }], { signal })
//   const again = await rpc.ask(calls, { signal, exclude: new Set([endpoint]) })     // anyone but who answered before
//   const { bodies } = await rpc.askRaw(calls, { signal })                          // parse with `readAnswers` in a worker
//
// All calls of one `ask` go to one endpoint, in one batch where it takes batches. Each succeeds or the whole fails.

import { type Clock, followSignals, realClock, sleep } from '../../abort.ts'
import { AlmanacError } from '../../errors.ts'
import { endpointAddresses, isPrivateHost } from '../../rpc/endpoint-address.ts'
import { patienceMs } from '../../rpc/limits.ts'
import { type EndpointAnswer, type EndpointSettings, methodOf, RpcEndpoint, type RpcObserver } from './endpoint.ts'
import { type RpcFailureKind, rpcError, rpcFailureOf } from './errors.ts'
import { askHedged } from './hedge.ts'
import type { AskOptions, EndpointReport, RawAnswers, RpcAnswers, RpcCall, RpcPort } from './port.ts'
import { RangeRefused } from './port.ts'

export type ChainRpcOptions = {
  /** Endpoints that serve another chain than `id` are never used; undefined: not checked. */
  chain: { name: string; id: number | undefined }
  endpoints: readonly ({ url: string } & EndpointSettings)[]
  /** Of one request; an `ask` makes several where the first ones fail. */
  timeoutMs?: number
  bytesMax?: number
  attemptsMax?: number
  /** Requests that may wait for their turn at one endpoint. */
  queueMax?: number
  observer?: RpcObserver
  clock?: Clock
  isPrivate?: (hostname: string) => boolean
}

export type RpcAskOptions = AskOptions & {
  /** Only this one. */
  endpoint?: string
}

/** As `/status` shows it. */
export type EndpointStatus = EndpointReport & {
  head?: number
  latency_ms?: number
  requests: number
  errors: number
  concurrency: number
}

const backoffFirstMs = 100
const hedgeShareMax = 0.1

export class ChainRpc implements RpcPort {
  readonly endpoints: readonly string[]
  readonly #all: readonly RpcEndpoint[]
  readonly #options: ChainRpcOptions
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #asks = 0
  #hedges = 0

  constructor(options: ChainRpcOptions) {
    const { chain, clock = realClock, isPrivate = isPrivateHost, observer, queueMax = 2_000 } = options
    this.#options = options
    this.#clock = clock
    const addresses = endpointAddresses(
      options.endpoints.map(({ url }) => url),
      isPrivate,
    )
    this.#all = addresses.map(
      (address, at) => new RpcEndpoint(address, { ...options.endpoints[at], chain, clock, observer, queueMax }),
    )
    this.endpoints = this.#all.map(endpoint => endpoint.name)
  }

  async ask(calls: readonly RpcCall[], options: RpcAskOptions): Promise<RpcAnswers> {
    const { endpoint, values, bytes } = await this.#attempt(calls, options, (asked, answer) => ({
      endpoint: asked.name,
      values: asked.read(answer.bodies, calls, options),
      bytes: answer.bytes,
    }))
    return { endpoint, values, bytes }
  }

  /** For `readAnswers`, wherever it runs. */
  askRaw(calls: readonly RpcCall[], options: RpcAskOptions): Promise<RawAnswers & EndpointAnswer> {
    return this.#attempt(calls, options, (asked, answer) => ({ ...answer, endpoint: asked.name }))
  }

  distrust(endpoint: string, reason: string): void {
    this.#all.find(({ name }) => name === endpoint)?.health.distrusted(reason)
  }

  status(): EndpointStatus[] {
    return this.#all.map(({ name, health, limit, head }) => ({
      endpoint: name,
      healthy: health.healthy && limit.availableInMs < patienceMs,
      ...(health.reason === undefined ? {} : { reason: health.reason }),
      ...(head === undefined ? {} : { head }),
      ...(health.latencyMs === undefined ? {} : { latency_ms: Math.round(health.latencyMs) }),
      requests: health.requests,
      errors: health.errors,
      concurrency: limit.concurrency,
    }))
  }

  async close(): Promise<void> {
    this.#closed.abort(new AlmanacError('interrupted', `${this.#options.chain.name} endpoints are closed.`))
    await Promise.all(this.#all.map(endpoint => endpoint.close()))
  }

  async #attempt<T>(
    calls: readonly RpcCall[],
    options: RpcAskOptions,
    accept: (endpoint: RpcEndpoint, answer: EndpointAnswer) => T,
  ): Promise<T> {
    this.#asks++
    using linked = followSignals(options.signal, this.#closed.signal)
    const { signal } = linked
    const failures = new Map<RpcEndpoint, AlmanacError>()
    let last: AlmanacError | undefined
    for (let attempt = 0; attempt < (this.#options.attemptsMax ?? 4); attempt++) {
      const candidates = this.#candidates(calls, options, failures)
      const [first, second] = candidates
      if (first === undefined) throw this.#final(last ?? this.#nobody(calls), calls)
      if (failures.has(first) && !(await this.#patient(failures.get(first)!, attempt, signal))) break
      try {
        return await this.#hedged([first, second !== undefined && !failures.has(second) ? second : undefined], calls, {
          ...options,
          signal,
          accept,
          onFailure: (endpoint, error) => {
            if (error instanceof AlmanacError) failures.set(endpoint, error)
          },
        })
      } catch (error) {
        if (signal.aborted) throw interrupted(signal, this.#options.chain.name)
        if (!(error instanceof AlmanacError)) throw error
        const failure = rpcFailureOf(error)
        if (failure !== undefined && endsTheAsk.has(failure.kind)) throw this.#final(error, calls)
        last = error
      }
    }
    throw this.#final(last!, calls)
  }

  /** Who can be asked, the best first; those that failed already come last, and only if another try makes sense. */
  #candidates(
    calls: readonly RpcCall[],
    options: RpcAskOptions,
    failures: Map<RpcEndpoint, AlmanacError>,
  ): RpcEndpoint[] {
    const rank = (endpoint: RpcEndpoint): number => {
      const failed = failures.has(endpoint) ? 1e12 : 0
      const lacking = calls.every(({ method }) => endpoint.health.hasMethod(method)) ? 0 : 1e9
      const restsMs = Math.max(endpoint.health.restsForMs, endpoint.limit.availableInMs)
      // The operator's order counts where endpoints are about equally good: the own node before the one that is paid for.
      const preference = 1 + this.#all.indexOf(endpoint) / 2
      const load = 1 + endpoint.pending / endpoint.limit.concurrency
      return failed + lacking + restsMs * 1_000 + endpoint.health.expectedMs * load * preference
    }
    return this.#all
      .filter(
        ({ name }) =>
          (options.endpoint === undefined || name === options.endpoint) && options.exclude?.has(name) !== true,
      )
      .filter(endpoint => {
        const failed = failures.get(endpoint)
        return failed === undefined || isRepeatable(rpcFailureOf(failed)?.kind, calls)
      })
      .map(endpoint => ({ endpoint, rank: rank(endpoint) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ endpoint }) => endpoint)
  }

  /** Waits before the same endpoint is asked again; false where that would take too long. */
  async #patient(failure: AlmanacError, attempt: number, signal: AbortSignal): Promise<boolean> {
    const waitMs = failure.retryAfterMs ?? backoffFirstMs * 2 ** attempt * (0.5 + Math.random() / 2)
    if (waitMs > patienceMs) return false
    try {
      await sleep(this.#clock, waitMs, signal)
    } catch {
      throw interrupted(signal, this.#options.chain.name)
    }
    return true
  }

  /** Asks the first, and the second as well when the first takes longer than it usually does. */
  #hedged<T>(
    [first, second]: [RpcEndpoint, RpcEndpoint | undefined],
    calls: readonly RpcCall[],
    options: RpcAskOptions & {
      accept: (endpoint: RpcEndpoint, answer: EndpointAnswer) => T
      onFailure: (endpoint: RpcEndpoint, error: unknown) => void
    },
  ): Promise<T> {
    const { accept, onFailure, signal, urgent = false, idle = false, revertsAsNull = false } = options
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 30_000
    const bytesMax = options.bytesMax ?? this.#options.bytesMax ?? 64 * 2 ** 20
    const method = methodOf(calls)
    return askHedged({
      first,
      second,
      clock: this.#clock,
      signal,
      method,
      ask: async (endpoint, own) =>
        accept(endpoint, await endpoint.ask(calls, { timeoutMs, bytesMax, urgent, idle, revertsAsNull, ...own })),
      mayHedge: () => second !== undefined && this.#mayHedge(second),
      onFailure,
      onHedge: () => {
        this.#hedges++
        this.#options.observer?.hedge({ endpoint: first.name, method })
      },
    })
  }

  #mayHedge({ health, limit }: RpcEndpoint): boolean {
    return health.healthy && limit.availableInMs === 0 && this.#hedges < 3 + this.#asks * hedgeShareMax
  }

  #nobody(calls: readonly RpcCall[]): AlmanacError {
    const failure = { kind: 'no-endpoint', endpoint: 'none', method: methodOf(calls) } as const
    return rpcError(failure, { chain: this.#options.chain.name, said: 'no endpoint is left to ask' })
  }

  /** A refusal that asking for fewer blocks may cure is told as such. */
  #final(error: AlmanacError, calls: readonly RpcCall[]): Error {
    const failure = rpcFailureOf(error)
    const blocks = blocksOf(calls)
    if (failure === undefined || blocks === 0) return error
    const said = error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
    const { kind, blocksAllowed } = failure
    if (kind === 'range-too-large') return new RangeRefused('range-too-large', said, blocksAllowed)
    const tooMuch = kind === 'too-many-results' || kind === 'response-too-large'
    // What nobody can explain, and what takes too long, is halved as the last resort.
    const unclear = blocks > 1 && (kind === 'timeout' || kind === 'refused')
    return tooMuch || unclear ? new RangeRefused('too-dense', said, blocksAllowed) : error
  }
}

/** How many blocks' logs are asked for; 0 where none are. */
function blocksOf(calls: readonly RpcCall[]): number {
  const receipts = calls.filter(({ method }) => method === 'eth_getBlockReceipts').length
  const filter = calls.find(({ method }) => method === 'eth_getLogs')?.params[0] as Record<string, unknown> | undefined
  if (filter === undefined) return receipts
  const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1
  return Math.max(receipts, blocks >= 1 ? blocks : 1)
}

/** Asking another endpoint would not help as much as asking for less, or for something else. */
const endsTheAsk = new Set<RpcFailureKind>([
  'range-too-large',
  'too-many-results',
  'response-too-large',
  'filter-too-large',
  'reverted',
])

/** Worth another try at the same endpoint. */
const repeatable = new Set<RpcFailureKind>(['transport', 'rate-limited', 'invalid-answer', 'refused'])

function isRepeatable(kind: RpcFailureKind | undefined, calls: readonly RpcCall[]): boolean {
  if (kind === undefined) return false
  // A range that took too long once will take too long again.
  return repeatable.has(kind) || (kind === 'timeout' && blocksOf(calls) === 0)
}

function interrupted(signal: AbortSignal, chain: string): Error {
  if (signal.reason instanceof AlmanacError) return signal.reason
  return new AlmanacError('interrupted', `${chain} request was called off.`, { cause: signal.reason })
}

// A transport that counts what is asked through it. It changes nothing.

export class MeteredRpc implements RpcPort {
  readonly endpoints: readonly string[]
  readonly #rpc: RpcPort
  calls = 0
  bytes = 0

  constructor(rpc: RpcPort) {
    this.#rpc = rpc
    this.endpoints = rpc.endpoints
  }

  ask(calls: readonly RpcCall[], options: AskOptions): Promise<RpcAnswers> {
    return this.#metered(calls, this.#rpc.ask(calls, options))
  }

  askRaw(calls: readonly RpcCall[], options: AskOptions): Promise<RawAnswers> {
    return this.#metered(calls, this.#rpc.askRaw(calls, options))
  }

  async #metered<Answers extends { bytes: number }>(
    calls: readonly RpcCall[],
    asked: Promise<Answers>,
  ): Promise<Answers> {
    this.calls += calls.length
    const answers = await asked
    this.bytes += answers.bytes
    return answers
  }

  distrust(endpoint: string, reason: string): void {
    this.#rpc.distrust(endpoint, reason)
  }

  status(): ReturnType<RpcPort['status']> {
    return this.#rpc.status()
  }
}
