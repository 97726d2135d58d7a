// Drops what is no longer asked for: contracts are not followed at the head any more, and how far wallets were looked
// up is forgotten. Rows stay, and what is asked for again is completed. It runs now and then.
import type { Chain } from '../../chains.ts'
import type { Address } from '../../model.ts'
import type { Mutex } from '../../once.ts'
import type { Store } from '../../store/store.ts'
import type { WatchedSource } from '../source/watched-source.ts'
import type { ContractJobs } from './contract-jobs.ts'
import type { FollowedHead } from './follow.ts'

/** Days without a request; 0: for ever. */
export type RetentionDays = { contractDays: number; walletDays: number }

export type RetentionOptions = {
  chain: Chain
  store: Store
  follower: FollowedHead
  /** Absent where every contract is indexed. */
  contracts: WatchedContracts | undefined
  days: RetentionDays
  everyMs: number
}

export type WatchedContracts = {
  source: WatchedSource
  jobs: ContractJobs
  /** Held while following: a contract leaves between two steps. */
  mutex: Mutex
  listed: readonly Address[]
}

const dayMs = 86_400_000

export class Retention {
  readonly #options: RetentionOptions
  #sweptMs = performance.now()

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  async sweepIfDue(): Promise<void> {
    if (performance.now() - this.#sweptMs < this.#options.everyMs) return
    this.#sweptMs = performance.now()
    await this.#sweep(Date.now())
  }

  async #sweep(nowMs: number): Promise<void> {
    const { chain, store, contracts, days, follower } = this.#options
    if (days.contractDays > 0 && contracts !== undefined) {
      const before = Math.floor(nowMs / dayMs) - days.contractDays
      for (const { contract, askedOn } of await store.watchedContracts(chain.id))
        if (askedOn < before && !contracts.listed.includes(contract) && !contracts.jobs.isUnderWay(contract))
          await this.#letGo(contract, contracts)
    }
    // A look-up goes up to the final block of its time. Blocks do not depend on the machine's clock.
    const blocks = Math.floor((days.walletDays * dayMs) / chain.blockTimeMs)
    if (days.walletDays > 0 && follower.finalized > blocks)
      await store.forgetWallets(chain.id, follower.finalized - blocks)
  }

  /** What was claimed of all watched contracts becomes the contract's own, up to the final block. */
  async #letGo(contract: Address, { source, mutex }: WatchedContracts): Promise<void> {
    const { chain, store, follower } = this.#options
    await mutex.run(async () => {
      for (const { from, to, evidence } of await store.contractCoverage(chain.id, contract)) {
        const final = { from, to: Math.min(to, follower.finalized), evidence }
        if (final.from <= final.to) await store.addCoverage(chain.id, contract, final)
      }
      await store.watchContract(chain.id, contract, 'ended')
      source.watched.delete(contract)
    })
  }
}
