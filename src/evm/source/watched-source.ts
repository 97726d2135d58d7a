// Reads the transfers of some contracts by filtered logs: fewer bytes than whole blocks, and less proof. The answer of
// one endpoint is compared with that of a second one, if there is one.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import { type Ledger, ledgerOf } from '../../ledgers.ts'
import type { Address, Evidence, Interval } from '../../model.ts'
import type { Payer } from '../../rpc/daily-budget.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { earlyCollectionsOf, topicsOf } from '../decode/token-events.ts'
import { ofSameHost, paidBy, RangeRefused, type RawAnswers, type RpcCall, type RpcPort } from '../rpc/port.ts'
import {
  type ActivityGrain,
  askChecked,
  type ChainSource,
  checkFailed,
  type DecodedRange,
  HeaderSource,
  numbersOf,
} from './chain-source.ts'
import { type Decoder, inlineDecoder } from './decode-pool.ts'
import { unlisted } from './read-facts.ts'
import type { ReadLogs } from './read-logs.ts'
import { differingBlocks, settleLogs } from './settle-logs.ts'
import { TransactionFacts } from './transaction-facts.ts'

export class WatchedSource extends HeaderSource implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #decoder: Decoder
  readonly #facts: TransactionFacts
  readonly #ledger: Ledger
  /** The contracts that are followed at the head. */
  readonly watched = new Set<Address>()

  constructor(chain: Chain, rpc: RpcPort, decoder: Decoder = inlineDecoder) {
    super(chain, rpc)
    this.#chain = chain
    this.#rpc = rpc
    this.#decoder = decoder
    this.#facts = new TransactionFacts(chain, rpc, decoder)
    this.#ledger = ledgerOf(chain.id).ledger
  }

  /** Reads for the request of a client. It watches nothing itself. */
  paidBy(payer: Payer | undefined): Pick<WatchedSource, 'contractRange' | 'hotContractRange'> {
    return payer === undefined ? this : new WatchedSource(this.#chain, paidBy(this.#rpc, payer), this.#decoder)
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
    const found = await this.#logs({ contracts, interval, headersOf }, signal)
    const { evidence: ofLogs, timestamps } = await this.#secondOpinion(contracts, interval, found, signal)
    const confirm = ofLogs === 'two-endpoints'
    const { logs, headers } = found
    const wanted = { logs, headers, timestamps, confirm, transactions: this.#ledger === 'nft' }
    const facts = await this.#facts.of(wanted, signal)
    const evidence = facts.confirmed ? ofLogs : 'one-endpoint'
    const { rows, malformed } = decodeTransfers({
      logs,
      ledger: this.#ledger,
      earlyCollections: earlyCollectionsOf(this.#chain.id),
      transactionOf: log => facts.transactions.get(String(log.transactionHash)) ?? unlisted,
    })
    const counts = { bytes: found.bytes + facts.bytes, logs: logs.length, malformed }
    return { interval, evidence, headers: facts.headers, transfers: rows, activity: noActivity, ...counts }
  }

  async #logs(asked: AskedLogs, signal: AbortSignal): Promise<Found> {
    return await askChecked({
      chain: this.#chain,
      rpc: this.#rpc,
      interval: asked.interval,
      ask: async exclude => await this.#rpc.askRaw(this.#callsOf(asked), { ...unproven, exclude, signal }),
      check: answers => this.#read(answers, asked),
    })
  }

  async #read({ endpoint, bodies, bytes }: RawAnswers, asked: AskedLogs): Promise<Found | string> {
    const calls = this.#callsOf(asked).length
    const read = await this.#decoder.logs({ chain: this.#chain, ...asked, calls, bodies })
    return typeof read === 'string' ? read : { ...read, endpoint, bytes }
  }

  /**
   * Asks an endpoint of another host for the same logs, and for headers that no hash proves. One that fails or refuses
   * changes nothing. Where both differ, receipts settle it; where there are none to settle it by, the logs are one
   * endpoint's word. The times of blocks are those on which both agree.
   */
  async #secondOpinion(
    contracts: readonly Address[],
    interval: Interval,
    found: Found,
    signal: AbortSignal,
  ): Promise<Opinion> {
    const chain = this.#chain
    const rpc = this.#rpc
    const alone: Opinion = { evidence: 'one-endpoint', timestamps: found.timestamps }
    const exclude = ofSameHost(rpc, found.endpoint)
    if (exclude === undefined || contracts.length === 0) return alone
    const headersOf = found.headersProven ? [interval.to] : found.headers.map(({ number }) => number)
    const asked = { contracts, interval, headersOf }
    let second: Found | string
    try {
      second = await this.#read(await rpc.askRaw(this.#callsOf(asked), { ...unproven, exclude, signal }), asked)
    } catch (error) {
      if (error instanceof RangeRefused || error instanceof AlmanacError) return alone
      throw error
    }
    // An endpoint that lags says nothing.
    if (typeof second === 'string') return alone
    const blocks = differingBlocks(found.logs, second.logs)
    const dropped = { block: blocks[0] ?? interval.to, method: 'eth_getLogs' }
    // One that has dropped the block is wrong about it without a lie.
    if (blocks.length > 0 && (await rpc.hasDropped(second.endpoint, dropped))) return alone
    if (blocks.length > 0 && (await rpc.hasDropped(found.endpoint, dropped)))
      throw checkFailed(chain, interval, `${found.endpoint} no longer has block ${dropped.block}`)
    const { wrong, settled } = await settleLogs({ chain, rpc, contracts, told: [found, second], blocks }, signal)
    const message = `${found.endpoint} gave ${found.logs.length} logs and ${second.endpoint} ${second.logs.length}, and they differ`
    for (const endpoint of wrong) rpc.distrust(endpoint, message)
    if (wrong.has(found.endpoint)) throw checkFailed(chain, interval, message)
    const { headers, timestamps } = second
    const ours = new Set(found.headers.map(({ hash, timestamp }) => `${hash} ${timestamp}`))
    const sameHeaders = headers.every(({ hash, timestamp }) => ours.has(`${hash} ${timestamp}`))
    if (!settled || !sameHeaders) return alone
    const agreed = [...found.timestamps].filter(([block, timestamp]) => timestamps.get(block) === timestamp)
    return { evidence: 'two-endpoints', timestamps: new Map(agreed) }
  }

  #callsOf({ contracts, interval: { from, to }, headersOf }: AskedLogs): RpcCall[] {
    const calls = headersOf.map(
      (number): RpcCall => ({ method: 'eth_getBlockByNumber', params: [quantityHex(number), false] }),
    )
    const range = { fromBlock: quantityHex(from), toBlock: quantityHex(to) }
    for (let at = 0; at < contracts.length; at += contractsPerCall) {
      const address = contracts.slice(at, at + contractsPerCall)
      const filter = { ...range, address, topics: [topicsOf(this.#chain.id)] }
      calls.push({ method: 'eth_getLogs', params: [filter] })
    }
    return calls
  }
}

type AskedLogs = {
  contracts: readonly Address[]
  interval: Interval
  headersOf: readonly number[]
}
type Found = ReadLogs & { endpoint: string; bytes: number }
type Opinion = { evidence: Evidence; timestamps: ReadonlyMap<number, number> }

/** A filtered list does not show what is missing in it. */
const unproven = { nullIsMissing: true, isUnproven: true }

// Nodes allow a thousand or so addresses in a filter, and slow down before.
const contractsPerCall = 200
