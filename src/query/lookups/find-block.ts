// The number of a block that a request names by number or hash. No HTTP.
import type { ChainId, Hash } from '../../model.ts'
import type { ChainReader } from '../../store/store.ts'
import type { AskBlock } from '../freshen.ts'
import { isWithoutNode } from './date-to-block.ts'

/** Undefined where no block of the chain has the hash. Blocks that are final are not stored by it: a node knows. */
export async function blockNumberOf(
  reader: Pick<ChainReader, 'hotBlocks' | 'lowestBlock'>,
  chain: ChainId,
  block: number | Hash,
  askBlock: AskBlock | undefined,
): Promise<number | undefined> {
  if (typeof block === 'number') return block
  const hot = (await reader.hotBlocks(chain)).find(({ hash }) => hash === block)
  if (hot !== undefined) return hot.number
  const number = (await askBlock?.(chain, block).catch(undefinedWithoutNode))?.number
  if (number === undefined) return undefined
  const stored = await reader.lowestBlock(chain, { from: number, to: number })
  return stored === undefined || stored.hash === block ? number : undefined
}

function undefinedWithoutNode(error: unknown): undefined {
  if (!isWithoutNode(error)) throw error
}
