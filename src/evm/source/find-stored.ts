// Finds a stored block by its hash, which no index has: it reads every known block, newest first, and lets others in
// between.
import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../../chains.ts'
import type { Hash, Interval } from '../../model.ts'
import type { ChainReader } from '../../store/store.ts'

/** Some milliseconds of reading. */
const blocksAtOnce = 100_000

export async function findStored(
  { store, chain, hash }: { store: Pick<ChainReader, 'lowestBlock'>; chain: Chain; hash: Hash },
  { from, to }: Interval,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let end = to; end >= from; end -= blocksAtOnce) {
    const block = await store.lowestBlock(chain.id, { hash, from: Math.max(from, end - blocksAtOnce + 1), to: end })
    if (block !== undefined) return block.number
    await setImmediate()
    signal.throwIfAborted()
  }
  return undefined
}
