// The trial of who owns what on a real store: one random history for each seed.
import fc from 'fast-check'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import { HoldingsTrial, trialChain, trialContracts, trialSteps } from './holdings-trial.ts'
import { factsOf } from './memory-store.ts'

/** Fails where an answer differs from the model's. Every second seed keeps rows in sorted runs from the first one on. */
export async function tryOnStore(url: string, seed: number, stepsMax = Number.POSITIVE_INFINITY): Promise<void> {
  const [steps] = fc.sample(trialSteps, { seed, numRuns: 1 })
  const store = await open(url, seed % 2 === 0 ? { bulkRows: 1, runsPerMerge: 2 } : {})
  try {
    await store.putContractFacts(
      trialContracts.map(contract => ({ chain: trialChain, contract, ...factsOf(contract) })),
    )
    await new HoldingsTrial({ reads: store, writes: store }).run(steps!.slice(0, stepsMax))
  } finally {
    await store.close()
  }
}

async function open(url: string, runs: { bulkRows?: number; runsPerMerge?: number }): Promise<Store> {
  if (url.startsWith('file:')) return await openSqliteStore(url.slice('file:'.length), { role: 'owner', ...runs })
  return await openPostgresStore(url, runs)
}
