// What indexers offer to a question that the store cannot answer fully yet. Types only: the indexers implement them.
import type { Address, ChainId, SolanaNetwork } from '../model.ts'
import type { KeyRecord } from '../store/key-store.ts'

/**
 * Each member is absent where nothing indexes such things. The EVM ones return when the data is there or `waitMs` has
 * passed, whichever is first, and never throw for an upstream failure: the answer then says that it is not complete.
 */
export type Freshen = {
  /** `key` is the one on whose behalf the work is done: how much it may cause is a limit of its own. */
  contract?(chain: ChainId, contract: Address, waitMs: number, key: IndexingKey): Promise<void>
  wallet?(chains: readonly ChainId[], wallet: Address, waitMs: number, key: IndexingKey): Promise<void>
  /**
   * Makes the store's reading of an owner fresh enough to be answered, or throws what the upstream failed with. Returns
   * what the answer stands for where that is newer than the stored row says, as while a subscription is live.
   */
  portfolio?(network: SolanaNetwork, owner: Uint8Array): Promise<PortfolioFreshness | undefined>
}

export type IndexingKey = Pick<KeyRecord, 'id' | 'indexPerDay'>

/** The slot and the unix time of the chain's clock up to which a portfolio is known, and when that was known. */
export type PortfolioFreshness = { slot: number; chainTime: number; readAtMs: number }
