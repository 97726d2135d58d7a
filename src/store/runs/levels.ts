// How many runs of like size are merged into one, and of which size a run is. Pure.

/**
 * From this many rows on a commit of whole blocks is kept as runs: in a table nearly each row of a large store has a
 * page of its own to write. On a chain with few NFT transfers a commit of 25,000 rows, most of them wallets, has some
 * hundred transfers.
 */
export const bulkRows = 512

/**
 * Runs of one level are of like size; each level is sixteen times as large as the one below. With eight a record is
 * written a third more often; with more a wallet is looked up in more runs.
 */
export const runsPerMerge = 16
const smallestRun = 512

export function levelOf(records: number): number {
  return Math.max(0, Math.floor(Math.log(records / smallestRun) / Math.log(runsPerMerge)))
}

/**
 * Transfers of this level, some millions, are merged no more: a page opens the runs of its blocks alone, however many
 * there are. Measured at 90 million: to merge sixteen of them took as long as to index 60 million more.
 */
export const transferLevelMax = 3

/** Records that one step of a merge moves: a fraction of a second. */
export const recordsPerStep = 32_768
/** A step writes a pack again in each run that it takes from: less than this is not worth it. */
export const recordsWorthMerging = 1_000
