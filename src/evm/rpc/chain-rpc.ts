// JSON-RPC over the endpoints of one EVM chain. It checks the form of answers only; `verify.ts` checks whether they are
// true.
//
//   const rpc = new ChainRpc({ chain: { name: 'eth', id: 1 }, endpoints: [{ url: 'http://127.0.0.1:8545' }] })
//   const { values, endpoint } = await rpc.ask([{ method: 'eth_blockNumber', params: [] }], { signal })
//   const again = await rpc.ask(calls, { signal, exclude: new Set([endpoint]) })     // any other endpoint
//   const { bodies } = await rpc.askRaw(calls, { signal })                      // parse with `readAnswers` in a worker
//
// All calls of one `ask` are answered by one endpoint, in one batch where it takes batches. Calls that fail for the
// moment are sent to it again, and what it answered is kept meanwhile; then another endpoint gets them all.
import { realClock, untilAborted } from '../../abort.ts'
import { otherChain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityOf } from '../../hex.ts'
import type { Interval } from '../../model.ts'
import { type ClientAsk, type EndpointSettings, RpcClient, type RpcClientOptions } from '../../rpc/client.ts'
import type { EndpointAnswer, RpcEndpoint } from '../../rpc/endpoint.ts'
import { type RpcFailure, type RpcFailureKind, repeatableKinds, rpcFailureOf } from '../../rpc/failures.ts'
import type { RpcFamily } from '../../rpc/family.ts'
import type { EndpointStatus } from '../../status.ts'
import { askedBlocks, asksForBlocks, HistoryFloors, isOld, lowestFloor, outOfReach } from './history-floors.ts'
import { isAggregate } from './multicall.ts'
import type { AskOptions, RawAnswers, RpcAnswers, RpcCall, RpcPort, Suspicion } from './port.ts'
import { RangeRefused } from './port.ts'
import { inBytes, lacksRaw, RawReceipts, receiptMethods } from './raw-receipts.ts'
import { isRevert, sortRefusal } from './refusals.ts'

export type ChainRpcOptions = Omit<RpcClientOptions, 'family' | 'behind' | 'failsFast' | 'nameOf'> & {
  /** Endpoints that serve another chain than `id` are never used; undefined: not checked. */
  chain: { name: string; id: number | undefined }
  endpoints: readonly EndpointSettings[]
  /** Requests that may wait at one endpoint. */
  queueMax?: number
}

export type RpcAskOptions = AskOptions & Pick<ClientAsk, 'endpoint'>

export class ChainRpc implements RpcPort {
  /** Another list where the endpoints changed. */
  endpoints: readonly string[]
  readonly #client: RpcClient
  readonly #queueMax: number
  readonly #heads = new Map<string, number>()
  readonly #floors: HistoryFloors
  readonly #raw: RawReceipts
  /** How each endpoint last gave receipts, or logs instead. */
  readonly #receipts = new Map<string, EndpointStatus['receipts']>()
  readonly #chain: string

  constructor({ chain, queueMax = 2_000, ...options }: ChainRpcOptions) {
    this.#chain = chain.name
    this.#queueMax = queueMax
    const endpoints = options.endpoints.map(endpoint => ({ queueMax, ...endpoint }))
    this.#client = new RpcClient({ ...options, endpoints, family: familyOf(chain) })
    this.endpoints = this.#client.endpoints.map(({ name }) => name)
    const askOne = (endpoint: string) => (calls: readonly RpcCall[]) =>
      this.#client.ask(calls, { endpoint }, (from, { bodies }) => from.read(bodies, calls))
    this.#floors = new HistoryFloors({ clock: options.clock ?? realClock, askOne })
    const isScarce = (endpoint: string) =>
      this.#client.endpoints.find(({ name }) => name === endpoint)?.limit.isScarce ?? true
    this.#raw = new RawReceipts({ clock: options.clock ?? realClock, askOne, isScarce })
  }

