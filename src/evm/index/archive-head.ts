// Stands where a followed head would: of a chain that has files or a portal and no node. Its head is the highest block
// that they have, and all below it is final. It anchors nothing: what it names is the word of its source.
import { AlmanacError } from '../../errors.ts'
import type { Block, ChainId } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import type { Header } from '../source/chain-source.ts'
import type { FollowedHead, FollowStep } from './follow.ts'

export type ArchiveOptions = { chain: ChainId; chainName: string; store: Store; bulk: BulkSources }

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
    this.#latest = stored.head
    this.#finalized = stored.finalized
    return { kind: 'idle' }
  }

  /** To the highest block whose header is given: a source that names more than it has holds up no other. */
  async #rise(signal: AbortSignal): Promise<void> {
    const { chain, store, bulk } = this.#options
    let header: Header | undefined
    for (const top of bulk.tops) if (top > (this.#latest?.number ?? -1)) header ??= await bulk.header(top, signal)
    if (header === undefined) return
    const { number, hash, timestamp } = header
    const head = { number, hash, timestamp }
    // Blocks that a node named when there was one, and that were not final: they are read again.
    const [lowest] = await store.hotBlocks(chain)
    if (lowest !== undefined && lowest.number <= number)
      await store.commitHot({ chain, ancestor: lowest.number - 1, blocks: [], head })
    await store.finalize(chain, number)
    await store.putHead(chain, head)
  }
}

function nothingThere(chain: string, bulk: BulkSources): AlmanacError {
  const reasons = bulk.status().map(({ name, to, reason }) => {
    const lack = to === undefined ? 'it has no blocks' : `it gives no header of block ${to} that hashes to its hash`
    return `${name}: ${reason ?? lack}`
  })
  const message = `${chain} has no node, and no source gives it a head: ${reasons.join('; ')}.`
  return new AlmanacError('upstream_failed', message, {
    retryable: true,
    hint: `put files with blocks where chains.${chain}.history says, check chains.${chain}.portal, or set chains.${chain}.rpc.`,
  })
}
