// Headers by JSON-RPC: the head and the final block in one batch, and single headers by hash or number.
import { AlmanacError } from '../errors.ts'
import type { Hash } from '../model.ts'
import type { Header, HeadReport } from './chain-source.ts'
import { headerOf } from './digest.ts'
import { isHexOf, quantityOf } from './hex.ts'
import type { RpcPort } from './rpc-port.ts'
import type { RpcHeader } from './rpc-types.ts'

export class NodeHead {
  readonly #rpc: RpcPort
  readonly #chainName: string
  /** Off once the endpoints have shown that they do not know the tag. */
  #asksFinalized: boolean

  constructor(rpc: RpcPort, options: { chainName: string; finalizedTag: boolean }) {
    this.#rpc = rpc
    this.#chainName = options.chainName
    this.#asksFinalized = options.finalizedTag
  }

  async head(signal: AbortSignal): Promise<HeadReport> {
    const latestCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }
    if (this.#asksFinalized) {
      const finalizedCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
      try {
        const { endpoint, values } = await this.#rpc.ask([latestCall, finalizedCall], { signal })
        return { latest: this.#readable(values[0], endpoint), finalized: readHeader(values[1]) }
      } catch (error) {
        // Whether the tag or the endpoint is at fault shows when the head alone is asked for.
        const { endpoint, values } = await this.#rpc.ask([latestCall], { signal })
        if (!(error instanceof AlmanacError) || !error.retryable) this.#asksFinalized = false
        return { latest: this.#readable(values[0], endpoint), finalized: undefined }
      }
    }
    const { endpoint, values } = await this.#rpc.ask([latestCall], { signal })
    return { latest: this.#readable(values[0], endpoint), finalized: undefined }
  }

  async headerByHash(hash: Hash, signal: AbortSignal): Promise<Header | undefined> {
    const { values } = await this.#rpc.ask([{ method: 'eth_getBlockByHash', params: [hash, false] }], { signal })
    return readHeader(values[0])
  }

  async headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined> {
    const { values } = await this.#rpc.ask([{ method: 'eth_getBlockByNumber', params: [hexOf(number), false] }], {
      signal,
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

export function hexOf(number: number): string {
  return `0x${number.toString(16)}`
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
