// Whole blocks with all their logs, checked before they are given on. Receipts are asked for where the endpoints have them, because
// their root proves that no log is missing; range logs with their bloom where not. What fails a check is fetched elsewhere.
import type { Chain } from '../../chains.ts'
import type { Interval } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { ActivityGrain, ChainSource, DecodedRange } from './chain-source.ts'
import { callsOf } from './digest.ts'
import { type Digester, digestHere } from './digester.ts'
import { askChecked, NodeHead } from './node-head.ts'
import { type Probed, probeChain } from './probe.ts'

export class FullSource extends NodeHead implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #digester: Digester
  #probed: Promise<Probed> | undefined

  constructor(chain: Chain, rpc: RpcPort, digester: Digester = digestHere) {
    super(chain, rpc)
    this.#digester = digester
    this.#chain = chain
    this.#rpc = rpc
  }

  async range(interval: Interval, grain: ActivityGrain, signal: AbortSignal): Promise<DecodedRange> {
    const { chain, hasReceipts: withReceipts } = await this.#probe(signal)
    const request = { interval, grain, withReceipts }
    const calls = callsOf(request)
    return await askChecked({
      chain,
      rpc: this.#rpc,
      interval,
      ask: exclude => this.#rpc.askRaw(calls, { exclude, signal }),
      check: async ({ bodies }) => {
        const result = await this.#digester.digest({ chain, request, bodies })
        return result.ok ? result.range : result.failure.message
      },
    })
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
