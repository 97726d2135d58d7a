// Random writes against the indexes of a store: they have the records of exactly the stored transfers, whatever is
// committed, taken back, merged, forgotten, switched on later and filled meanwhile.

import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { CoreOptions } from '../src/store/core/core.ts'
import { indexViews } from '../src/store/indexes/all-indexes.ts'
import type { IndexName } from '../src/store/runs/view.ts'
import type { Store } from '../src/store/store.ts'
import { compareIndexes, compareTransfersAt } from './index-reads.ts'
import { ModelStore } from './model-store.ts'
import { chains, contracts, StepRunner, steps } from './store-steps.ts'

const all = indexViews.map(({ name }) => name)
const forms: Partial<CoreOptions>[] = [
  {},
  { foldBlocks: 1, runsPerMerge: 3, recordsWorthMerging: 1, packsPerStep: 1 },
  { foldBytes: 2_500, runsPerMerge: 2, recordsWorthMerging: 1 },
]
const moments = fc.array(
  fc.record({
    at: fc.nat(30),
    what: fc.constantFrom('keep', 'fill', 'fill all', 'forget', 'compare'),
    names: fc.subarray<IndexName>(all),
  }),
  { maxLength: 12 },
)
type Moment = { what: string; names: readonly IndexName[] }

async function act(store: Store, { what, names }: Moment, limit: number): Promise<void> {
  for (const chain of chains)
    if (what === 'keep') await store.keepIndexes(chain, names, 1)
    else if (what === 'fill') await store.keepIndexes(chain, undefined, 2)
    else if (what === 'fill all') while (await store.keepIndexes(chain, undefined, 5));
    else if (what === 'compare') await compareIndexes(store, chain, contracts, limit)
    else if (names[0] !== undefined) while (!(await store.forgetStep({ chain, view: names[0] }, 3)).done);
}

async function takeBackFinality(store: Store): Promise<void> {
  for (const chain of chains) {
    const state = await store.chainState(chain)
    if (state !== undefined && state.finalized > 3) await store.unfinalize(chain, state.finalized - 3)
  }
}

type Opened = { store: Store; dispose: () => Promise<void> }

/** `open` takes how many rows are bulk, and how many runs are merged. */
export async function checkIndexSteps(
  open: (form: Partial<CoreOptions>) => Promise<Opened>,
  runs: number,
): Promise<void> {
  const limits = fc.constantFrom(1, 3, 1_000)
  const property = fc.asyncProperty(
    ...([steps, moments, limits, fc.constantFrom(...forms), fc.boolean()] as const),
    async (sequence, extra, limit, form, isTakenBack) => {
      const { store, dispose } = await open(form)
      try {
        const runner = new StepRunner(new ModelStore(), store)
        for (const [at, step] of sequence.entries()) {
          await runner.apply(step)
          for (const moment of extra.filter(each => each.at === at)) await act(store, moment, limit)
        }
        await act(store, { what: 'compare', names: all }, limit)
        // Last, because the model knows of no finality that is taken back.
        if (isTakenBack) await takeBackFinality(store)
        for (const chain of chains) {
          await store.keepIndexes(chain, all, 1)
          while (await store.keepIndexes(chain, undefined, 7));
          for (const { filled } of (await store.indexes.rowState(chain)).indexes) expect(filled).toBe(true)
          await compareIndexes(store, chain, contracts, limit)
          await compareTransfersAt(store, chain, contracts)
        }
      } finally {
        await dispose()
      }
    },
  )
  await fc.assert(property, { numRuns: runs, endOnFailure: true })
}
