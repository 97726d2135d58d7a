// Stands where a followed head would: of a chain that has files or a portal and no node. Its head is the highest block
// that one of them gave, and all below it is final. It anchors nothing: what it names is the word of its source.
import type { Log } from '../../log.ts'
import { type Block, type ChainId, chainScopes } from '../../model.ts'
import { markCutWallets } from '../../store/activity-gaps.ts'
import type { ChainState, Store } from '../../store/store.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import { nothingThere, unreadable } from './archive-failures.ts'
import type { FollowedHead, FollowStep } from './follow.ts'

export type ArchiveOptions = { chain: ChainId; chainName: string; store: Store; bulk: BulkSources; log: Log }

export class ArchiveHead implements FollowedHead {
  readonly #options: ArchiveOptions
  #latest: Block | undefined
  #finalized = -1
  readonly finalHeader = undefined
  readonly branches = 0
  readonly tip = undefined
  readonly hot = []

  constructor(options: ArchiveOptions) {
    this.#options = options
  }

  get latest(): Block | undefined {
    return this.#latest
  }

  get finalized(): number {
    return this.#finalized
  }

  get finalOnChain(): number {
    return this.#finalized
  }

  /** What is stored stays served, whatever becomes of its source. */
  async step(signal: AbortSignal): Promise<FollowStep> {
    const { chain, chainName, store, bulk } = this.#options
    await bulk.look(signal)
    await this.#rise(signal)
    const stored = await store.chainState(chain)
    if (stored === undefined) throw nothingThere(chainName, bulk)
    this.#take(stored)
    if (bulk.haveFailed) throw unreadable(chainName, bulk)
    return { kind: 'idle' }
  }

  #take({ head, finalized }: ChainState): void {
    this.#latest = head
    this.#finalized = finalized
  }

  /** To the highest block that is given: a source that names more than it has holds up no other. */
  async #rise(signal: AbortSignal): Promise<void> {
    const { chain, store, bulk } = this.#options
    const head = await bulk.topAbove(this.#latest?.number ?? -1, signal)
    if (head === undefined) return
    // Blocks that a node named when there was one, and that were not final: they are read again.
    const [lowest] = await store.hotBlocks(chain)
    if (lowest !== undefined && lowest.number <= head.number)
      await store.commitHot({ chain, ancestor: lowest.number - 1, blocks: [], head })
    await store.putChainState(chain, { head, finalized: head.number })
  }

  /**
   * Goes back where the file that named the head is refused or gone, to what is claimed or can be read. Not while
   * history is filled: what that claims meanwhile would be taken back unmarked.
   */
  async settle(signal: AbortSignal): Promise<void> {
    const { chain, chainName, store, bulk, log } = this.#options
    const stored = await store.chainState(chain)
    if (stored === undefined || bulk.areAway || bulk.hold(stored.head.number)) return
    const claimed = await this.#claimedTo(stored.head.number)
    if (claimed >= stored.head.number) return
    const head = (await bulk.topAbove(claimed, signal)) ?? (await this.#blockAt(claimed))
    if (head === undefined || head.number >= stored.head.number) return
    if (head.number < stored.finalized) {
      await markCutWallets(store, chain, { to: head.number, finalized: stored.finalized })
      await store.unfinalize(chain, head.number)
    }
    await store.putChainState(chain, { head })
    this.#take({ head, finalized: Math.min(stored.finalized, head.number) })
    const lowered = { chain: chainName, from: stored.head.number, to: head.number }
    log.warn(lowered, 'Head of the archive lowered: no source has its block any longer')
  }

  async #blockAt(number: number): Promise<Block | undefined> {
    const { chain, store } = this.#options
    return number < 0 ? undefined : await store.lowestBlock(chain, { from: number, to: number })
  }

  /** The highest block that is claimed of anything; most chains have it in the claims of whole blocks. */
  async #claimedTo(head: number): Promise<number> {
    const { chain, store } = this.#options
    const highest = (intervals: readonly { to: number }[]): number =>
      intervals.reduce((a, { to }) => Math.max(a, to), -1)
    const whole = highest(await store.coverage(chain, chainScopes))
    if (whole >= head) return whole
    return highest(await store.coverage(chain))
  }
}
