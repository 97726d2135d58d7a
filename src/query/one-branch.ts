// Tells whether what was read over a long time is of one branch of a chain, and whether nothing of it was taken away.
// It is made before anything is read, and asked afterwards.
import { AlmanacError } from '../errors.ts'
import type { Block, ChainId, Interval } from '../model.ts'
import type { IndexName } from '../store/runs/view.ts'
import type { ChainState, Store } from '../store/store.ts'
import { type KeptIndexes, keptAndFilled } from './kept-index.ts'

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

/**
 * Whether what was claimed before rows were read holds for them too: a head that went back meanwhile leaves blocks that
 * have none any more.
 */
export async function claimStands(
  store: Pick<Store, 'chainState' | 'lowestBlock'>,
  chain: ChainId,
  state: ChainState | undefined,
  claim: Interval | undefined,
): Promise<boolean> {
  if (state === undefined || claim === undefined || claim.to <= state.finalized) return true
  const { number, hash } = state.head
  const now = await store.lowestBlock(chain, { from: number, to: number })
  if (now !== undefined) return now.hash === hash
  // A final block is not kept where it has no rows.
  return number <= ((await store.chainState(chain))?.finalized ?? -1)
}

const readsMax = 4

/** A claim and the rows that were read after it, both anew until one stands; then, or where there is none, it ends. */
export async function readStanding<Look extends { complete: boolean }, Rows>(
  first: Look,
  { read, stands, lookAgain }: StandingRead<Look, Rows>,
): Promise<{ look: Look; rows: Rows; isComplete: boolean }> {
  let look = first
  for (let reads = 1; ; reads++) {
    const rows = await read(look)
    if (!look.complete || (await stands(look))) return { look, rows, isComplete: look.complete }
    if (reads === readsMax) return { look, rows, isComplete: false }
    look = await lookAgain()
  }
}

export type StandingRead<Look, Rows> = {
  read: (look: Look) => Promise<Rows>
  /** Asked after the rows were read. */
  stands: (look: Look) => Promise<boolean>
  lookAgain: () => Promise<Look>
}

type Now = { takenBack: number; indexes: KeptIndexes; state: ChainState | undefined; hot: readonly Block[] }

export function streamCut(message: string): AlmanacError {
  return new AlmanacError('stream_cut', message, { retryable: true, retryAfterMs: 1_000 })
}
