// Headers by JSON-RPC: the head and the final block in one batch, and single headers by hash or number.

import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Hash } from '../../model.ts'
import { isHexOf, quantityHex, quantityOf } from '../hex.ts'
import { rpcFailureOf } from '../rpc/errors.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { RpcHeader } from '../rpc/types.ts'
import type { Header, HeadReport } from './chain-source.ts'
import { headerOf } from './header.ts'

/** What every source of a chain can tell, whatever it fetches beside. */
export class NodeHead {
  readonly #rpc: RpcPort
  readonly #chainName: string
  /** Off once the endpoints have shown that they do not know the tag. */
  #asksFinalized: boolean
  #finalized: Header | undefined

  constructor(chain: Chain, rpc: RpcPort) {
    this.#rpc = rpc
    this.#chainName = chain.name
    this.#asksFinalized = chain.finalizedTag
  }

  async head(signal: AbortSignal): Promise<HeadReport> {
    const latestCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }
    if (this.#asksFinalized) {
      const finalizedCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
      try {
        const { endpoint, values } = await this.#rpc.ask([latestCall, finalizedCall], { signal, urgent: true })
        this.#finalized = readHeader(values[1]) ?? this.#finalized
        return { latest: this.#readable(values[0], endpoint), finalized: this.#finalized }
      } catch (error) {
        // Whether the tag or the endpoint is at fault shows when the head alone is asked for.
        const { endpoint, values } = await this.#rpc.ask([latestCall], { signal, urgent: true })
        const kind = rpcFailureOf(error)?.kind
        if (this.#finalized === undefined && (kind === 'tag-unknown' || kind === 'refused')) this.#asksFinalized = false
        // A node that knows the tag is believed for as long as it cannot be asked: a depth could go beyond its word.
        return { latest: this.#readable(values[0], endpoint), finalized: this.#finalized }
      }
    }
    const { endpoint, values } = await this.#rpc.ask([latestCall], { signal, urgent: true })
    return { latest: this.#readable(values[0], endpoint), finalized: undefined }
  }

  async headerByHash(hash: Hash, signal: AbortSignal): Promise<Header | undefined> {
    const { values } = await this.#rpc.ask([{ method: 'eth_getBlockByHash', params: [hash, false] }], {
      signal,
      urgent: true,
    })
    return readHeader(values[0])
  }

  async headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined> {
    const { values } = await this.#rpc.ask([{ method: 'eth_getBlockByNumber', params: [quantityHex(number), false] }], {
      signal,
      urgent: true,
    })
    return readHeader(values[0])
  }

  #readable(value: unknown, endpoint: string): Header {
    const header = readHeader(value)
    if (header !== undefined) return header
    this.#rpc.distrust(endpoint, 'it has no readable head')
    throw new AlmanacError(
      'upstream_invalid',
      `${this.#chainName} endpoint ${endpoint} answered eth_getBlockByNumber(latest) without a readable block.`,
      {
        retryable: true,
        hint: 'check that the node is synced, or add a second endpoint.',
      },
    )
  }
}

function readHeader(value: unknown): Header | undefined {
  const header = value as RpcHeader | null | undefined
  if (typeof header !== 'object' || header === null) return undefined
  const readable =
    isHexOf(header.hash, 32) &&
    isHexOf(header.parentHash, 32) &&
    quantityOf(header.number, Number.MAX_SAFE_INTEGER) >= 0 &&
    quantityOf(header.timestamp, 2 ** 40) >= 0
  return readable ? headerOf(header) : undefined
}
