// Tells whether what was read still stands: it is of one branch of a chain, nothing of it was taken away, and the index
// that it was found in is kept. It is made before anything is read, and asked afterwards. Every list asks here.
import { AlmanacError } from '../errors.ts'
import type { Block, ChainId } from '../model.ts'
import { type KeptIndexes, keptAndFilled } from '../store/index-reader.ts'
import type { IndexName } from '../store/runs/view.ts'
import type { ChainState, Store } from '../store/store.ts'

export type StandingStore = Pick<Store, 'chainState' | 'lowestBlock' | 'indexes'>
export type BranchStore = StandingStore & Pick<Store, 'hotBlocks'>

/** The rows of a chain: those of final blocks, and what they are found in. */
export type ChainRows = KeptIndexes & { takenBack: number }

type Now = { rows: ChainRows; state: ChainState | undefined; hot: readonly Block[] | undefined }

export async function chainRows({ indexes }: Pick<Store, 'indexes'>, chain: ChainId): Promise<ChainRows> {
  const { takenBack, indexes: states } = await indexes.rowState(chain)
  return { takenBack, ...keptAndFilled(states) }
}

export class OneBranch {
  readonly #store: StandingStore
  readonly #chain: ChainId
  readonly #rows: ChainRows
  readonly #state: ChainState | undefined
  /** Undefined where the head stands for those below it. */
  readonly #hot: readonly Block[] | undefined

  private constructor(store: StandingStore, chain: ChainId, { rows, state, hot }: Now) {
    this.#store = store
    this.#chain = chain
    this.#rows = rows
    this.#state = state
    this.#hot = hot
  }

  /** For what takes long: a head that is replaced takes nothing from blocks below it. */
  static async now(store: BranchStore, chain: ChainId): Promise<OneBranch> {
    const rows = await chainRows(store, chain)
    // Before the hot blocks: one that becomes final in between is missing among those, and is still above this.
    const state = await store.chainState(chain)
    return new OneBranch(store, chain, { rows, state, hot: await store.hotBlocks(chain) })
  }

  /** For what is read at once, of what was read of the chain before. */
  static below(store: StandingStore, chain: ChainId, { rows, state }: Omit<Now, 'hot'>): OneBranch {
    return new OneBranch(store, chain, { rows, state, hot: undefined })
  }

  /** The head as it was; -1 where the chain has none yet. */
  get head(): number {
    return this.#state?.head.number ?? -1
  }

  /**
   * The highest block that had its rows. A block above it that comes meanwhile may be replaced unseen, so nothing may
   * be read beyond.
   */
  get storedTo(): number {
    return this.#hot?.at(-1)?.number ?? this.#finalized
  }

  get #finalized(): number {
    return this.#state?.finalized ?? -1
  }

  isFilled(index: IndexName): boolean {
    return this.#rows.filled.has(index)
  }

  /** Fails with `stream_cut` where rows up to `block` do not stand. */
  async check(block: number, index?: IndexName): Promise<void> {
    const change = await this.#change(block, index, () => chainRows(this.#store, this.#chain))
    if (change !== undefined) throw streamCut(`${change} while the list was read`)
  }

  /** `rowsNow`: where they are known already, as they were after rows were read. */
  async stands(
    block: number,
    index?: IndexName,
    rowsNow = () => chainRows(this.#store, this.#chain),
  ): Promise<boolean> {
    return (await this.#change(block, index, rowsNow)) === undefined
  }

  /** In words; undefined where rows up to `block` stand. */
  async #change(
    block: number,
    index: IndexName | undefined,
    rowsNow: () => Promise<ChainRows>,
  ): Promise<string | undefined> {
    if (!(await this.#isSameBranch(block))) return 'A reorganisation replaced blocks'
    // Last: what is final by now was not taken back before either, and an index that was left and filled again counts.
    const rows = await rowsNow()
    if (index !== undefined && isLeft(index, this.#rows, rows)) return `${index} was left`
    return rows.takenBack === this.#rows.takenBack ? undefined : 'Rows were taken away'
  }

  /** Every block depends on all below it, and the hash of one that is stored stays known when it becomes final. */
  async #isSameBranch(block: number): Promise<boolean> {
    if (block <= this.#finalized) return true
    const top = this.#hot === undefined ? this.#state?.head : this.#hot.findLast(({ number }) => number <= block)
    if (top === undefined) return true
    const { number, hash } = top
    const now = await this.#store.lowestBlock(this.#chain, { from: number, to: number })
    if (now !== undefined || this.#hot !== undefined) return now?.hash === hash
    // The head need not be stored: a final block is not where it has no rows.
    return number <= ((await this.#store.chainState(this.#chain))?.finalized ?? -1)
  }
}

function isLeft(index: IndexName, before: KeptIndexes, now: KeptIndexes): boolean {
  return (before.filled.has(index) && !now.filled.has(index)) || (before.kept.has(index) && !now.kept.has(index))
}

export function streamCut(message: string): AlmanacError {
  return new AlmanacError('stream_cut', message, { retryable: true, retryAfterMs: 1_000 })
}
