// One endpoint of a simulated chain: answers JSON-RPC texts with its own traits and faults. Knows no sockets.
import type { SimChain } from './chain.ts'
import {
  appliesTo,
  type CallFault,
  type Fault,
  FaultDice,
  type FaultKind,
  type HttpFault,
  type Trait,
} from './faults.ts'
import { quantity } from './json.ts'
import { arrayBytes, type LogFilter, logCount, RpcFailure, type SimMethods, type View } from './methods.ts'
import {
  batchWordings,
  finalizedWordings,
  prunedWordings,
  rangeWordings,
  rateLimitWordings,
  resultWordings,
  sizeWordings,
  timeoutWordings,
  type Wording,
} from './provider-wordings.ts'

export type Reply = {
  status: number
  headers: Record<string, string>
  parts: Buffer[]
  delayMs: number
  /** What happens to the connection instead of, or during, the answer. */
  breaks?: 'reset' | 'hang' | 'endless' | 'truncated' | 'drip' | 'crumbs'
}

/** What a hostile node makes of an honest answer; see `hostile.ts`. */
export type Forgery = (honest: Reply, calls: readonly Call[]) => Reply

export type Call = { id: unknown; method: string; params: unknown[] }
type Asked = { text: string; repeat: number }

export class SimEndpoint {
  /** May be replaced at any time: an endpoint falls ill and recovers. */
  faults: readonly Fault[]
  forgery: Forgery | undefined
  readonly chain: SimChain
  readonly calls = new Map<string, number>()
  requests = 0
  readonly #methods: SimMethods
  readonly #dice: FaultDice
  #turn = 0

  constructor(methods: SimMethods, { seed, faults }: { seed: number; faults: readonly Fault[] }) {
    this.chain = methods.chain
    this.#methods = methods
    this.#dice = new FaultDice(seed)
    this.faults = faults
  }

  /** How often each fault struck. */
  get fired(): ReadonlyMap<FaultKind, number> {
    return this.#dice.fired
  }

  answer(body: string): Reply {
    this.requests++
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch {
      return jsonReply(400, [errorText(null, new RpcFailure(-32700, 'parse error'))])
    }
    const calls = (Array.isArray(parsed) ? parsed : [parsed]) as Call[]
    const methods = calls.map(call => call.method)
    // Ids and the order of arrival must not change the story.
    const asked = { text: JSON.stringify(calls.map(call => [call.method, call.params])), repeat: 0 }
    asked.repeat = this.#dice.repeatOf(asked.text)
    const delayMs = this.#delay(methods, asked)
    const broken = this.#httpFault(methods, asked, calls)
    if (broken !== undefined && broken.breaks !== 'truncated') return { ...broken, delayMs }
    const reply = Array.isArray(parsed) ? this.#batch(calls, asked) : this.#single(calls[0]!, asked)
    const honest = { ...reply, delayMs, ...(broken?.breaks === undefined ? {} : { breaks: broken.breaks }) }
    return this.forgery === undefined ? honest : this.forgery(honest, calls)
  }

  #delay(methods: readonly string[], asked: Asked): number {
    let delayMs = this.#trait('latency')?.delayMs ?? 0
    for (const fault of this.faults) {
      if (fault.kind === 'slow' && appliesTo(fault, methods) && this.#strikes(fault, asked)) delayMs += fault.delayMs
    }
    return delayMs
  }

  #httpFault(methods: readonly string[], asked: Asked, calls: readonly Call[]): Reply | undefined {
    for (const fault of this.faults) {
      if (!isHttpFault(fault) || fault.kind === 'slow' || !appliesTo(fault, methods)) continue
      if (this.#strikes(fault, asked)) return faultReply(fault, calls)
    }
    return undefined
  }

  #batch(calls: readonly Call[], asked: Asked): Reply {
    const limit = this.#trait('batch-limit')
    if (limit !== undefined && calls.length > limit.calls) {
      const wording = batchWordings[limit.provider]
      const failure = worded(wording, { limit: limit.calls, asked: calls.length, from: 0, to: 0 })
      return jsonReply(wording.status, [errorText(null, failure)])
    }
    const view = this.#view()
    const perCall = this.#trait('load-balanced')?.perCall === true
    const answers = calls.map(call => this.#answerCall(call, asked, perCall ? this.#view() : view).parts)
    if (this.#trait('batch-unordered') !== undefined) answers.reverse()
    return jsonReply(200, [open, ...answers.flatMap((parts, at) => (at === 0 ? parts : [comma, ...parts])), close])
  }

  #single(call: Call, asked: Asked): Reply {
    const { status, parts } = this.#answerCall(call, asked, this.#view())
    return jsonReply(status, parts)
  }

