// Finds out what one endpoint of a chain can do: how old its head is, how far back it goes, and what it gives at once. It asks some dozens of
// small questions, stores nothing, and leaves the words to others.
import type { Chain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import { topics } from '../decode/token-events.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { rpcFailureOf } from '../rpc/errors.ts'
import type { RpcBlock, RpcCall } from '../rpc/port.ts'
import { RangeRefused } from '../rpc/port.ts'
import { HeaderSource } from '../source/chain-source.ts'
import { probeChain } from '../source/probe.ts'
import { firstBlockWhere } from '../source/wallet-lookup.ts'

export type EndpointFindings = {
  /** The host. */
  endpoint: string
  head: number
  headTimestamp: number
  latencyMs: number
  /** Whether it answers the `finalized` tag. */
  finalizedTag: boolean
  /** `proven`: receipts by block that hash to the header's root. `given`: they do not. */
  receipts: 'proven' | 'given' | 'missing'
  /** The oldest block whose transactions and receipts or logs it gives; undefined where not even the newest. */
  blocksFrom: number | undefined
  /** The oldest block whose balances and nonces it knows. */
  stateFrom: number | undefined
  /** The widest range of logs that it took; `isLimit` where it refused a wider one. */
  logRange: { blocks: number; isLimit: boolean }
  /** How many calls it took in one request; 1: no batches. */
  batchCalls: number
}

const logRanges = [100_000, 50_000, 10_000, 5_000, 2_000, 1_000, 500, 100, 50, 10, 5, 1]
const batchTried = 50
const timeoutMs = 15_000
/** Nobody has its key and nothing was ever deployed at it: an answer about it is short. */
const nobody = `0x${'00'.repeat(19)}ff`

/** Which chain answers at an address, whatever it is called. */
export async function chainIdAt(url: string, signal: AbortSignal): Promise<number> {
  const rpc = new ChainRpc({ chain: { name: 'The', id: undefined }, endpoints: [{ url }], timeoutMs, attemptsMax: 2 })
  try {
    const { values } = await rpc.ask([{ method: 'eth_chainId', params: [] }], { signal })
    return Number(values[0])
  } finally {
    await rpc.close()
  }
}

/** Fails as the endpoint fails where it cannot be used at all. */
export async function checkEndpoint(chain: Chain, url: string, signal: AbortSignal): Promise<EndpointFindings> {
  const rpc = new ChainRpc({ chain, endpoints: [{ url }], timeoutMs, attemptsMax: 3 })
  try {
    return await new EndpointCheck(chain, rpc, signal).findings()
  } finally {
    await rpc.close()
  }
}

class EndpointCheck {
  readonly #chain: Chain
  readonly #rpc: ChainRpc
  readonly #signal: AbortSignal

  constructor(chain: Chain, rpc: ChainRpc, signal: AbortSignal) {
    this.#chain = chain
    this.#rpc = rpc
    this.#signal = signal
  }

  async findings(): Promise<EndpointFindings> {
    const { latest, finalized } = await new HeaderSource({ ...this.#chain, finalizedTag: true }, this.#rpc).head(
      this.#signal,
    )
    const head = latest.number
    const { hasReceipts } = await probeChain(this.#chain, this.#rpc, this.#signal)
    const receipts = hasReceipts ? 'proven' : (await this.#gives('eth_getBlockReceipts', head)) ? 'given' : 'missing'
    const blocksFrom = await this.#oldest(head, block => this.#givesBlock(block, receipts !== 'missing'))
    return {
      endpoint: this.#rpc.endpoints[0]!,
      head,
      headTimestamp: latest.timestamp,
      finalizedTag: finalized !== undefined,
      receipts,
      blocksFrom,
      stateFrom: await this.#oldest(head, block => this.#givesState(block)),
      // Below what the node has kept, it would refuse for another reason.
      logRange: await this.#logRange(head, head - (blocksFrom ?? head) + 1),
      batchCalls: await this.#batchCalls(),
      latencyMs: Number(this.#rpc.status()[0]?.latency_ms ?? 0),
    }
  }

  /** By bisection: what is there at a block is there at every later one. */
  #oldest(head: number, gives: (block: number) => Promise<boolean>): Promise<number | undefined> {
    // A few blocks below the head, which a balanced provider may not have everywhere yet.
    const to = Math.max(0, head - 4)
    return firstBlockWhere(blocks => Promise.all(blocks.map(gives)), { from: 0, to })
  }

  async #givesBlock(number: number, withReceipts: boolean): Promise<boolean> {
    const at = quantityHex(number)
    const block = (await this.#asked({ method: 'eth_getBlockByNumber', params: [at, false] })) as RpcBlock | null
    if (block === null) return false
    if (!withReceipts) return (await this.#asked(logsOf(number, number))) !== null
    const receipts = await this.#asked({ method: 'eth_getBlockReceipts', params: [at] })
    return Array.isArray(receipts) && receipts.length >= block.transactions.length
  }

  async #givesState(number: number): Promise<boolean> {
    return (await this.#asked({ method: 'eth_getBalance', params: [nobody, quantityHex(number)] })) !== null
  }

  async #gives(method: string, number: number): Promise<boolean> {
    return (await this.#asked({ method, params: [quantityHex(number)] })) !== null
  }

  /** Null where the node has it no more, or cannot do it at all. Whatever else fails is the endpoint's trouble. */
  async #asked(call: RpcCall): Promise<unknown> {
    try {
      return (await this.#rpc.ask([call], { signal: this.#signal })).values[0] ?? null
    } catch (error) {
      const kind = rpcFailureOf(error)?.kind
      if (kind === 'pruned' || kind === 'method-missing' || kind === 'refused' || error instanceof RangeRefused)
        return null
      throw error
    }
  }

  async #logRange(head: number, blocksMax: number): Promise<EndpointFindings['logRange']> {
    let isLimit = false
    let allowed = Number.POSITIVE_INFINITY
    for (const tried of logRanges) {
      const blocks = Math.min(tried, blocksMax)
      if (blocks > allowed) continue
      try {
        await this.#rpc.ask([logsOf(head - blocks + 1, head)], { signal: this.#signal })
        return { blocks, isLimit }
      } catch (error) {
        if (!(error instanceof RangeRefused)) throw error
        isLimit = true
        allowed = error.blocksAllowed ?? Math.min(allowed, blocks - 1)
        // What the refusal names is tried as it stands, where the list would pass it by.
        if (error.blocksAllowed !== undefined && !logRanges.includes(allowed) && (await this.#takes(allowed, head)))
          return { blocks: allowed, isLimit }
      }
    }
    return { blocks: 0, isLimit: true }
  }

  async #takes(blocks: number, head: number): Promise<boolean> {
    try {
      await this.#rpc.ask([logsOf(head - blocks + 1, head)], { signal: this.#signal })
      return true
    } catch (error) {
      if (error instanceof RangeRefused) return false
      throw error
    }
  }

  async #batchCalls(): Promise<number> {
    const calls = Array.from({ length: batchTried }, () => ({ method: 'eth_chainId', params: [] }))
    const { bodies } = await this.#rpc.askRaw(calls, { signal: this.#signal })
    return Math.ceil(batchTried / bodies.length)
  }
}

function logsOf(from: number, to: number): RpcCall {
  const filter = { fromBlock: quantityHex(from), toBlock: quantityHex(to), address: nobody, topics: [topics.transfer] }
  return { method: 'eth_getLogs', params: [filter] }
}