  /** No call is lost: see `RpcClient`. What the endpoints have of the past is learnt again. */
  setEndpoints(settings: readonly EndpointSettings[]): void {
    this.#client.setEndpoints(settings.map(endpoint => ({ queueMax: this.#queueMax, ...endpoint })))
    this.endpoints = this.#client.endpoints.map(({ name }) => name)
    this.#floors.forget()
    this.#raw.forget()
    this.#receipts.clear()
  }

  get historyFrom(): number {
    return this.#floors.lowest(this.endpoints)
  }

  /** Also where raw receipts of the block are empty: then it is asked for JSON from now on. */
  async hasDropped(endpoint: string, suspicion: Suspicion): Promise<boolean> {
    if (suspicion.method === receiptMethods.json && this.#raw.has(endpoint)) {
      this.#raw.lost(endpoint)
      return true
    }
    return await this.#floors.suspected(endpoint, suspicion)
  }

  ask(calls: readonly RpcCall[], options: RpcAskOptions): Promise<RpcAnswers> {
    return this.#ask(calls, options, (endpoint, { bodies, bytes }) => {
      const values = endpoint.read(bodies, calls, toleratedBy(options))
      const said = options.objection?.(values)
      if (said !== undefined) throw endpoint.invalid(calls[0]?.method ?? 'batch', said)
      this.#learnHead(endpoint.name, calls, values)
      return { endpoint: endpoint.name, values, bytes }
    })
  }

  /** For `readAnswers`, in any thread. */
  askRaw(calls: readonly RpcCall[], options: RpcAskOptions): Promise<RawAnswers & EndpointAnswer> {
    return this.#ask(calls, options, (endpoint, answer) => ({ ...answer, endpoint: endpoint.name }))
  }

  distrust(endpoint: string, reason: string): string {
    this.#raw.lost(endpoint)
    return this.#client.distrust(endpoint, reason)
  }

  status(): EndpointStatus[] {
    return this.#client.status().map((status, at) => ({
      ...status,
      head: this.#heads.get(status.endpoint),
      history_from: this.#floors.of(status.endpoint),
      receipts: this.#receipts.get(status.endpoint),
      concurrency: this.#client.endpoints[at]!.limit.concurrency,
    }))
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #ask<T>(
    calls: readonly RpcCall[],
    options: RpcAskOptions,
    accept: (endpoint: RpcEndpoint, answer: EndpointAnswer) => T,
  ): Promise<T> {
    const blocks = askedBlocks(calls, options.lowestBlock)
    const exclude = blocks === undefined ? options.exclude : await this.#withoutLacking(blocks.from, options)
    const onFailure = (endpoint: string, failure: RpcFailure): void => {
      if (lacksRaw(failure, blocksOf(calls))) this.#raw.lost(endpoint)
      else this.#learnFloor(endpoint, blocks, failure)
    }
    const raw = options.rawReceipts === true ? inBytes(calls) : undefined
    const callsFor = (endpoint: string) => (raw !== undefined && this.#raw.has(endpoint) ? raw : calls)
    const asked = { ...options, exclude, onFailure, tolerated: toleratedBy(options), callsFor }
    const ask = (): Promise<T> =>
      this.#client.ask(calls, asked, async (endpoint, answer) => {
        if (options.isUnproven === true && blocks !== undefined) await this.#requireBlock(endpoint, blocks.from)
        const form = options.rawReceipts === undefined ? undefined : formOf(callsFor(endpoint.name))
        if (form !== undefined) this.#receipts.set(endpoint.name, form)
        return accept(endpoint, answer)
      })
    try {
      // Who refused raw receipts has lost them by now, and is asked for JSON.
      return await ask().catch(error =>
        lacksRaw(rpcFailureOf(error), blocksOf(calls)) ? ask() : Promise.reject(error),
      )
    } catch (error) {
      const kind = rpcFailureOf(error)?.kind
      const mayLack = kind === 'pruned' || kind === 'behind'
      if (blocks !== undefined && mayLack) await this.#refuseLacking(blocks.from, options)
      throw rangeRefused(error, calls) ?? error
    }
  }

  /** Fails where the endpoint has dropped the block and does not say so. */
  async #requireBlock(endpoint: RpcEndpoint, block: number): Promise<void> {
    const head = this.#heads.get(endpoint.name) ?? 0
    if (isOld(block, head)) await this.#floors.survey(endpoint.name, head)
    if (!this.#floors.lacks(endpoint.name, block)) return
    const said = `it has blocks from ${this.#floors.of(endpoint.name)} and was asked for ${block}`
    throw endpoint.fail({ kind: 'pruned', method: 'eth_getLogs' }, said)
  }

  /** Whom not to ask. Fails where no endpoint has the block. */
  async #withoutLacking(block: number, options: RpcAskOptions): Promise<ReadonlySet<string> | undefined> {
    const lacking = this.#lacking(block)
    if (lacking.length === 0) return options.exclude
    for (const endpoint of lacking) this.#floors.lookAgain(endpoint)
    const isAsked = (name: string): boolean => options.endpoint === undefined || options.endpoint === name
    if (this.endpoints.filter(isAsked).every(name => lacking.includes(name))) await this.#refuseLacking(block, options)
    return new Set([...(options.exclude ?? []), ...this.#lacking(block)])
  }

  /** Fails where every endpoint that may be asked lacks the block, once it is known what each of them has. */
  async #refuseLacking(block: number, { endpoint, signal }: RpcAskOptions): Promise<void> {
    await untilAborted(this.#floors.settled(), signal)
    const asked = this.status().filter(({ endpoint: name }) => endpoint === undefined || endpoint === name)
    if (block < lowestFloor(asked)) throw outOfReach(this.#chain, asked)
  }

  #lacking(block: number): string[] {
    return this.endpoints.filter(endpoint => this.#floors.lacks(endpoint, block))
  }

  #learnFloor(endpoint: string, blocks: Interval | undefined, { kind, method }: RpcFailure): void {
    if (blocks === undefined || !asksForBlocks(method)) return
    if (kind === 'pruned') this.#floors.refused(endpoint, blocks, method)
    if (kind !== 'behind' || !isOld(blocks.from, this.#heads.get(endpoint) ?? 0)) return
    const suspicion = { block: blocks.from, method }
    void this.#floors.suspected(endpoint, suspicion).then(isDropped => isDropped && this.#client.excuse(endpoint))
  }

  #learnHead(endpoint: string, calls: readonly RpcCall[], values: readonly unknown[]): void {
    for (const [at, { method, params }] of calls.entries()) {
      const latest = method === 'eth_getBlockByNumber' && params[0] === 'latest'
      const value = latest ? (values[at] as { number?: unknown } | null)?.number : values[at]
      const head = latest || method === 'eth_blockNumber' ? quantityOf(value, Number.MAX_SAFE_INTEGER) : -1
      if (head >= 0) this.#heads.set(endpoint, head)
    }
  }
}

function familyOf({ name, id }: { name: string; id: number | undefined }): RpcFamily {
  const objection = (value: unknown): string | undefined => {
    const served = quantityOf(value, Number.MAX_SAFE_INTEGER)
    if (id === undefined || served === id) return undefined
    if (served < 0) return 'answers eth_chainId with something that is not a chain id: check the URL'
    const { serves, hint } = otherChain(served, id)
    return `${serves}: ${hint.slice(0, -1)}`
  }
  return {
    chain: name,
    sort: sortRefusal,
    isRepeatable,
    heavyMethods: [receiptMethods.raw, 'eth_getLogs', receiptMethods.json],
    isHeavy: call => heavy.has(call.method) || isWholeBlock(call) || isAggregate(call),
    canAskForLess: calls => blocksOf(calls) > 1,
    identity: id === undefined ? undefined : { call: { method: 'eth_chainId', params: [] }, objection },
  }
}

/** Whole blocks are heavy too, and many calls in one. */
const heavy = new Set<string>([...Object.values(receiptMethods), 'eth_getLogs', 'eth_getTransactionReceipt'])

function isWholeBlock({ method, params }: RpcCall): boolean {
  return method.startsWith('eth_getBlockBy') && params[1] === true
}

/** What calls for whole blocks ask for beside them. */
function formOf(calls: readonly RpcCall[]): EndpointStatus['receipts'] {
  const has = (wanted: string): boolean => calls.some(({ method }) => method === wanted)
  return has(receiptMethods.raw) ? 'raw' : has(receiptMethods.json) ? 'json' : has('eth_getLogs') ? 'logs' : undefined
}

function toleratedBy({ revertsAsNull = false }: AskOptions): typeof isRevert | undefined {
  return revertsAsNull ? isRevert : undefined
}

/** The refusal that asking for fewer blocks may cure; undefined for any other error. */
function rangeRefused(error: unknown, calls: readonly RpcCall[]): RangeRefused | undefined {
  const failure = rpcFailureOf(error)
  const blocks = blocksOf(calls)
  if (failure === undefined || blocks === 0 || !(error instanceof AlmanacError)) return undefined
  const said = error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
  const { kind, blocksAllowed } = failure
  if (kind === 'range-too-large') return new RangeRefused('range-too-large', said, blocksAllowed)
  const tooMuch = kind === 'too-many-results' || kind === 'response-too-large'
  const unclear = blocks > 1 && lastResort.has(kind)
  return tooMuch || unclear ? new RangeRefused('too-dense', said, blocksAllowed) : undefined
}

/** Too slow, of unknown meaning, or again and again about some call of many: fewer blocks may pass. */
const lastResort = new Set<RpcFailureKind>(['timeout', 'refused', 'behind', 'invalid-answer'])

/** How many blocks' logs are asked for; 0 where none are. */
function blocksOf(calls: readonly RpcCall[]): number {
  const receipts = calls.filter(({ method }) => method === 'eth_getBlockReceipts').length
  const filter = calls.find(({ method }) => method === 'eth_getLogs')?.params[0] as Record<string, unknown> | undefined
  if (filter === undefined) return receipts
  const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1
  return Math.max(receipts, blocks >= 1 ? blocks : 1)
}

function isRepeatable(kind: RpcFailureKind, calls: readonly RpcCall[]): boolean {
  // A range that took too long once will take too long again.
  return repeatableKinds.has(kind) || kind === 'behind' || (kind === 'timeout' && blocksOf(calls) === 0)
}

/** Counts what is asked through it, and changes nothing. */
export class MeteredRpc implements RpcPort {
  readonly #rpc: RpcPort
  readonly endpoints: readonly string[]
  calls = 0
  bytes = 0

  constructor(rpc: RpcPort) {
    this.#rpc = rpc
    this.endpoints = rpc.endpoints
  }

  readonly ask: RpcPort['ask'] = (calls, options) => this.#count(calls, () => this.#rpc.ask(calls, options))
  readonly askRaw: RpcPort['askRaw'] = (calls, options) => this.#count(calls, () => this.#rpc.askRaw(calls, options))
  readonly distrust: RpcPort['distrust'] = (endpoint, reason) => this.#rpc.distrust(endpoint, reason)
  readonly hasDropped: RpcPort['hasDropped'] = (endpoint, suspicion) => this.#rpc.hasDropped(endpoint, suspicion)
  readonly status: RpcPort['status'] = () => this.#rpc.status()

  get historyFrom(): number {
    return this.#rpc.historyFrom
  }

  /** Called before each: throws where that many are too many. */
  protected admit(_calls: number): void {}

  async #count<Answers extends { bytes: number }>(
    calls: readonly RpcCall[],
    ask: () => Promise<Answers>,
  ): Promise<Answers> {
    this.admit(calls.length)
    this.calls += calls.length
    const answers = await ask()
    this.bytes += answers.bytes
    return answers
  }
}
