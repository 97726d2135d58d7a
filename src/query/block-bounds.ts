// Turns blocks and dates of a request into block numbers: for the rows, and for what must be covered. It reads known
// blocks alone.
import type { Block, ChainId } from '../model.ts'
import type { BlocksAround, ChainReader, ChainState } from '../store/store.ts'

/** Blocks win over times. Times are unix seconds. */
export type BoundsQuestion = {
  fromBlock: number | undefined
  toBlock: number | undefined
  fromTime: number | undefined
  toTime: number | undefined
}

export type BlockBounds = {
  /** The blocks of the rows; `from` exceeds `to` when there can be none. Undefined: no bound. */
  fromBlock: number | undefined
  toBlock: number | undefined
  /** What must be covered for a complete answer: never less than was asked, never above the head. */
  claim: { from: number; to: number } | undefined
  /** Whether the requested blocks exist. */
  exist: boolean
}

type Bound = { row: number | undefined; claim: number; exists: boolean }

export async function resolveBounds(
  reader: Pick<ChainReader, 'blocksAround'>,
  chain: ChainId,
  state: ChainState | undefined,
  asked: BoundsQuestion,
): Promise<BlockBounds> {
  const head = state?.head
  const around = async (timestamp: number): Promise<BlocksAround> =>
    withHead(await reader.blocksAround(chain, timestamp), head, timestamp)
  const lower = await lowerBound(asked, head, around)
  const upper = await upperBound(asked, head, around)
  return {
    fromBlock: lower.row,
    toBlock: upper.row,
    claim: head && { from: lower.claim, to: Math.min(upper.claim, head.number) },
    exist: head !== undefined && lower.exists && upper.exists,
  }
}

async function lowerBound(
  { fromBlock, fromTime }: BoundsQuestion,
  head: Block | undefined,
  around: (timestamp: number) => Promise<BlocksAround>,
): Promise<Bound> {
  if (fromBlock !== undefined) return { row: fromBlock, claim: fromBlock, exists: isReached(fromBlock, head) }
  if (fromTime === undefined) return { row: undefined, claim: 0, exists: true }
  // The first block at or after the moment may be any between the two known ones: claim from the lower one.
  const { before, after } = await around(fromTime)
  const claim = before === undefined ? 0 : before.number + 1
  if (after === undefined) return { row: Number.MAX_SAFE_INTEGER, claim, exists: false }
  return { row: after.number, claim, exists: true }
}

async function upperBound(
  { toBlock, toTime }: BoundsQuestion,
  head: Block | undefined,
  around: (timestamp: number) => Promise<BlocksAround>,
): Promise<Bound> {
  if (toBlock !== undefined) return { row: toBlock, claim: toBlock, exists: isReached(toBlock, head) }
  if (toTime === undefined) return { row: undefined, claim: Number.MAX_SAFE_INTEGER, exists: true }
  const { before, after } = await around(toTime + 1)
  const claim = after === undefined ? Number.MAX_SAFE_INTEGER : after.number - 1
  // Blocks may exist below the lowest known one, unless that is block 0.
  if (before === undefined) return { row: -1, claim, exists: after?.number !== 0 }
  return { row: before.number, claim, exists: true }
}

function isReached(block: number, head: Block | undefined): boolean {
  return head !== undefined && block <= head.number
}

/** The head counts as known even where only a node reported it. */
function withHead({ before, after }: BlocksAround, head: Block | undefined, timestamp: number): BlocksAround {
  if (head === undefined) return { before, after }
  if (head.timestamp < timestamp) return { before: before && before.number > head.number ? before : head, after }
  return { before, after: after && after.number < head.number ? after : head }
}
