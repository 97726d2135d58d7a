// How many runs of like size are merged into one, and of which size a run is. Pure.

/**
 * Runs of one level are of like size; each level is sixteen times as large as the one below. With eight a record is
 * written a third more often; with more a wallet is looked up in more runs.
 */
export const runsPerMerge = 16
/** Commits of few records are runs of their own too, of the lowest level. */
const smallestRun = 32

export function levelOf(records: number): number {
  return Math.max(0, Math.floor(Math.log(records / smallestRun) / Math.log(runsPerMerge)))
}

/**
 * Transfers of this level, some millions, are merged no more: a page opens the runs of its blocks alone, however many
 * there are. Measured at 90 million: to merge sixteen of them took as long as to index 60 million more.
 */
export const transferLevelMax = 4

/** Records that one step of a merge moves: a fraction of a second. */
export const recordsPerStep = 32_768
/** A step writes a pack again in each run that it takes from: less than this is not worth it. */
export const recordsWorthMerging = 1_000
