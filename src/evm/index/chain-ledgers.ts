// The ledgers of one chain in the process that indexes it: that of NFTs, and that of ERC-20 tokens, which is indexed on
// demand and made when a token is first asked for. It indexes nothing itself.
import { type Ledger, ledgerId } from '../../ledgers.ts'
import type { TokenLedgerStatus } from '../../status.ts'
import type { Store } from '../../store/store.ts'
import type { View } from '../../views.ts'
import type { ChainIndexer, ChainSetup } from './chain-indexer.ts'

export type ChainLedgersOptions = {
  /** Of the ledger of NFTs. What changes in it counts for a ledger that is made later. */
  setup: ChainSetup
  store: Pick<Store, 'chainState'>
  /** Tokens are read from nodes alone. */
  hasNode: boolean
  makeIndexer: (setup: ChainSetup) => ChainIndexer
}

/** Owners are folded from the index by token. No list of tokens is by block. */
const tokenViews: readonly View[] = ['transfers', 'by_wallet', 'by_token']

export class ChainLedgers {
  readonly #options: ChainLedgersOptions
  readonly #nft: ChainIndexer
  #tokens: ChainIndexer | undefined
  #resuming: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: ChainLedgersOptions) {
    this.#options = options
    this.#nft = options.makeIndexer(options.setup)
  }

  get setup(): ChainSetup {
    return this.#nft.setup
  }

  /** The one of NFTs. */
  get nft(): ChainIndexer {
    return this.#nft
  }

  /** Begins the ledger of tokens where it is asked for; undefined where there is no node to read it from. */
  of(ledger: Ledger): ChainIndexer | undefined {
    if (ledger === 'nft') return this.#nft
    if (this.#isStopped || !this.#options.hasNode) return undefined
    this.#tokens ??= this.#begin()
    return this.#tokens
  }

  start(): void {
    this.#nft.start()
    this.#resuming = this.#resume()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#resuming
    await Promise.all([this.#nft.stop(), this.#tokens?.stop()])
  }

  configure(settings: Pick<ChainSetup, 'pollMs' | 'backfill'>): void {
    for (const indexer of [this.#nft, this.#tokens]) indexer?.configure(settings)
  }

  measure(): void {
    for (const indexer of [this.#nft, this.#tokens]) indexer?.measure()
  }

  async status() {
    const tokens = await this.#tokens?.status()
    return { ...(await this.#nft.status()), ...(tokens === undefined ? {} : { erc20: tokenLedgerStatus(tokens) }) }
  }

  /** What was asked for before the process started is followed on. */
  async #resume(): Promise<void> {
    const { setup, store, hasNode } = this.#options
    if (!hasNode) return
    // What cannot be read now is begun by the next request.
    const state = await store.chainState(ledgerId(setup.chain.id, 'erc20')).catch(() => undefined)
    if (state !== undefined) this.of('erc20')
  }

  #begin(): ChainIndexer {
    const { setup, makeIndexer } = this.#options
    const chain = { ...setup.chain, id: ledgerId(setup.chain.id, 'erc20') }
    const tokens = makeIndexer({ ...setup, chain, index: 'on-demand', views: tokenViews, contracts: [] })
    tokens.start()
    return tokens
  }
}

type IndexerStatus = Awaited<ReturnType<ChainIndexer['status']>>

function tokenLedgerStatus(status: IndexerStatus): TokenLedgerStatus {
  const { state, reason, head, complete, contracts, queue, blocks_left, eta_seconds } = status
  return {
    state,
    ...(reason === undefined ? {} : { reason }),
    ...{ head, complete },
    ...(contracts === undefined ? {} : { contracts }),
    ...(queue === undefined ? {} : { queue }),
    ...{ blocks_left, eta_seconds },
  }
}
