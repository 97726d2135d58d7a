// An EVM node behind an address that stays. It remembers what was mined: a node that stops is replaced by a new one
// with the same blocks, because an indexer that stored the old ones would not believe others.
import type { Hex } from 'ox/Hex'
import { type EvmNode, type EvmNodeOptions, startEvmNode } from './evm-node.ts'
import { isLost, type NodeNews } from './node-news.ts'
import { type Relay, startRelay } from './relay.ts'

type Mined = { transactions: readonly Hex[]; timestamp: number } | { empty: readonly number[] }

export class EvmNetwork implements EvmNode {
  readonly chainId: number
  readonly url: string
  readonly #options: EvmNodeOptions
  readonly #relay: Relay
  #node: EvmNode
  /** Of the canonical branch. */
  #mined: Mined[] = []
  readonly #lengths = new Map<unknown, number>()
  /** The last head that was seen. */
  #known: Hex | undefined
  #closed = false

  private constructor(options: EvmNodeOptions, node: EvmNode, relay: Relay) {
    this.#options = options
    this.#node = node
    this.#relay = relay
    this.chainId = node.chainId
    this.url = `http://127.0.0.1:${relay.port}`
    relay.passTo(node.url)
  }

  static async start(options: EvmNodeOptions): Promise<EvmNetwork> {
    return new EvmNetwork(options, await startEvmNode(options), await startRelay())
  }

  get processId(): number | undefined {
    return this.#node.processId
  }

  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const result = await this.#node.ask(method, ...params)
    if (method === 'evm_snapshot') this.#lengths.set(result, this.#mined.length)
    if (method === 'evm_revert' && result === true) this.#mined.length = this.#lengths.get(params[0]) ?? 0
    return result
  }

  async mine(transactions: readonly Hex[], timestamp: number): Promise<void> {
    await this.#node.mine(transactions, timestamp)
    this.#mined.push({ transactions, timestamp })
  }

  async mineEmpty(timestamps: readonly number[]): Promise<void> {
    await this.#node.mineEmpty(timestamps)
    this.#mined.push({ empty: timestamps })
  }

  /** Does work that needs the node. Fails only where a node that runs refused it, or cannot be replaced by the same. */
  async workOrReplace(work: () => Promise<void>, report: (news: NodeNews) => void): Promise<void> {
    this.#known = await this.#head().catch(() => this.#known)
    try {
      return await work()
    } catch (failure) {
      // Of a lost request nobody knows what the node did: only another node surely has the blocks.
      const isRefusal = !isLost(failure) && (await this.#head().catch(() => undefined)) !== undefined
      if (this.#closed || isRefusal) throw failure
      report({ event: 'node stopped answering', reason: (failure as Error).message })
    }
    await this.#replace()
    const isSame = this.#known === undefined || (await this.#has(this.#known))
    if (!isSame) throw new Error('a new node has other blocks; start the sandbox again')
    report({ event: 'node started again', reason: 'it has the blocks that it had' })
  }

  async stop(): Promise<void> {
    this.#closed = true
    await this.#relay.close()
    await this.#node.stop()
  }

  async #replace(): Promise<void> {
    this.#relay.passTo(undefined)
    await this.#node.stop()
    const node = await startEvmNode(this.#options)
    this.#node = node
    for (const mined of this.#mined) {
      if (this.#closed) break
      if ('empty' in mined) await node.mineEmpty(mined.empty)
      else await node.mine(mined.transactions, mined.timestamp)
    }
    if (this.#closed) return await node.stop()
    this.#relay.passTo(node.url)
  }

  async #head(): Promise<Hex> {
    const { hash } = (await this.#node.ask('eth_getBlockByNumber', 'latest', false)) as { hash: Hex }
    return hash
  }

  async #has(hash: Hex): Promise<boolean> {
    return (await this.#node.ask('eth_getBlockByHash', hash, false)) !== null
  }
}
