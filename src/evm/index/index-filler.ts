// Sees to it that a chain keeps the indexes of transfers that its settings name, and fills them from stored rows, some
// at a time, beside its other work.

import type { Chain } from '../../chains.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Log } from '../../log.ts'
import { chainScopes } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import { isIndexed, type KeptView, keptViews } from '../../views.ts'

/** A transaction of a fraction of a second. */
const transfersPerStep = 5_000
/** Other writes come between two steps. */
const restMs = 20

export type IndexFillerOptions = {
  chain: Pick<Chain, 'id' | 'name'>
  store: Store
  log: Log
  views: readonly KeptView[] | undefined
  idleMs: number
}

export class IndexFiller {
  readonly #options: IndexFillerOptions
  #isNamed = false

  constructor(options: IndexFillerOptions) {
    this.#options = options
  }

  /** Returns how long to rest. */
  async round(): Promise<number> {
    const { chain, store, views, idleMs } = this.#options
    // The views of tokens are not named by settings.
    const areOfSettings = ledgerOf(chain.id).ledger === 'nft'
    if (views !== undefined && areOfSettings && !this.#isNamed) await this.#warnOfLeftOut(views)
    this.#isNamed = true
    // Without names the chain keeps what it has.
    return (await store.keepIndexes(chain.id, views?.filter(isIndexed), transfersPerStep)) ? restMs : idleMs
  }

  /** Names that were right for an earlier version leave out what a later one keeps. */
  async #warnOfLeftOut(views: readonly KeptView[]): Promise<void> {
    const { chain, store, log } = this.#options
    const indexes = (await store.indexes.rowState(chain.id)).indexes.map(({ index }) => index)
    const isActivityKept = (await store.coverage(chain.id, chainScopes)).some(({ scope }) => scope === 'full')
    const stored = keptViews(isActivityKept ? ['activity', ...indexes] : indexes)
    const leftOut = stored.filter(view => !views.includes(view))
    if (leftOut.length === 0) return
    const toKeep = `chains.${chain.name}.views: [${keptViews([...views, ...stored]).join(', ')}]`
    log.warn(
      { chain: chain.name, left_out: leftOut, to_keep: toKeep },
      'Chain views left out: operations that need by_wallet, by_token or by_block answer 503 without it, and without activity a wallet is looked up when it is requested',
    )
  }
}
