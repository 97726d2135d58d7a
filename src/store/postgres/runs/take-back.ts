// Takes cold rows back, from tables and runs, with their counts and the records that indexes have of them. Callers hold
// the transaction, and the chain's runs alone.
import type { Interval } from '../../../model.ts'
import type { Transaction } from '../database.ts'
import { RemovedTransfers } from '../indexes/remove-records.ts'
import { countChange } from '../indexes/row-changes.ts'
import { takePending } from '../pending-ranges.ts'
import { deleteCold } from '../transfer-rows.ts'
import type { Slots } from './slots.ts'
import { removeTransfers } from './transfer-runs.ts'

/** Whose rows, and where those in runs lie. */
export type Placed = { ordinal: number; slots: Slots }

/** Of an interval, of all contracts or of one. */
export async function takeBack(
  transaction: Transaction,
  { ordinal: chain, slots, contract }: Placed & { contract?: number },
  interval: Interval,
): Promise<void> {
  const gone = await RemovedTransfers.of(transaction, { chain, slots })
  if (contract === undefined) await gone.dropRunsWithin(interval)
  await gone.takeFromTable(contract, interval)
  const inRuns = await removeTransfers(transaction, slots, { chain, contract }, interval, gone)
  const inTable = await deleteCold(transaction, contract === undefined ? { ordinal: chain } : { contract }, interval)
  await gone.flush({ isLast: true })
  if (inRuns + inTable > 0) await countChange(transaction, chain, 'takenBack')
}

/** Deletes the pending ranges that reach into one of the intervals, with their rows. */
export async function dropPending(
  transaction: Transaction,
  placed: Placed,
  intervals: readonly Interval[],
): Promise<void> {
  for (const range of await takePending(transaction, placed.ordinal, intervals))
    await takeBack(transaction, placed, range)
}
