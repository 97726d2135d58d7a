// The ledgers of one chain in the process that indexes it: that of NFTs, and that of ERC-20 tokens, which is indexed in
// full where the chain keeps `erc20`, and else made when a token is first asked for. It indexes nothing itself.
import { type Ledger, ledgerId } from '../../ledgers.ts'
import type { TokenLedgerStatus } from '../../status.ts'
import type { Store } from '../../store/store.ts'
import { keepsTokens, tokenSettings } from '../../views.ts'
import type { ChainIndexer, ChainSetup } from './chain-indexer.ts'

export type ChainLedgersOptions = {
  /** Of the ledger of NFTs. What changes in it counts for a ledger that is made later. */
  setup: ChainSetup
  store: Pick<Store, 'chainState'>
  /** On demand contracts are read from nodes alone. */
  hasNode: boolean
  makeIndexer: (setup: ChainSetup) => ChainIndexer
}

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

  /** The ledgers in which a contract is indexed when it is asked for. */
  get onDemand(): Ledger[] {
    const { setup, hasNode } = this.#options
    if (!hasNode) return []
    return [
      ...(setup.index === 'on-demand' ? ['nft' as const] : []),
      ...(keepsTokens(setup.views) ? [] : ['erc20' as const]),
    ]
  }

  /** The one of NFTs. */
  get nft(): ChainIndexer {
    return this.#nft
  }

  /** Begins the ledger of tokens where it is asked for; undefined where there is no node to read it from. */
  of(ledger: Ledger): ChainIndexer | undefined {
    if (ledger === 'nft') return this.#nft
    const { setup, hasNode } = this.#options
    if (this.#isStopped || !(hasNode || keepsTokens(setup.views))) return undefined
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
    const tokens = this.#tokens
    const erc20 = tokens && tokenLedgerStatus(await tokens.status(), tokens.heldTokens)
    return { ...(await this.#nft.status()), ...(erc20 === undefined ? {} : { erc20 }) }
  }

  /** What was asked for before the process started is followed on. */
  async #resume(): Promise<void> {
    const { setup, store, hasNode } = this.#options
    if (!hasNode && !keepsTokens(setup.views)) return
    // What cannot be read now is begun by the next request.
    const state = () => store.chainState(ledgerId(setup.chain.id, 'erc20')).catch(() => undefined)
    if (keepsTokens(setup.views) || (await state()) !== undefined) this.of('erc20')
  }

  #begin(): ChainIndexer {
    const { setup, makeIndexer } = this.#options
    const chain = { ...setup.chain, id: ledgerId(setup.chain.id, 'erc20') }
    const tokens = makeIndexer({ ...setup, chain, ...tokenSettings(setup.views), contracts: [] })
    tokens.start()
    return tokens
  }
}

type IndexerStatus = Awaited<ReturnType<ChainIndexer['status']>>

function tokenLedgerStatus(status: IndexerStatus, held: ChainIndexer['heldTokens']): TokenLedgerStatus {
  const { state, reason, index, head, complete, contracts, queue, blocks_left, eta_seconds } = status
  return {
    ...{ state, index },
    ...(reason === undefined ? {} : { reason }),
    ...{ head, complete },
    ...(contracts === undefined ? {} : { contracts }),
    ...(queue === undefined ? {} : { queue }),
    ...{ blocks_left, eta_seconds },
    ...(held.length === 0 ? {} : { too_large: held }),
  }
}
