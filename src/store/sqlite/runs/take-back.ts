// Takes rows of whole blocks back. A run that reaches into them may have millions of packs to look through, and a
// thread that is silent for seconds is ended (worker-thread.ts): so it goes in steps, each a transaction of its own,
// and the change that needs it is made in the transaction in which the last step ends. Most stores need one.
//
// What is half gone is claimed by nobody: each step takes the claims on it away, and the last one puts them back before
// the change is made, which sees to them as if there had been one step. Who dies between leaves rows without a claim,
// and their blocks, by which the next commit or drop finds them.
import { setImmediate } from 'node:timers/promises'
import { isCovered, joinIntervals } from '../../../coverage.ts'
import type { ChainId, Interval } from '../../../model.ts'
import { dropSomeAbove } from '../activity.ts'
import { addCoverageRows, type Claim, takeCoverage } from '../coverage-table.ts'
import { pendingWithin } from '../pending-ranges.ts'
import type { StoreFile, WriteContext } from '../store-file.ts'
import { deleteSomeFromRuns } from '../transfer-rows.ts'
import { firstPlace, type RunPlace } from './runs.ts'

export type TakenBack = {
  chain: ChainId
  /** Whose rows go; pending ranges that reach into them go as a whole. */
  intervals: (context: WriteContext, ordinal: number) => readonly Interval[]
  /** Refuses the change before anything is gone. */
  check?: (context: WriteContext, ordinal: number) => void
  /** Of wallets with a transaction above this block the first one alone stays. */
  activityAbove?: number
}

/** Where it stands; undefined: at the end. */
type Walk = {
  intervals: readonly Interval[]
  claims: readonly Claim[]
  activity: RunPlace | undefined
  transfers: RunPlace | undefined
}

/** `change` gets to know which blocks runs have no transfers of any more. */
export async function takingBack<T>(
  file: StoreFile,
  taken: TakenBack,
  change: (context: WriteContext) => T,
): Promise<T> {
  let walk: Walk | undefined
  while (true) {
    const step = await file.writing(context => takeStep(context, file.runs.packsPerStep, taken, walk, change))
    if ('changed' in step) return step.changed
    walk = step.walk
    await setImmediate()
  }
}

function takeStep<T>(
  context: WriteContext,
  packs: number,
  { chain, intervals: intervalsOf, check, activityAbove }: TakenBack,
  before: Walk | undefined,
  change: (context: WriteContext) => T,
): { changed: T } | { walk: Walk } {
  const { connection, dictionary } = context
  const ordinal = dictionary.ordinalOf(chain)
  const given = ordinal === undefined ? [] : (before?.intervals ?? intervalsOf(context, ordinal))
  if (ordinal === undefined || given.length === 0) return { changed: change(context) }
  const intervals = joinIntervals([...given, ...given.flatMap(each => pendingWithin(connection, ordinal, each))])
  const isWider = !intervals.every(interval => isCovered(given, interval))
  let { activity, transfers }: Pick<Walk, 'activity' | 'transfers'> = before ?? {
    activity: activityAbove === undefined ? undefined : firstPlace,
    transfers: firstPlace,
  }
  const budget = { packs }
  while (activity !== undefined && budget.packs > 0)
    activity = dropSomeAbove(connection, ordinal, activityAbove!, { place: activity, budget })
  // Last: nobody comes between its end and the change.
  if (activity === undefined) {
    const place = isWider ? firstPlace : transfers!
    transfers = deleteSomeFromRuns(context, { ordinal, intervals }, { place, budget })
    if (transfers === undefined) {
      for (const { scope, ...claim } of before?.claims ?? []) addCoverageRows(connection, ordinal, scope, claim)
      return { changed: change({ ...context, cleared: intervals }) }
    }
  }
  if (before === undefined) check?.(context, ordinal)
  const claims = intervals.flatMap(interval => takeCoverage(connection, ordinal, interval))
  return { walk: { intervals, claims: [...(before?.claims ?? []), ...claims], activity, transfers } }
}
