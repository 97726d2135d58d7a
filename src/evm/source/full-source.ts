// Reads whole blocks with all their logs, checked. It asks for receipts if the endpoints have them, because their root
// proves that no log is missing, else for range logs, which the bloom checks. What fails a check is asked of another
// endpoint.
import type { Chain } from '../../chains.ts'
import type { Hash, Interval } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import {
  type ActivityGrain,
  askChecked,
  type ChainSource,
  type DecodedRange,
  HeaderSource,
  strayReason,
} from './chain-source.ts'
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

  /** `lastHash` is the hash of the last block, if it is proven: a range of another chain is then asked elsewhere. */
  async range(interval: Interval, grain: ActivityGrain, signal: AbortSignal, lastHash?: Hash): Promise<DecodedRange> {
    const { chain, hasReceipts: withReceipts } = await this.#probe(signal)
    const request = { interval, grain, withReceipts }
    const calls = callsOf(request)
    return await askChecked({
      chain,
      rpc: this.#rpc,
      interval,
      ask: exclude => this.#rpc.askRaw(calls, { exclude, signal }),
      check: async ({ bodies, endpoint }) => {
        const result = await this.#decoder.range({ chain, request, bodies })
        if (!result.ok) return result.failure.message
        const last = result.range.headers.at(-1)?.hash
        const stray = lastHash === undefined ? undefined : strayReason(interval, last, lastHash)
        return stray ?? { ...result.range, endpoint }
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
