// Reads the transfers of some contracts by filtered logs: fewer bytes than whole blocks, and less proof. The answer of
// one endpoint is compared with that of a second one, if there is one.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import type { Address, Evidence, Interval } from '../../model.ts'
import { hostOf } from '../../rpc/endpoint-address.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { type LogSequence, sequenceLogs } from '../decode/log-sequence.ts'
import { earlyCollectionsOf, transferTopics } from '../decode/token-events.ts'
import { checkHeaders } from '../proof/verify.ts'
import type { RpcAnswers, RpcCall, RpcHeader, RpcLog, RpcPort } from '../rpc/port.ts'
import { RangeRefused } from '../rpc/port.ts'
import {
  type ActivityGrain,
  askChecked,
  type ChainSource,
  checkFailed,
  type DecodedRange,
  type Header,
  HeaderSource,
  headerOf,
  numbersOf,
} from './chain-source.ts'
import { type Decoder, inlineDecoder } from './decode-pool.ts'
import { unlisted } from './read-facts.ts'
import { settleLogs } from './settle-logs.ts'
import { TransactionFacts } from './transaction-facts.ts'

export class WatchedSource extends HeaderSource implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #facts: TransactionFacts
  /** The contracts that are followed at the head. */
  readonly watched = new Set<Address>()

  constructor(chain: Chain, rpc: RpcPort, decoder: Decoder = inlineDecoder) {
    super(chain, rpc)
    this.#chain = chain
    this.#rpc = rpc
    this.#facts = new TransactionFacts(chain, rpc, decoder)
  }

  /** Of the watched contracts, with every header, so that the range can be followed. */
  async range(interval: Interval, _grain: ActivityGrain, signal: AbortSignal): Promise<DecodedRange> {
    return await this.#decode([...this.watched], interval, numbersOf(interval), signal)
  }

  /** One contract's history, with the headers of blocks with rows and of the last one. */
  async contractRange(contract: Address, interval: Interval, signal: AbortSignal): Promise<DecodedRange> {
    return await this.#decode([contract], interval, [interval.to], signal)
  }

  /** The same with every header, to add to hot blocks. */
  async hotContractRange(contract: Address, interval: Interval, signal: AbortSignal): Promise<DecodedRange> {
    return await this.#decode([contract], interval, numbersOf(interval), signal)
  }

  async #decode(
    contracts: readonly Address[],
    interval: Interval,
    headersOf: readonly number[],
    signal: AbortSignal,
  ): Promise<DecodedRange> {
    const found = await this.#logs(contracts, interval, headersOf, signal)
    const evidence = await this.#secondOpinion(contracts, interval, found, signal)
    const facts = await this.#facts.of(found.logs, found.headers, signal)
    const { rows, malformed } = decodeTransfers({
      logs: found.logs,
      earlyCollections: earlyCollectionsOf(this.#chain.id),
      transactionOf: log => facts.transactions.get(String(log.transactionHash)) ?? unlisted,
    })
    const counts = { bytes: found.bytes + facts.bytes, logs: found.logs.length, malformed }
    return { interval, evidence, headers: facts.headers, transfers: rows, activity: noActivity, ...counts }
  }

  async #logs(
    contracts: readonly Address[],
    interval: Interval,
    headersOf: readonly number[],
    signal: AbortSignal,
  ): Promise<Found> {
    const headerCalls = headersOf.map(
      (number): RpcCall => ({ method: 'eth_getBlockByNumber', params: [quantityHex(number), false] }),
    )
    const calls = [...headerCalls, ...logsCalls(contracts, interval)]
    return await askChecked({
      chain: this.#chain,
      rpc: this.#rpc,
      interval,
      ask: exclude => this.#rpc.ask(calls, { exclude, signal }),
      check: answers => this.#read(answers, contracts, interval, headersOf),
    })
  }

  /** What was found, or the reason why the answers cannot be right. */
  #read(
    answers: RpcAnswers,
    contracts: readonly Address[],
    interval: Interval,
    headersOf: readonly number[],
  ): Found | string {
    const headers = answers.values.slice(0, headersOf.length) as (RpcHeader | null)[]
    const [from, to] = [headersOf[0] ?? interval.to, headersOf.at(-1) ?? interval.to]
    const failed = checkHeaders({ chain: this.#chain, from, to, headers })
    if (failed !== undefined) return failed.message
    const lists = answers.values.slice(headersOf.length)
    if (!lists.every(Array.isArray))
      return `eth_getLogs for blocks ${interval.from} to ${interval.to} did not answer a list`
    const logs = sequenceLogs(lists.flat() as RpcLog[], { complete: false })
    const readHeaders = new Map((headers as RpcHeader[]).map(header => [Number(header.number), headerOf(header)]))
    const asked = new Set<string>(contracts)
    const first = logs.blocks[0]
    const last = logs.blocks[logs.length - 1]
    if (first !== undefined && last !== undefined && logs.length > 0 && (first < interval.from || last > interval.to)) {
      return `eth_getLogs for blocks ${interval.from} to ${interval.to} answered logs of blocks ${first} to ${last}`
    }
    for (let at = 0; at < logs.length; at++) {
      const log = logs.logs[at] as RpcLog
      const header = readHeaders.get(logs.blocks[at] as number)
      if (header !== undefined && header.hash !== log.blockHash?.toLowerCase()) {
        return `a log of block ${header.number} belongs to block hash ${log.blockHash}, the header's is ${header.hash}`
      }
      if (!asked.has(String(log.address).toLowerCase()))
        return `eth_getLogs answered a log of ${log.address}, which was not asked for`
    }
    return { endpoint: answers.endpoint, logs, headers: [...readHeaders.values()], bytes: answers.bytes }
  }

  /**
   * Asks an endpoint of another host for the same logs. One that fails or refuses changes nothing. Where both differ,
   * receipts settle it; where there are none to settle it by, the logs are one endpoint's word.
   */
  async #secondOpinion(
    contracts: readonly Address[],
    interval: Interval,
    found: Found,
    signal: AbortSignal,
  ): Promise<Evidence> {
    const chain = this.#chain
    const rpc = this.#rpc
    const exclude = new Set(rpc.endpoints.filter(name => hostOf(name) === hostOf(found.endpoint)))
    if (exclude.size === rpc.endpoints.length || contracts.length === 0) return 'one-endpoint'
    const end: RpcCall = { method: 'eth_getBlockByNumber', params: [quantityHex(interval.to), false] }
    let other: RpcAnswers
    try {
      other = await rpc.ask([end, ...logsCalls(contracts, interval)], { signal, exclude })
    } catch (error) {
      if (error instanceof RangeRefused || error instanceof AlmanacError) return 'one-endpoint'
      throw error
    }
    const second = this.#read(other, contracts, interval, [interval.to])
    // An endpoint that lags says nothing.
    if (typeof second === 'string') return 'one-endpoint'
    if (sameLogs(found.logs, second.logs)) return 'two-endpoints'
    const { wrong, settled } = await settleLogs({ chain, rpc, contracts, told: [found, second] }, signal)
    const message = `${found.endpoint} gave ${found.logs.length} logs and ${second.endpoint} ${second.logs.length}, and they differ`
    for (const endpoint of wrong) rpc.distrust(endpoint, message)
    if (wrong.has(found.endpoint)) throw checkFailed(chain, interval, message)
    return settled ? 'two-endpoints' : 'one-endpoint'
  }
}

type Found = { endpoint: string; logs: LogSequence; headers: Header[]; bytes: number }

// Nodes allow a thousand or so addresses in a filter, and slow down before.
const contractsPerCall = 200

function logsCalls(contracts: readonly Address[], { from, to }: Interval): RpcCall[] {
  const calls: RpcCall[] = []
  for (let at = 0; at < contracts.length; at += contractsPerCall) {
    const address = contracts.slice(at, at + contractsPerCall)
    const filter = { fromBlock: quantityHex(from), toBlock: quantityHex(to), address, topics: [transferTopics] }
    calls.push({ method: 'eth_getLogs', params: [filter] })
  }
  return calls
}

function sameLogs(a: LogSequence, b: LogSequence): boolean {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) {
    const [left, right] = [a.logs[at] as RpcLog, b.logs[at] as RpcLog]
    if (
      left.transactionHash !== right.transactionHash ||
      a.logIndexes[at] !== b.logIndexes[at] ||
      left.blockHash !== right.blockHash ||
      left.data !== right.data ||
      String(left.topics) !== String(right.topics)
    )
      return false
  }
  return true
}
