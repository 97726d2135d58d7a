// The sandbox's Solana network: a node behind addresses that stay, and its wallets. A node that stops is replaced by a
// new one with the same wallets and mints, whose slots go on from the old ones: a reader of the old ledger would not
// believe slots that begin again.
import { setTimeout as delay } from 'node:timers/promises'
import { isLost, type NodeNews } from './node-news.ts'
import { type Relay, startRelay } from './relay.ts'
import { type SolanaNode, type SolanaNodeOptions, startSolanaNode } from './solana-node.ts'
import { SolanaWorld } from './solana-world.ts'

export type SolanaNetworkOptions = {
  seed: string
  /** A node whose slot stands still for longer counts as stopped. */
  silentMsMax?: number
  slotMs?: number
  /** Called with what it does at the first start. */
  told?: (doing: string) => void
}

const silentMsMaxDefault = 15_000
const answerMsMax = 5_000
/** More than the slots that can have passed since the last look. */
const slotsAhead = 1_000
const startsMax = 3
const startPauseMs = 2_000

export class SolanaNetwork {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly #options: SolanaNetworkOptions
  readonly #silentMsMax: number
  readonly #relays: { http: Relay; ws: Relay }
  #running: { node: SolanaNode; world: SolanaWorld } | undefined
  #slot = 0
  #closed = false

  private constructor(options: SolanaNetworkOptions, relays: { http: Relay; ws: Relay }) {
    this.#options = options
    this.#silentMsMax = options.silentMsMax ?? silentMsMaxDefault
    this.#relays = relays
    this.rpcUrl = `http://127.0.0.1:${relays.http.port}`
    this.wsUrl = `ws://127.0.0.1:${relays.ws.port}`
  }

  static async start(options: SolanaNetworkOptions): Promise<SolanaNetwork> {
    const network = new SolanaNetwork(options, { http: await startRelay(), ws: await startRelay() })
    try {
      await network.#startNode({}, options.told)
    } catch (error) {
      await network.stop()
      throw error
    }
    return network
  }

  get wallets(): readonly string[] {
    return this.#running?.world.wallets.map(({ address }) => address) ?? []
  }

  /** Of the node, where it has a process of its own. */
  get processId(): number | undefined {
    return this.#running?.node.processId
  }

  /** Sends one transfer. Fails only where a node that runs refused it, or none can be started again. */
  async transactOrReplace(report: (news: NodeNews) => void, signal?: AbortSignal): Promise<void> {
    const failure = await this.#running?.world.transact().then(
      () => undefined,
      (error: Error) => error,
    )
    if (await this.#moves()) {
      // The next transfer does not depend on this one.
      if (failure !== undefined && !isLost(failure)) throw failure
      return
    }
    if (this.#closed) return
    report({ event: 'node stopped answering', reason: failure?.message ?? 'its slots stand still' })
    await this.#replaceNode(signal)
    report({ event: 'node started again', reason: 'its wallets hold what they held at first' })
  }

  /** Resolves as soon as the slot moves, or with false once it has stood still for too long. */
  async #moves(): Promise<boolean> {
    const deadline = performance.now() + this.#silentMsMax
    const before = this.#slot
    while (!this.#closed && performance.now() < deadline) {
      this.#slot = Math.max(this.#slot, await this.#askSlot())
      if (this.#slot > before) return true
      await delay(100, undefined, { ref: false })
    }
    return false
  }

  async #replaceNode(signal: AbortSignal | undefined): Promise<void> {
    await this.#stopNode()
    for (let start = 1; ; start++) {
      try {
        return await this.#startNode({ firstSlot: this.#slot + slotsAhead })
      } catch (error) {
        if (this.#closed || start === startsMax) throw error
        await delay(startPauseMs, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) })
      }
    }
  }

  async stop(): Promise<void> {
    this.#closed = true
    await this.#stopNode()
    await Promise.all([this.#relays.http.close(), this.#relays.ws.close()])
  }

  /** The node is reached from outside once its wallets hold what they should. */
  async #startNode({ firstSlot }: SolanaNodeOptions, told?: SolanaNetworkOptions['told']): Promise<void> {
    const { seed, slotMs } = this.#options
    const node = await startSolanaNode({ firstSlot, slotMs })
    told?.('filling wallets')
    try {
      const world = await SolanaWorld.create({ node, seed, answerMsMax: this.#silentMsMax })
      if (this.#closed) throw new Error('the network was stopped')
      this.#running = { node, world }
    } catch (error) {
      await node.stop()
      throw error
    }
    this.#slot = Math.max(this.#slot, await this.#askSlot())
    this.#relays.http.passTo(node.rpcUrl)
    this.#relays.ws.passTo(node.wsUrl)
  }

  async #stopNode(): Promise<void> {
    for (const relay of [this.#relays.http, this.#relays.ws]) relay.passTo(undefined)
    const node = this.#running?.node
    this.#running = undefined
    await node?.stop()
  }

  /** 0 where the node does not answer. */
  async #askSlot(): Promise<number> {
    try {
      const answer = await fetch(this.#running?.node.rpcUrl ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [] }),
        signal: AbortSignal.timeout(Math.min(answerMsMax, this.#silentMsMax)),
      })
      return ((await answer.json()) as { result?: number }).result ?? 0
    } catch {
      return 0
    }
  }
}
