// The last block at or before a moment: from the blocks that are known, and from a node where they leave a gap.
import { isCovered, wholeCoverage } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import { ledgerOf } from '../../ledgers.ts'
import { type Block, type ChainId, chainScopes, type Hash } from '../../model.ts'
import type { ChainReader } from '../../store/store.ts'
import type { AskBlock, IndexingKey } from '../freshen.ts'

/** Asks for a request with this key, which the calls are counted for. Ledgers have the blocks of their chain. */
export function blockAsker(ask: AskBlock | undefined, key: IndexingKey): AskBlock | undefined {
  return ask && ((chain, block) => ask(ledgerOf(chain).chain, block, key))
}

export type DatedBlock = {
  block: Block
  /** Undefined where neither the store nor a node told it. */
  parentHash: Hash | undefined
  /** False where blocks that were not read lie between this one and the moment. */
  exact: boolean
}

type Reader = Pick<ChainReader, 'chainState' | 'blocksAround' | 'lowestBlock'>

type Moment = { chain: ChainId; seconds: number }

/** Before the first block it is that one, after the head the head. `seconds` is unix time. */
export async function dateToBlock(reader: Reader, moment: Moment, askBlock?: AskBlock): Promise<DatedBlock> {
  try {
    return await findBlock(reader, moment, askBlock)
  } catch (error) {
    // Without a node the blocks that are known answer.
    if (askBlock !== undefined && isWithoutNode(error)) return await findBlock(reader, moment)
    throw error
  }
}

/** Whether a question failed because no process has nodes of the chain. */
export function isWithoutNode(error: unknown): boolean {
  return error instanceof AlmanacError && error.code === 'not_configured'
}

async function findBlock(reader: Reader, { chain, seconds }: Moment, askBlock?: AskBlock): Promise<DatedBlock> {
  const { block, exact } = await lastBlock(reader, { chain, seconds }, askBlock)
  const at = block.number - 1
  if (at < 0 && block.timestamp > seconds) return { block, parentHash: undefined, exact }
  const stored = at < 0 ? undefined : await reader.lowestBlock(chain, { from: at, to: at })
  const parentHash = stored?.hash ?? (await askBlock?.(chain, block.hash))?.parentHash
  return { block, parentHash, exact }
}

type Surroundings = { head: Block; before: Block | undefined; after: Block }

/** The known blocks around a moment: `before` is the last one at or before it. */
async function knownAround(reader: Reader, { chain, seconds }: Moment): Promise<Surroundings> {
  const head = (await reader.chainState(chain))?.head
  if (head === undefined) throw noBlockKnown()
  if (head.timestamp <= seconds) return { head, before: head, after: head }
  const { before, after = head } = await reader.blocksAround(chain, Math.floor(seconds) + 1)
  return { head, before, after: after.number > head.number ? head : after }
}

async function lastBlock(
  reader: Reader,
  moment: Moment,
  askBlock: AskBlock | undefined,
): Promise<Omit<DatedBlock, 'parentHash'>> {
  const { chain, seconds } = moment
  const { head, after, ...known } = await knownAround(reader, moment)
  if (known.before === head) return { block: head, exact: true }
  if (known.before === undefined && after.number === 0) return { block: after, exact: true }
  const before = known.before ?? (await askBlock?.(chain, 0))
  if (before === undefined) return { block: after, exact: false }
  if (before.timestamp > seconds) return { block: before, exact: true }
  if (askBlock === undefined) return { block: before, exact: before.number + 1 >= after.number }
  return { block: await search(chain, { before, after, seconds, askBlock }), exact: true }
}

/**
 * The last block at or before a moment, as far as rows go: blocks that are indexed and not known have none. Undefined
 * at the head, -1 before the first block.
 */
export async function stateBlockAt(
  store: Reader & Pick<ChainReader, 'coverage'>,
  moment: Moment,
  askBlock: AskBlock | undefined,
): Promise<number | undefined> {
  const { head, before, after } = await knownAround(store, moment)
  if (before === head) return undefined
  const last = before?.number ?? -1
  const gap = { from: last + 1, to: after.number - 1 }
  const covered = async () => wholeCoverage(await store.coverage(moment.chain, chainScopes), 'transfers')
  if (gap.from > gap.to || isCovered(await covered(), gap)) return last
  if (askBlock === undefined)
    throw new AlmanacError('not_configured', 'No node tells which block was the last one at this moment.')
  const { block } = await lastBlock(store, moment, askBlock)
  return block.timestamp > moment.seconds ? block.number - 1 : block.number
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

/** Nothing of the chain is indexed, and no node was asked. */
export function noBlockKnown(): AlmanacError {
  return new AlmanacError('not_found', 'No block of this chain is known')
}
