// The last block at or before a moment: from the blocks that are known, and from a node where they leave a gap.
import { AlmanacError } from '../errors.ts'
import type { Block, ChainId, Hash, NodeBlock } from '../model.ts'
import type { ChainReader } from '../store/store.ts'

/** Asks a node for a block by its number or its hash; undefined where it has none. */
export type AskBlock = (chain: ChainId, block: number | Hash) => Promise<NodeBlock | undefined>

export type DatedBlock = {
  block: Block
  /** Undefined where neither the store nor a node told it. */
  parentHash: Hash | undefined
  /** False where blocks that nobody was asked for lie between this one and the moment. */
  exact: boolean
}

type Reader = Pick<ChainReader, 'chainState' | 'blocksAround' | 'lowestBlock'>

/** Before the first block it is that one, after the head the head. `seconds` is unix time. */
export async function dateToBlock(
  reader: Reader,
  { chain, seconds }: { chain: ChainId; seconds: number },
  askBlock?: AskBlock,
): Promise<DatedBlock> {
  const head = (await reader.chainState(chain))?.head
  if (head === undefined) throw new AlmanacError('not_found', 'No block of this chain is known')
  if (head.timestamp <= seconds) return await withParent(reader, chain, head, true, askBlock)
  let { before, after = head } = await reader.blocksAround(chain, Math.floor(seconds) + 1)
  if (after.number > head.number) after = head
  const isFirst = before === undefined && after.number === 0
  if (isFirst) return { block: after, parentHash: undefined, exact: true }
  if (before === undefined) before = await askBlock?.(chain, 0)
  if (before === undefined) return await withParent(reader, chain, after, false, askBlock)
  if (before.timestamp > seconds) return { block: before, parentHash: undefined, exact: true }
  if (askBlock !== undefined) before = await search(chain, { before, after, seconds, askBlock })
  return await withParent(reader, chain, before, before.number + 1 >= after.number || askBlock !== undefined, askBlock)
}

type Gap = { before: Block; after: Block; seconds: number; askBlock: AskBlock }

/** Times grow with the numbers: half of what is left goes with each answer. */
async function search(chain: ChainId, { before, after, seconds, askBlock }: Gap): Promise<Block> {
  let [low, high] = [before, after.number]
  while (low.number + 1 < high) {
    const middle = Math.floor((low.number + high) / 2)
    const block = await askBlock(chain, middle)
    if (block === undefined) throw new AlmanacError('upstream_failed', `A node does not have block ${middle}`)
    if (block.timestamp <= seconds) low = block
    else high = middle
  }
  return low
}

async function withParent(
  reader: Reader,
  chain: ChainId,
  block: Block,
  exact: boolean,
  askBlock: AskBlock | undefined,
): Promise<DatedBlock> {
  const at = block.number - 1
  const stored = at < 0 ? undefined : await reader.lowestBlock(chain, { from: at, to: at })
  const parentHash = stored?.hash ?? (await askBlock?.(chain, block.hash))?.parentHash
  return { block, parentHash, exact }
}
