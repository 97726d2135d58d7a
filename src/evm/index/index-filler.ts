// Sees to it that a chain keeps the indexes of transfers that its settings name, and fills them from stored rows, some
// at a time, beside its other work.
import type { ChainId } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import { isIndexed, type View } from '../../views.ts'

/** A transaction of a fraction of a second. */
const transfersPerStep = 5_000
/** Other writes come between two steps. */
const restMs = 20

export type IndexFillerOptions = { chain: ChainId; store: Store; views: readonly View[] | undefined; idleMs: number }

export class IndexFiller {
  readonly #options: IndexFillerOptions
  #isNamed = false

  constructor(options: IndexFillerOptions) {
    this.#options = options
  }

  /** Returns how long to rest. */
  async round(): Promise<number> {
    const { chain, store, views, idleMs } = this.#options
    // Without names the chain keeps what it has.
    if (views !== undefined && !this.#isNamed) await store.keepIndexes(chain, views.filter(isIndexed))
    this.#isNamed = true
    return (await store.fillIndexes(chain, transfersPerStep)) ? restMs : idleMs
  }
}
