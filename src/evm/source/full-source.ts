// Whole blocks with all their logs, checked before they are given on. Receipts are asked for where the endpoints have them, because
// their root proves that no log is missing; range logs with their bloom where not. What fails a check is fetched elsewhere.

import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import { quantityHex } from '../hex.ts'
import type { RpcAnswers, RpcCall, RpcPort } from '../rpc/port.ts'
import type { RpcBlock, RpcHeader, RpcLog, RpcReceipt } from '../rpc/types.ts'
import type { ActivityGrain, ChainSource, DecodedRange } from './chain-source.ts'
import { digestFull, type FullAnswers } from './digest.ts'
import { NodeHead } from './node-head.ts'
import { type Probed, probeChain } from './probe.ts'

export class FullSource extends NodeHead implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  #probed: Promise<Probed> | undefined

  constructor(chain: Chain, rpc: RpcPort) {
    super(chain, rpc)
    this.#chain = chain
    this.#rpc = rpc
  }

  async range(interval: Interval, grain: ActivityGrain, signal: AbortSignal): Promise<DecodedRange> {
    const { chain, hasReceipts: withReceipts } = await this.#probe(signal)
    const calls = callsOf(interval, { grain, withReceipts })
    const distrusted = new Set<string>()
    for (;;) {
      const asked = await this.#rpc.ask(calls, { exclude: distrusted, signal })
      const answers = answersOf(asked, interval, { grain, withReceipts })
      const result = digestFull({ chain, interval, answers, grain, bytes: asked.bytes })
      if (result.ok) return result.range
      const { message } = result.failure
      this.#rpc.distrust(asked.endpoint, message)
      distrusted.add(asked.endpoint)
      if (distrusted.size < this.#rpc.endpoints.length) continue
      const who = distrusted.size === 1 ? `endpoint ${asked.endpoint}` : `all ${distrusted.size} endpoints`
      const { from, to } = interval
      throw new AlmanacError(
        'upstream_invalid',
        `${chain.name} ${who} failed the check of blocks ${from} to ${to}: ${message}.`,
        {
          retryable: true,
          hint: `add an endpoint of another provider to chains.${chain.name}.rpc; nothing wrong is stored meanwhile.`,
        },
      )
    }
  }

  /** Once for the life of the source; again when it failed. */
  #probe(signal: AbortSignal): Promise<Probed> {
    this.#probed ??= probeChain(this.#chain, this.#rpc, signal).catch(error => {
      this.#probed = undefined
      throw error
    })
    return this.#probed
  }
}

type Wish = { grain: ActivityGrain; withReceipts: boolean }

function callsOf({ from, to }: Interval, { grain, withReceipts }: Wish): RpcCall[] {
  const calls: RpcCall[] = []
  for (let number = from; number <= to; number++) {
    calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(number), true] })
  }
  if (grain === 'range') calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(to + 1), false] })
  if (!withReceipts)
    calls.push({ method: 'eth_getLogs', params: [{ fromBlock: quantityHex(from), toBlock: quantityHex(to) }] })
  else
    for (let number = from; number <= to; number++)
      calls.push({ method: 'eth_getBlockReceipts', params: [quantityHex(number)] })
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
