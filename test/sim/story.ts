// A story of a chain: blocks that come, forks that win, forks on top of forks. One seed, one story.
import type { SimChain } from './chain.ts'
import { draw, streams } from './random.ts'

export type Move =
  | { move: 'mine'; blocks: number }
  /** May leave the head lower than before: the next blocks make up for it. */
  | { move: 'reorg'; depth: number; length: number }
  /** The branch before the last fork wins after all. */
  | { move: 'revert' }

/** Endless. About one move in three is a reorganisation, and of those one in three comes right after another. */
export function* makeStory({ seed, depthMax }: { seed: number; depthMax: number }): Generator<Move, never> {
  for (let at = 0; ; at++) {
    const drawn = draw(seed, streams.branch, 0x5709, at)
    const depth = 1 + ((drawn >>> 8) % Math.max(1, depthMax))
    const share = drawn % 12
    if (share < 8) yield { move: 'mine', blocks: 1 + ((drawn >>> 8) % 5) }
    else if (share < 11) yield { move: 'reorg', depth, length: Math.max(1, depth - 1 + ((drawn >>> 16) % 4)) }
    else yield { move: 'revert' }
  }
}

/** A move that the chain cannot make, because it would pass the final block, becomes one more block. */
export function makeMove(chain: SimChain, move: Move): void {
  const { head, finalized } = chain
  const { parent, fork } = chain.branch
  if (move.move === 'reorg' && head > finalized) {
    chain.reorg({ depth: Math.min(move.depth, head - finalized), length: move.length })
  } else if (move.move === 'revert' && parent !== undefined && fork >= finalized) {
    chain.switchTo(parent, head + 1)
  } else chain.mine(move.move === 'mine' ? move.blocks : 1)
}
