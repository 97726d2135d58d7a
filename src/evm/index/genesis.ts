// Remembers the hash of block 0 that the stored blocks of a chain grew from, and notices another chain by it.
import { AlmanacError } from '../../errors.ts'
import type { ChainId, Hash } from '../../model.ts'
import { genesisCheckpoint } from '../../store/checkpoint-names.ts'
import type { Store } from '../../store/store.ts'
import type { ChainSource } from '../source/chain-source.ts'

export type GenesisOptions = { chain: ChainId; chainName: string; source: ChainSource; store: Store }

export class Genesis {
  readonly #options: GenesisOptions
  /** Undefined if the nodes did not have it. */
  #hash: Hash | undefined

  constructor(options: GenesisOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    this.#hash = (await this.#options.store.checkpoint(this.#name)) as Hash | undefined
  }

  /** To be called while nothing is stored: later nothing could confirm it. */
  async keep(signal: AbortSignal): Promise<void> {
    const { source, store } = this.#options
    if (this.#hash !== undefined) return
    const genesis = await source.headerByNumber(0, signal).catch(() => undefined)
    if (genesis === undefined) return
    await store.putCheckpoint(this.#name, genesis.hash)
    this.#hash = genesis.hash
  }

  /**
   * A head below the final block is a node that lags, or another chain with the same id, which block 0 shows. A
   * development node makes a new block 0 at every start.
   */
  async check(signal: AbortSignal): Promise<void> {
    const { source, chainName } = this.#options
    if (this.#hash === undefined) return
    const genesis = await source.headerByNumber(0, signal).catch(() => undefined)
    if (genesis === undefined || genesis.hash === this.#hash) return
    throw new AlmanacError(
      'upstream_invalid',
      `${chainName} block 0 is ${genesis.hash}, but the stored blocks grew from ${this.#hash}: this is another chain, or a development node that was restarted.`,
      {
        retryable: true,
        hint: `set store to a new file for the new chain, or set chains.${chainName}.rpc to nodes of the old one.`,
      },
    )
  }

  get #name(): string {
    return genesisCheckpoint(this.#options.chain)
  }
}
