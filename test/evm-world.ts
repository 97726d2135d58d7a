// A real node with a history, and `almanac start` on it in a process of its own: asks the service as clients do and compares it with the node.
import type { Address } from 'ox/Address'
import { expect, vi } from 'vitest'
import { CommandPlace, type CommandRun } from './command-run.ts'
import { type History, mine, playHistory } from './evm-history.ts'
import { type EvmNode, startEvmNode } from './evm-node.ts'
import { signed, type Transaction } from './evm-transactions.ts'
import { type ChainTruth, readTruth, type TransactionRecord, type TransferRecord } from './evm-truth.ts'
import { type Engine, type EngineName, startEngine } from './store-engines.ts'

/** Blocks behind the head that count as final: the history is, and what the tests do last is not. */
export const finality = 6
export const key = 'the-operator-key'
const pageSize = 40
/** For what comes with the next poll. */
export const patience = { timeout: 60_000, interval: 200 }

type Page = { cursor: string; result: TransferRecord[]; index_complete: boolean }
type WalletAnswer = { complete: string | null; first?: TransactionRecord; last?: TransactionRecord }
type Covered = { from: number; to: number; evidence: string; scope: string }
type ChainStatus = { state: string; head: number; complete: boolean; covered: Covered[]; lag_seconds: number }

/** A node on which the history was played, up to final blocks. Worlds of a suite may have it one after the other. */
export class PlayedNode {
  readonly node: EvmNode
  readonly history: History
  readonly #head: number

  private constructor(node: EvmNode, history: History, head: number) {
    this.node = node
    this.history = history
    this.#head = head
  }

  static async start(): Promise<PlayedNode> {
    const node = await startEvmNode()
    const history = await playHistory(node)
    for (let block = 0; block < finality; block++) await mine(node)
    return new PlayedNode(node, history, Number(await node.ask('eth_blockNumber')))
  }

  /** Takes back what a world did on it. */
  rewind(): Promise<void> {
    return this.node.rewind(this.#head)
  }

  stop(): Promise<void> {
    return this.node.stop()
  }
}

export class World {
  readonly #index: 'full' | 'on-demand'
  readonly #engineName: EngineName
  #engine: Engine | undefined
  readonly #place = new CommandPlace()
  #service: CommandRun | undefined
  readonly #given: (() => PlayedNode) | undefined
  #played: PlayedNode | undefined
  #environment: Readonly<Record<string, string>> = { ALMANAC_KEY: key, ALMANAC_OPS_OPEN: 'true' }
  url = ''

  /** On a node of its own, unless one is given. */
  constructor(index: 'full' | 'on-demand', engine: EngineName = 'sqlite', played?: () => PlayedNode) {
    this.#index = index
    this.#engineName = engine
    this.#given = played
  }

  get node(): EvmNode {
    return this.#played!.node
  }

  get history(): History {
    return this.#played!.history
  }

  /** More settings may be given by their names in the environment. */
  async begin(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#environment = { ...this.#environment, ...environment }
    this.#played = this.#given?.() ?? (await PlayedNode.start())
    await this.#played.rewind()
    this.#engine = await startEngine(this.#engineName)
    const chains = { eth: { rpc: this.node.url, index: this.#index, finality } }
    this.#place.configure(chains, await this.#engine.newStore())
    await this.start()
  }

  async end(): Promise<void> {
    await this.#place.dispose()
    if (this.#given === undefined) await this.#played?.stop()
    await this.#engine?.close()
  }

  async start(): Promise<void> {
    const run = this.#place.begin(['start', '--listen', '127.0.0.1:0'], this.#environment)
    this.url = await run.listening()
    this.#service = run
  }

  /** Serves the same store from one more process, and returns its URL. */
  async serveAlso(...flags: readonly string[]): Promise<string> {
    const run = this.#place.begin(['start', '--only', 'api', '--listen', '127.0.0.1:0', ...flags], this.#environment)
    return await run.listening()
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#service?.child.kill(signal)
    await this.#service?.ended()
  }

  /** Replaces the newest blocks by these. */
  async reorganise(blocks: readonly (readonly Transaction[])[]): Promise<void> {
    const ancestor = Number(await this.node.ask('eth_blockNumber')) - blocks.length
    const raw = await signed(this.node, blocks.flat(), ancestor)
    await this.node.reorganise(blocks.map(({ length }) => raw.splice(0, length)))
  }

  truth(): Promise<ChainTruth> {
    return readTruth(this.node)
  }

  async page(contract: Address, query: string): Promise<Page> {
    return (await (await this.get(`/api/v2/nft/${contract}/transfers?${query}`)).json()) as Page
  }

  /** The rows of all pages, from the query's on. */
  async rowsOf(contract: Address, query = `limit=${pageSize}`): Promise<TransferRecord[]> {
    const rows: TransferRecord[] = []
    for (let next = query; ; ) {
      const { result, cursor } = await this.page(contract, next)
      rows.push(...result)
      if (cursor === '') return rows
      next = `cursor=${cursor}`
    }
  }

  async walletOf(wallet: Address): Promise<WalletAnswer> {
    const response = await this.get(`/api/v2/wallets/${wallet}/chains`)
    const { active_chains: chains } = (await response.json()) as {
      active_chains: { first_transaction: TransactionRecord; last_transaction: TransactionRecord }[]
    }
    const complete = response.headers.get('x-index-complete')
    const [found] = chains
    return { complete, ...(found && { first: found.first_transaction, last: found.last_transaction }) }
  }

  async status(): Promise<ChainStatus> {
    const { chains } = (await (await this.get('/status?contracts=true')).json()) as { chains: { eth: ChainStatus } }
    return chains.eth
  }

  /** Waits until the service has seen the node's head and filled what lies below. */
  async settled(): Promise<void> {
    const head = Number(await this.node.ask('eth_blockNumber'))
    await vi.waitFor(
      async () => expect(await this.status()).toMatchObject({ state: 'live', head, complete: true }),
      patience,
    )
  }

  /** Waits until the answers for all contracts are complete, and those of the node's chain row for row. */
  async expectTruth(contracts: readonly (keyof History)[] = ['seven', 'many', 'run']): Promise<void> {
    const truth = await this.truth()
    for (const name of contracts) {
      const { address } = this.history[name]
      const wanted = truth.transfersOf(address)
      expect(wanted.length).toBeGreaterThan(5)
      await vi.waitFor(async () => {
        expect(await this.page(address, 'limit=1'), name).toMatchObject({ index_complete: true, block_exists: true })
        expect(await this.rowsOf(address), name).toEqual(wanted)
      }, patience)
    }
  }

  /** How many logs could not be read as what they claim to be, by reason. */
  async malformed(): Promise<Record<string, number>> {
    const text = await (await this.get('/metrics')).text()
    const counts = text.matchAll(/^almanac_evm_malformed_logs_total\{chain="eth",reason="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries([...counts].map(([, reason, count]) => [reason, Number(count)]))
  }

  /** What `almanac verify` says of the blocks from the first to this one, beside the running service. */
  async verify(to: number): Promise<unknown> {
    const { stdout } = await this.#place.runHere(['verify', '--chain', 'eth', '--from', '0', '--to', `${to}`, '--json'])
    return JSON.parse(stdout)
  }

  get(path: string): Promise<Response> {
    // A busy machine may need longer than a request waits unasked.
    return fetch(`${this.url}${path}`, { headers: { 'x-api-key': key, prefer: 'wait=14' } })
  }
}
