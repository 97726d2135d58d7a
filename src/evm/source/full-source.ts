// Reads whole blocks with all their logs, checked. It asks for receipts if the endpoints have them, because their root
// proves that no log is missing, else for range logs, which the bloom checks. What fails a check is asked of another
// endpoint.
import type { Chain } from '../../chains.ts'
import type { Interval } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import { type ActivityGrain, askChecked, type ChainSource, type DecodedRange, HeaderSource } from './chain-source.ts'
import { type Decoder, inlineDecoder } from './decode-pool.ts'
import { callsOf } from './decode-range.ts'
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
      ask: exclude => this.#rpc.askRaw(calls, { exclude, signal, nullIsMissing: true }),
      check: async ({ bodies }) => {
        const result = await this.#decoder.range({ chain, request, bodies })
        return result.ok ? result.range : result.failure.message
      },
    })
  }

  /** Once in the life of the source; again if it failed. */
  #probe(signal: AbortSignal): Promise<Probed> {
    this.#probed ??= probeChain(this.#chain, this.#rpc, signal).catch(error => {
      this.#probed = undefined
      throw error
    })
    return this.#probed
  }
}
