// Measures the runs of the store for /metrics.
import type { ChainTable } from '../chains.ts'
import { ledgerOf } from '../ledgers.ts'
import type { Metrics } from '../metrics.ts'
import type { Store } from '../store/store.ts'
import { storeRuns } from './problems.ts'

type RunGauges = { store: Pick<Store, 'runs'>; chains: ChainTable; metrics: Pick<Metrics, 'storeRuns'> }

/** What a store that does not answer had last is not shown: `almanac_problem` says why. */
export async function measureRuns({ store, chains, metrics }: RunGauges): Promise<void> {
  const found = await storeRuns(store).catch(() => [])
  const { runs, records, mergingRecords } = metrics.storeRuns
  for (const gauge of [runs, records, mergingRecords]) gauge.reset()
  for (const { chain: id, view, ...measured } of found) {
    const { chain, ledger } = ledgerOf(id)
    const labels = {
      chain: chains.byId(chain)?.name ?? String(chain),
      view: ledger === 'nft' ? view : `${ledger} ${view}`,
    }
    runs.set(labels, measured.runs)
    records.set(labels, measured.records)
    mergingRecords.set(labels, measured.mergingRecords)
  }
}
