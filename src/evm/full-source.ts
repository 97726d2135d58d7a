// Whole blocks with all their logs, checked before they are given on. Receipts are asked for where the endpoints have them, because
// their root proves that no log is missing; range logs with their bloom where not. What fails a check is fetched elsewhere.
import type { Chain } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { Hash, Interval } from '../model.ts'
import type { ActivityGrain, ChainSource, DecodedRange, Header, HeadReport } from './chain-source.ts'
import { digestFull, type FullAnswers } from './digest.ts'
import { hexOf, NodeHead } from './node-head.ts'
import type { RpcAnswers, RpcCall, RpcPort } from './rpc-port.ts'
import type { RpcBlock, RpcHeader, RpcLog, RpcReceipt } from './rpc-types.ts'
import type { FailedCheck } from './verify.ts'

// A chain whose receipts root is made in another way never passes; one broken endpoint does sometimes.
const foreignRootPatience = 8

export class FullSource implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #nodeHead: NodeHead
  #asksReceipts = true
  #rootsProven = 0
  #rootsFailed = 0

  constructor(chain: Chain, rpc: RpcPort) {
    this.#chain = chain
    this.#rpc = rpc
    this.#nodeHead = new NodeHead(rpc, { chainName: chain.name, finalizedTag: chain.finalizedTag })
  }

  head(signal: AbortSignal): Promise<HeadReport> {
    return this.#nodeHead.head(signal)
  }

  headerByHash(hash: Hash, signal: AbortSignal): Promise<Header | undefined> {
    return this.#nodeHead.headerByHash(hash, signal)
  }

  headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined> {
    return this.#nodeHead.headerByNumber(number, signal)
  }

  async range(interval: Interval, grain: ActivityGrain, signal: AbortSignal): Promise<DecodedRange> {
    const distrusted = new Set<string>()
    for (;;) {
      const withReceipts = this.#asksReceipts
      const answers = await this.#ask(interval, grain, { exclude: distrusted, signal })
      if (answers === undefined) continue
      const result = digestFull({
        chain: this.#chain,
        interval,
        answers: answersOf(answers, interval, { grain, withReceipts }),
        grain,
        bytes: answers.bytes,
      })
      if (result.ok) {
        if (result.range.evidence === 'receipts-root') this.#rootsProven++
        return result.range
      }
      const { check, message } = result.failure
      this.#rpc.distrust(answers.endpoint, message)
      this.#learnRoot(check)
      distrusted.add(answers.endpoint)
      if (distrusted.size < this.#rpc.endpoints.length) continue
      const who = distrusted.size === 1 ? `endpoint ${answers.endpoint}` : `all ${distrusted.size} endpoints`
      throw new AlmanacError(
        'upstream_invalid',
        `${this.#chain.name} ${who} failed the check of blocks ${interval.from} to ${interval.to}: ${message}.`,
        {
          retryable: true,
          hint: `add an endpoint of another provider to chains.${this.#chain.name}.rpc; nothing wrong is stored meanwhile.`,
        },
      )
    }
  }

  /** Undefined where it showed that the endpoints have no receipts, so that logs are to be asked for. */
  async #ask(
    interval: Interval,
    grain: ActivityGrain,
    options: { exclude: ReadonlySet<string>; signal: AbortSignal },
  ): Promise<RpcAnswers | undefined> {
    try {
      return await this.#rpc.ask(callsOf(interval, { grain, withReceipts: this.#asksReceipts }), options)
    } catch (error) {
      if (!(error instanceof AlmanacError) || error.code !== 'not_found' || !this.#asksReceipts) throw error
      this.#asksReceipts = false
      return undefined
    }
  }

  #learnRoot(check: FailedCheck): void {
    if (check !== 'receipts-root' || this.#rootsProven > 0) return
    this.#rootsFailed++
    if (this.#rootsFailed >= foreignRootPatience) this.#asksReceipts = false
  }
}

type Wish = { grain: ActivityGrain; withReceipts: boolean }

function callsOf({ from, to }: Interval, { grain, withReceipts }: Wish): RpcCall[] {
  const calls: RpcCall[] = []
  for (let number = from; number <= to; number++) {
    calls.push({ method: 'eth_getBlockByNumber', params: [hexOf(number), true] })
  }
  if (grain === 'range') calls.push({ method: 'eth_getBlockByNumber', params: [hexOf(to + 1), false] })
  if (!withReceipts) calls.push({ method: 'eth_getLogs', params: [{ fromBlock: hexOf(from), toBlock: hexOf(to) }] })
  else
    for (let number = from; number <= to; number++)
      calls.push({ method: 'eth_getBlockReceipts', params: [hexOf(number)] })
  return calls
}

function answersOf({ values }: RpcAnswers, { from, to }: Interval, { grain, withReceipts }: Wish): FullAnswers {
  const count = to - from + 1
  const blocks = values.slice(0, count) as (RpcBlock | null)[]
  const rest = grain === 'range' ? count + 1 : count
  const next = grain === 'range' ? { next: values[count] as RpcHeader | null } : {}
  if (!withReceipts) return { blocks, ...next, logs: values[rest] as RpcLog[] | null }
  return { blocks, ...next, receipts: values.slice(rest) as (RpcReceipt[] | null)[] }
}