  #answerCall(call: Call, request: Asked, view: View): { status: number; parts: Buffer[] } {
    this.calls.set(call.method, (this.calls.get(call.method) ?? 0) + 1)
    const asked = this.faults.some(isCallFault) ? this.#askedOf(call) : request
    try {
      const result = this.#result(call, asked, view)
      const bytes = typeof result === 'string' ? Buffer.from(result, 'latin1') : result
      const prefix = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(call.id ?? null)},"result":`)
      return { status: 200, parts: [prefix, bytes, closeObject] }
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      return { status: error.status, parts: [errorText(call.id, error)] }
    }
  }

  /** A call has its own luck, whatever it travels with. */
  #askedOf({ method, params }: Call): Asked {
    const text = JSON.stringify([method, params])
    return { text, repeat: this.#dice.repeatOf(text) }
  }

  #result(call: Call, asked: Asked, view: View): Buffer | string {
    const { method, params = [] } = call
    if (this.#trait('method-missing')?.methods.includes(method)) throw missing(method)
    this.#refuseTag(params)
    for (const fault of this.faults) {
      if (fault.kind === 'timeout-error' && appliesTo(fault, [method]) && this.#strikes(fault, asked)) {
        throw worded(timeoutWordings[fault.provider], noFacts)
      }
      if (fault.kind === 'call-behind' && appliesTo(fault, [method]) && this.#strikes(fault, asked)) {
        throw new RpcFailure(-32000, 'header not found')
      }
      if (fault.kind === 'call-rate-limit' && appliesTo(fault, [method]) && this.#strikes(fault, asked)) {
        const wording = rateLimitWordings[fault.provider ?? 'alchemy']
        throw worded({ ...wording, status: 200 }, { ...noFacts, limit: 50 })
      }
    }
    switch (method) {
      case 'eth_getLogs':
        return this.#logs(this.#methods.logFilter(params[0], view), asked, view)
      case 'eth_getBlockReceipts':
        return this.#receipts(params[0], asked, view)
      case 'debug_getRawReceipts':
        if (this.#trait('raw-receipts') === undefined) throw missing(method)
        return this.#rawReceipts(params[0], asked, view)
      case 'eth_getBlockByNumber': {
        const number = this.#methods.numberOf(params[0], view)
        const pruned = this.#isPruned(number) ? this.#trait('pruned') : undefined
        const isGone = pruned !== undefined && pruned.keeps !== 'blocks'
        if (isGone && pruned.answer === 'geth') throw worded(prunedWordings.geth, noFacts)
        if (this.#callFault('null-block', method, asked) || isGone) return 'null'
        return this.#methods.block(number, params[1] === true, view) ?? 'null'
      }
      case 'eth_getBlockByHash':
        if (this.#callFault('null-block', method, asked)) return 'null'
        return this.#methods.blockByHash(String(params[0]), params[1] === true, view) ?? 'null'
      case 'debug_getRawHeader': {
        if (this.#trait('raw-headers') === undefined) throw missing(method)
        const raw = this.#methods.rawHeader(params[0], view)
        if (raw === undefined) throw new RpcFailure(-32000, 'header not found')
        return `"${raw}"`
      }
      case 'eth_chainId': {
        const wrong = this.#trait('wrong-chain-id')
        return wrong === undefined ? this.#methods.other(method, params, view)! : `"${quantity(wrong.chainId)}"`
      }
      case 'eth_syncing': {
        const syncing = this.#trait('syncing')
        if (syncing === undefined) return 'false'
        const [current, highest] = [quantity(syncing.at), quantity(this.chain.head)]
        return `{"startingBlock":"0x0","currentBlock":"${current}","highestBlock":"${highest}"}`
      }
      default: {
        const kept = this.#trait('pruned-state')?.below ?? 0
        if (stateMethods.includes(method) && this.#methods.numberOf(params[1], view) < kept) {
          throw new RpcFailure(-32000, 'missing trie node 1fa9 (path ) state 0x1fa9 is not available')
        }
        const indexed = this.#trait('no-transaction-index')?.below ?? 0
        const isByHash = method === 'eth_getTransactionByHash' || method === 'eth_getTransactionReceipt'
        if (isByHash && (this.chain.transactionByHash(String(params[0]))?.block.number ?? indexed) < indexed)
          return 'null'
        const answer = this.#methods.other(method, params, view)
        if (answer === undefined) throw missing(method)
        return answer
      }
    }
  }

  #logs(filter: LogFilter, asked: Asked, view: View): Buffer {
    const facts = { from: filter.from, to: filter.to, asked: filter.to - filter.from + 1 }
    const range = this.#trait('range-limit')
    if (range !== undefined && facts.asked > range.blocks) {
      throw worded(rangeWordings[range.provider], { ...facts, limit: range.blocks })
    }
    const pruned = this.#trait('pruned')
    if (pruned !== undefined && filter.from < pruned.below) {
      if (pruned.answer === 'empty' || pruned.answer === 'null')
        return filter.to < pruned.below ? arrayBytes([]) : this.#keptLogs(filter, pruned, view)
      throw worded(prunedWordings[pruned.answer], { ...facts, limit: pruned.below })
    }
    const answer = this.#methods.logsAnswer(filter, view)
    const results = this.#trait('result-limit')
    if (results !== undefined && logCount(answer) > results.results) {
      throw worded(resultWordings[results.provider], { ...facts, limit: results.results })
    }
    const size = this.#trait('size-limit')
    if (size !== undefined && answer.length > size.bytes) {
      throw worded(sizeWordings[size.provider], { ...facts, limit: size.bytes })
    }
    if (!this.faults.some(isLogFault)) return answer
    const texts = this.#methods.logs(filter, view).map(log => log.text)
    return arrayBytes(this.#spoil(texts, 'eth_getLogs', asked, `${filter.from}:${filter.to}`))
  }

  /** A pruned node that says nothing about it: the part that it still has. */
  #keptLogs(filter: LogFilter, { below }: { below: number }, view: View): Buffer {
    return this.#methods.logsAnswer({ ...filter, from: below }, view)
  }

  #receipts(parameter: unknown, asked: Asked, view: View): Buffer | string {
    const method = 'eth_getBlockReceipts'
    const lack = this.#lackOf(parameter, method, asked, view)
    if (lack !== undefined) return lack
    if (!this.faults.some(isLogFault)) return this.#methods.receiptsAnswer(parameter, view) ?? 'null'
    const texts = this.#methods.receipts(parameter, view)
    if (texts === undefined) return 'null'
    const spoiled = texts.map((text, at) => {
      const receipt = JSON.parse(text) as { logs: unknown[] }
      const logs = receipt.logs.map(log => JSON.stringify(log))
      const kept = this.#spoil(logs, method, asked, `${String(parameter)}:${at}`)
      return JSON.stringify({ ...receipt, logs: kept.map(log => JSON.parse(log)) })
    })
    return arrayBytes(spoiled)
  }

  /** Faults of logs strike whole receipts here. */
  #rawReceipts(parameter: unknown, asked: Asked, view: View): Buffer | string {
    const method = 'debug_getRawReceipts'
    const lack = this.#lackOf(parameter, method, asked, view)
    const answer = lack ?? this.#methods.rawReceipts(parameter, view) ?? 'null'
    if (lack !== undefined || answer === 'null' || !this.faults.some(isLogFault)) return answer
    const texts = (JSON.parse(answer.toString()) as string[]).map(text => `"${text}"`)
    return arrayBytes(this.#spoil(texts, method, asked, String(parameter)))
  }

  /** What a node answers that has no receipts of the block. */
  #lackOf(parameter: unknown, method: string, asked: Asked, view: View): string | undefined {
    if (this.#callFault('null-block', method, asked)) return 'null'
    const pruned = this.#trait('pruned')
    if (pruned === undefined || !this.#isPruned(this.#methods.numberOf(parameter, view))) return undefined
    if (pruned.answer === 'empty') return '[]'
    if (pruned.answer === 'null') return 'null'
    throw worded(prunedWordings[pruned.answer], { ...noFacts, limit: pruned.below })
  }

  /** Drops, repeats or shuffles logs. */
  #spoil(texts: readonly string[], method: string, asked: Asked, about: string): string[] {
    const dice = (at: number): number => this.#dice.draw(about, asked.repeat, at)
    let spoiled = [...texts]
    for (const fault of this.faults) {
      if (!isLogFault(fault) || spoiled.length === 0 || !appliesTo(fault, [method])) continue
      if (!this.#dice.strikes(fault, `${method}:${about}`, asked.repeat)) continue
      const victim = 'victim' in fault && fault.victim === 'first' ? 0 : dice(0) % spoiled.length
      if (fault.kind === 'drop-logs') {
        const share = (fault.share ?? 0) * 0x1_0000_0000
        spoiled = spoiled.filter((_, at) => at !== victim && dice(at + 1) >= share)
      } else if (fault.kind === 'duplicate-logs') spoiled.splice(victim, 0, spoiled[victim]!)
      else
        spoiled = spoiled
          .map((text, at) => ({ text, at: dice(at + 1) }))
          .sort((a, b) => a.at - b.at)
          .map(({ text }) => text)
    }
    return spoiled
  }

  #view(): View {
    const { head, finalized } = this.chain
    const balanced = this.#trait('load-balanced')
    const lag =
      (this.#trait('lagging')?.blocks ?? 0) +
      (balanced === undefined ? 0 : balanced.lags[this.#turn++ % balanced.lags.length]!)
    const stands = this.#trait('syncing')?.at ?? Number.POSITIVE_INFINITY
    const seen = Math.max(0, Math.min(head - lag, stands))
    return { head: seen, finalized: Math.min(finalized, seen) }
  }

  #refuseTag(params: readonly unknown[]): void {
    const trait = this.#trait('no-finalized')
    if (trait !== undefined && params.some(p => p === 'finalized' || p === 'safe')) {
      throw worded(finalizedWordings[trait.provider], noFacts)
    }
  }

  #isPruned(number: number): boolean {
    return number < (this.#trait('pruned')?.below ?? 0)
  }

  #callFault(kind: CallFault['kind'], method: string, asked: Asked): boolean {
    return this.faults.some(f => f.kind === kind && appliesTo(f, [method]) && 'rate' in f && this.#strikes(f, asked))
  }

  #strikes(fault: HttpFault | CallFault, asked: Asked): boolean {
    return this.#dice.strikes(fault, asked.text, asked.repeat)
  }

  #trait<Kind extends Trait['kind']>(kind: Kind): Extract<Trait, { kind: Kind }> | undefined {
    return this.faults.find(fault => fault.kind === kind) as Extract<Trait, { kind: Kind }> | undefined
  }
}

const open = Buffer.from('[')
const close = Buffer.from(']')
const comma = Buffer.from(',')
const closeObject = Buffer.from('}')
const noFacts = { limit: 0, asked: 0, from: 0, to: 0 }
const stateMethods = ['eth_getCode', 'eth_getBalance', 'eth_getTransactionCount']
const httpKinds = [
  'rate-limit',
  'server-error',
  'truncated',
  'html',
  'slow',
  'reset',
  'hang',
  'endless',
  'not-json-rpc',
]

function isHttpFault(fault: Fault): fault is HttpFault {
  return httpKinds.includes(fault.kind)
}

function isCallFault(fault: Fault): fault is CallFault {
  return 'rate' in fault && !isHttpFault(fault)
}

function isLogFault(fault: Fault): fault is CallFault {
  return fault.kind === 'drop-logs' || fault.kind === 'duplicate-logs' || fault.kind === 'unordered-logs'
}

function faultReply(fault: HttpFault, calls: readonly Call[]): Reply {
  switch (fault.kind) {
    case 'rate-limit': {
      const wording = rateLimitWordings[fault.provider ?? 'alchemy']
      const failure = worded(wording, { ...noFacts, limit: 50 })
      const reply = jsonReply(wording.status, [errorText(calls[0]?.id, failure)])
      if (fault.retryAfterSeconds !== undefined) reply.headers['retry-after'] = String(fault.retryAfterSeconds)
      return reply
    }
    case 'server-error':
      return {
        status: fault.status ?? 503,
        headers: { 'content-type': 'text/plain' },
        parts: [Buffer.from('upstream unavailable')],
        delayMs: 0,
      }
    case 'html': {
      const page =
        '<!doctype html><html><head><title>Just a moment</title></head><body>Checking your browser</body></html>'
      return {
        status: fault.status ?? 200,
        headers: { 'content-type': 'text/html' },
        parts: [Buffer.from(page)],
        delayMs: 0,
      }
    }
    case 'not-json-rpc':
      return jsonReply(200, [Buffer.from('{"ok":true}')])
    case 'slow':
      throw new Error('slow answers are answers')
    default:
      return { status: 200, headers: { 'content-type': 'application/json' }, parts: [], delayMs: 0, breaks: fault.kind }
  }
}

function jsonReply(status: number, parts: Buffer[]): Reply {
  return { status, headers: { 'content-type': 'application/json' }, parts, delayMs: 0 }
}

function worded(wording: Wording, facts: Parameters<Wording['message']>[0]): RpcFailure {
  const data = wording.data?.(facts)
  return new RpcFailure(wording.code, wording.message(facts), { status: wording.status, data })
}

function missing(method: string): RpcFailure {
  return new RpcFailure(-32601, `the method ${method} does not exist/is not available`)
}

function errorText(id: unknown, { code, message, data }: RpcFailure): Buffer {
  const error = data === undefined ? { code, message } : { code, message, data }
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error }))
}
