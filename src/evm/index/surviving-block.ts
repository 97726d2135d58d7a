// Which of the stored hot blocks the chain still has, after an absence in which it may have been reorganised. It only looks.
import type { Block } from '../../model.ts'
import type { ChainSource } from '../source/chain-source.ts'

/** The highest one; `hot` lowest first. Undefined where none is left. */
export async function survivingBlock(
  hot: readonly Block[],
  source: Pick<ChainSource, 'headerByNumber'>,
  signal: AbortSignal,
): Promise<Block | undefined> {
  for (const block of hot.toReversed()) {
    const now = await source.headerByNumber(block.number, signal)
    if (now?.hash === block.hash) return block
  }
  return undefined
}
