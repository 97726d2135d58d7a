// Folds final recent blocks into runs of every view. Callers hold the transaction.
//
// On a cluster it comes in parts: the runs are written first, and readers leave out what they have above the fold; what
// a fold that was cut off left is deleted by the next one.
import { joinActivity, type PackedActivity } from '../packed-activity.ts'
import { activityView, writeActivity } from '../runs/activity-view.ts'
import { putBlocks } from './blocks.ts'
import { type ChainRow, changeChain, lockChain } from './chain-row.ts'
import { liveIndexes } from './kept-indexes.ts'
import { recentBlock } from './recent-block.ts'
import { addRun, type OfChain, type RunPlace } from './runs.ts'
import { slotOfKey } from './slots.ts'
import { addTransfers, type BlockTransfer } from './transfer-runs.ts'
import { endPart, lock, row, rows, run, type Work } from './work.ts'

const findParts = `SELECT number, part, hash, timestamp, transfers, activity, bytes FROM recent_blocks
  WHERE chain = $1 AND number <= $2 ORDER BY number, part`

/** Up to a block that is final. Answers the chain's row as it is then, still locked. */
export function* foldUpTo(place: RunPlace, before: ChainRow, upTo: number): Work<ChainRow> {
  if (upTo <= before.fold) return before
  const { chain } = before
  const parts = yield* rows(findParts, chain, upTo)
  if (parts.length > 0) {
    yield* lock('runs', chain)
    yield* dropUnfinished(chain, before.fold)
    yield* writeRuns(place, { chain, from: before.fold + 1, to: upTo }, parts)
  }
  const now = (yield* endPart()) ? yield* lockChain(chain) : before
  yield* run('DELETE FROM recent_blocks WHERE chain = $1 AND number <= $2', chain, upTo)
  return yield* changeChain(now, {
    ...{ fold: upTo, parts: now.parts - parts.length, bytes: now.bytes - sumOf(parts), finalBytes: 0 },
    tip: now.tip <= upTo ? -1 : now.tip,
  })
}

function sumOf(parts: readonly unknown[][]): number {
  return parts.reduce((sum, part) => sum + (part[6] as number), 0)
}

/** Of a fold that was cut off between its parts. */
function* dropUnfinished(chain: number, fold: number): Work<void> {
  if ((yield* row('SELECT 1 FROM runs WHERE chain = $1 AND from_block > $2 LIMIT 1', chain, fold)) === undefined) return
  yield* run('DELETE FROM runs WHERE chain = $1 AND from_block > $2', chain, fold)
}

function* writeRuns(place: RunPlace, of: OfChain, parts: readonly unknown[][]): Work<void> {
  const byNumber = Map.groupBy(parts, ([number]) => number)
  const blocks = Array.from(byNumber.values(), its => recentBlock(its))
  const transfers = blocks.flatMap((block): BlockTransfer[] => {
    const { hash, timestamp } = block
    return block.transfers().map(transfer => ({ ...transfer, hash, timestamp }))
  })
  yield* putBlocks(place, of.chain, blocks)
  yield* addTransfers(place, of, yield* liveIndexes(of.chain), transfers)
  yield* addActivity(place, of, joinActivity(parts.map(part => part[5] as PackedActivity)))
}

export function* addActivity(place: RunPlace, of: OfChain, activity: PackedActivity): Work<void> {
  if (activity.length === 0) return
  yield* addRun(place, activityView, of, writerOf =>
    writeActivity(activity, address => writerOf(slotOfKey(place.slots, activityView, of.chain, address))),
  )
}
