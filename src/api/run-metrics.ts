// Measures the runs of the store for /metrics.
import { storeRuns } from '../query/problems.ts'
import type { Context } from './context.ts'

/** What a store that does not answer had last is not shown: `almanac_problem` says why. */
export async function measureRuns({
  store,
  chains,
  metrics,
}: Pick<Context, 'store' | 'chains' | 'metrics'>): Promise<void> {
  const found = await storeRuns(store).catch(() => [])
  const { runs, records, mergingRecords } = metrics.storeRuns
  for (const gauge of [runs, records, mergingRecords]) gauge.reset()
  for (const { chain: id, view, ...measured } of found) {
    const labels = { chain: chains.byId(id)?.name ?? String(id), view }
    runs.set(labels, measured.runs)
    records.set(labels, measured.records)
    mergingRecords.set(labels, measured.mergingRecords)
  }
}
