// Tells whether what was read over a long time is of one branch of a chain, and whether nothing of it was taken away.
// It is made before anything is read, and asked afterwards.
import { AlmanacError } from '../errors.ts'
import type { Block, ChainId } from '../model.ts'
import type { IndexName } from '../store/runs/view.ts'
import type { ChainState, Store } from '../store/store.ts'
import { type KeptIndexes, keptAndFilled } from './claims.ts'

export type BranchStore = Pick<Store, 'chainState' | 'hotBlocks' | 'lowestBlock' | 'indexes'>

export class OneBranch {
  readonly #store: BranchStore
  readonly #chain: ChainId
  readonly #takenBack: number
  readonly #hot: readonly Block[]
  readonly #finalized: number
  readonly #indexes: KeptIndexes
  /** The head as it was; -1 where the chain has none yet. */
  readonly head: number
  /**
   * The highest block that had its rows. A block above it that comes meanwhile may be replaced unseen, so nothing may
   * be read beyond.
   */
  readonly storedTo: number

  private constructor(store: BranchStore, chain: ChainId, now: Now) {
    this.#store = store
    this.#chain = chain
    this.#takenBack = now.takenBack
    this.#hot = now.hot
    this.#indexes = now.indexes
    this.#finalized = now.state?.finalized ?? -1
    this.head = now.state?.head.number ?? -1
    this.storedTo = now.hot.at(-1)?.number ?? this.#finalized
  }

  static async now(store: BranchStore, chain: ChainId): Promise<OneBranch> {
    const { takenBack, indexes } = await store.indexes.rowState(chain)
    // Before the hot blocks: one that becomes final in between is missing among those, and is still above this.
    const state = await store.chainState(chain)
    return new OneBranch(store, chain, {
      ...{ takenBack, state, indexes: keptAndFilled(indexes), hot: await store.hotBlocks(chain) },
    })
  }

  isFilled(index: IndexName): boolean {
    return this.#indexes.filled.has(index)
  }

  /**
   * Fails with `stream_cut` where rows up to `block` were replaced or taken away since, or the index was left that they
   * were found in.
   */
  async check(block: number, index?: IndexName): Promise<void> {
    // Every block depends on all below it, and its hash stays known when it becomes final.
    const top = block > this.#finalized ? this.#hot.findLast(({ number }) => number <= block) : undefined
    if (top !== undefined) {
      const now = await this.#store.lowestBlock(this.#chain, { from: top.number, to: top.number })
      if (now?.hash !== top.hash) throw streamCut('A reorganisation replaced blocks while the list was read')
    }
    // Last: what is final by now was not taken back before either, and an index that was left and filled again counts.
    const { takenBack, indexes } = await this.#store.indexes.rowState(this.#chain)
    if (index !== undefined) this.#checkIndex(index, keptAndFilled(indexes))
    if (takenBack !== this.#takenBack) throw streamCut('Rows were taken away while the list was read')
  }

  #checkIndex(index: IndexName, { kept, filled }: KeptIndexes): void {
    const before = this.#indexes
    if ((before.filled.has(index) && !filled.has(index)) || (before.kept.has(index) && !kept.has(index)))
      throw streamCut(`${index} was left while the list was read`)
  }
}

type Now = { takenBack: number; indexes: KeptIndexes; state: ChainState | undefined; hot: readonly Block[] }

export function streamCut(message: string): AlmanacError {
  return new AlmanacError('stream_cut', message, { retryable: true, retryAfterMs: 1_000 })
}
