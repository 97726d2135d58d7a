// Folds final recent blocks into runs of every view. Callers hold the transaction.
//
// On a cluster it comes in parts: the runs are written first, and readers leave out what they have above the fold; what
// a fold that was cut off left is deleted by the next one.
import { activityCount, joinActivity, type PackedActivity } from '../packed-activity.ts'
import { activityView, writeActivity } from '../runs/activity-view.ts'
import { putBlocks } from './blocks.ts'
import { type ChainRow, changeChain, lockChain } from './chain-row.ts'
import { liveIndexes } from './kept-indexes.ts'
import { recordsPerTransfer } from './merge-runs.ts'
import { recentBlock } from './recent-block.ts'
import { addRun, type OfChain, type RunPlace } from './runs.ts'
import { slotOfKey } from './slots.ts'
import { addTransfers, type BlockTransfer } from './transfer-runs.ts'
import { endPart, lock, row, rows, run, type Work } from './work.ts'

const findParts = `SELECT number, part, hash, timestamp, transfers, activity, bytes FROM recent_blocks
  WHERE chain = $1 AND number <= $2 ORDER BY number, part`

/** `state`: the chain's row as it is then, still locked. `records`: about how many it wrote. */
export type Fold = { state: ChainRow; records: number }

/** Up to a block that is final. */
export function* foldUpTo(place: RunPlace, before: ChainRow, upTo: number): Work<Fold> {
  if (upTo <= before.fold) return { state: before, records: 0 }
  const { chain } = before
  let records = 0
  const parts = yield* rows(findParts, chain, upTo)
  if (parts.length > 0) {
    yield* lock('runs', chain)
    yield* dropUnfinished(chain, before.fold)
    records = yield* writeRuns(place, { chain, from: before.fold + 1, to: upTo }, parts)
  }
  const now = (yield* endPart()) ? yield* lockChain(chain) : before
  yield* run('DELETE FROM recent_blocks WHERE chain = $1 AND number <= $2', chain, upTo)
  const state = yield* changeChain(now, {
    ...{ fold: upTo, parts: now.parts - parts.length, bytes: now.bytes - sumOf(parts), finalBytes: 0 },
    tip: now.tip <= upTo ? -1 : now.tip,
  })
  return { state, records }
}

function sumOf(parts: readonly unknown[][]): number {
  return parts.reduce((sum, part) => sum + (part[6] as number), 0)
}

/** Of a fold that was cut off between its parts. */
function* dropUnfinished(chain: number, fold: number): Work<void> {
  if ((yield* row('SELECT 1 FROM runs WHERE chain = $1 AND from_block > $2 LIMIT 1', chain, fold)) === undefined) return
  yield* run('DELETE FROM runs WHERE chain = $1 AND from_block > $2', chain, fold)
}

function* writeRuns(place: RunPlace, of: OfChain, parts: readonly unknown[][]): Work<number> {
  const byNumber = Map.groupBy(parts, ([number]) => number)
  const blocks = Array.from(byNumber.values(), its => recentBlock(its))
  const transfers = blocks.flatMap((block): BlockTransfer[] => {
    const { hash, timestamp } = block
    return block.transfers().map(transfer => ({ ...transfer, hash, timestamp }))
  })
  yield* putBlocks(place, of.chain, blocks)
  yield* addTransfers(place, of, yield* liveIndexes(of.chain), transfers)
  const activity = joinActivity(parts.map(part => part[5] as PackedActivity))
  yield* addActivity(place, of, activity)
  return recordsPerTransfer * transfers.length + activityCount(activity)
}

export function* addActivity(place: RunPlace, of: OfChain, activity: PackedActivity): Work<void> {
  if (activity.length === 0) return
  yield* addRun(place, activityView, of, writerOf =>
    writeActivity(activity, address => writerOf(slotOfKey(place.slots, activityView, of.chain, address))),
  )
}
