// Whole blocks with all their logs, checked before they are given on. Receipts are asked for where the endpoints have them, because
// their root proves that no log is missing; range logs with their bloom where not. What fails a check is fetched elsewhere.
import type { Chain } from '../../chains.ts'
import type { Interval } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { ActivityGrain, ChainSource, DecodedRange } from './chain-source.ts'
import { type Decoder, inlineDecoder } from './decode-pool.ts'
import { callsOf } from './decode-range.ts'
import { askChecked, HeaderSource } from './header-source.ts'
import { type Probed, probeChain } from './probe.ts'

export class FullSource extends HeaderSource implements ChainSource {
  readonly #chain: Chain
  readonly #rpc: RpcPort
  readonly #decoder: Decoder
  #probed: Promise<Probed> | undefined

  constructor(chain: Chain, rpc: RpcPort, decoder: Decoder = inlineDecoder) {
    super(chain, rpc)
    this.#decoder = decoder
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
        const result = await this.#decoder.range({ chain, request, bodies })
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
