// Whole blocks with all their logs, checked before they are given on. Receipts are asked for where the endpoints have them, because
// their root proves that no log is missing; range logs with their bloom where not. What fails a check is fetched elsewhere.

import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { ActivityGrain, ChainSource, DecodedRange } from './chain-source.ts'
import { type Digester, digestHere } from './digester.ts'
import { callsOf } from './full-request.ts'
import { NodeHead } from './node-head.ts'
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
    const distrusted = new Set<string>()
    for (;;) {
      const asked = await this.#rpc.askRaw(calls, { exclude: distrusted, signal })
      const result = await this.#digester.digest({ chain, request, bodies: asked.bodies })
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
