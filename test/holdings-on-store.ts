// The trial of who owns what on a real store: one random history for each seed.

import fc from 'fast-check'
import type { CoreOptions } from '../src/store/core/core.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import { historyChain, historyContracts, historySteps } from './holdings-history.ts'
import { HoldingsTrial } from './holdings-trial.ts'
import { factsOf } from './memory-store.ts'

/** Fails where an answer differs from the model's. Every second seed keeps rows in sorted runs from the first one on. */
export async function tryOnStore(
  url: string,
  seed: number,
  { stepsMax = Number.POSITIVE_INFINITY, blocks = 'every' }: { stepsMax?: number; blocks?: 'some' | 'every' } = {},
): Promise<void> {
  const [steps] = fc.sample(historySteps, { seed, numRuns: 1 })
  const store = await open(url, seed % 2 === 0 ? { foldBlocks: 1, runsPerMerge: 2, recordsWorthMerging: 1 } : {})
  const putFacts = () =>
    store.annotate({
      facts: historyContracts.map(contract => ({ chain: historyChain, contract, ...factsOf(contract) })),
    })
  // Names go with a contract that is forgotten.
  const forgetStep: typeof store.forgetStep = async (what, rowsMax) => {
    const step = await store.forgetStep(what, rowsMax)
    if (step.done) await putFacts()
    return step
  }
  try {
    await putFacts()
    await new HoldingsTrial({ reads: store, writes: { ...store, forgetStep } }).run(steps!.slice(0, stepsMax), blocks)
  } finally {
    await store.close()
  }
}

async function open(url: string, runs: Partial<CoreOptions>): Promise<Store> {
  if (url.startsWith('file:')) return await openSqliteStore(url.slice('file:'.length), { role: 'owner', ...runs })
  return await openPostgresStore(url, runs)
}
