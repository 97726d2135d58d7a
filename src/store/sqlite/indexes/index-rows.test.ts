// Indexes hold the records of exactly the stored transfers, whatever is committed, taken back, merged, forgotten,
// switched on later and filled meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareIndexes, compareTransfersAt } from '../../../../test/index-reads.ts'
import { ModelStore } from '../../../../test/model-store.ts'
import { chains, contracts, StepRunner, steps } from '../../../../test/store-steps.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import type { IndexName, IndexView } from '../../indexes/index-view.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import type { Store } from '../../store.ts'
import { Connection } from '../connection.ts'
import { ownerWriteOptions } from '../open-file.ts'
import { rowColumns, storedTransfer } from '../placed-rows.ts'
import { coldTransfersAfter } from '../runs/cold-transfers.ts'
import { mergeStep } from '../runs/merges.ts'
import { recordsAfter, runsOf } from '../runs/runs.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { keptIndexes } from './kept-indexes.ts'

const names = indexViews.map(({ name }) => name)
const kept = fc.subarray<IndexName>(names)

const moments = fc.array(
  fc.record({
    at: fc.nat(30),
    what: fc.constantFrom('keep', 'fill', 'fill all', 'forget', 'merge', 'unfinalize'),
    names: kept,
  }),
  { maxLength: 12 },
)

const runs = Number(process.env.ALMANAC_INDEX_RUNS ?? 15)

test('an index has the records of the stored transfers, after every change', {
  timeout: 20_000 + runs * 1_500,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-indexes-'))
  let round = 0
  try {
    await fc.assert(
      fc.asyncProperty(steps, moments, fc.constantFrom(1, 6, 4_096), async (taken, extra, bulkRows) => {
        const path = join(folder, `${round++}.db`)
        const store = await openSqliteStore(path, { role: 'owner', bulkRows, runsPerMerge: 2, packsPerStep: 1 })
        const connection = new Connection(path, ownerWriteOptions)
        try {
          const runner = new StepRunner(new ModelStore(), store)
          for (const [at, step] of taken.entries()) {
            await runner.apply(step)
            for (const moment of extra.filter(each => each.at === at && each.what !== 'unfinalize'))
              await act(store, connection, moment)
            expectRecords(connection)
          }
          // Last, because the model knows of no finality that is taken back.
          if (extra.some(({ what }) => what === 'unfinalize')) await takeBackFinality(store)
          expectRecords(connection)
          for (const chain of chains) while (await store.fillIndexes(chain, 3));
          for (const chain of chains)
            for (const { filled } of await store.indexes.indexStates(chain)) expect(filled).toBe(true)
          expectRecords(connection)
          for (const chain of chains) {
            await compareIndexes(store, chain, contracts, 7)
            await compareTransfersAt(store, chain, contracts)
          }
        } finally {
          connection.close()
          await store.close()
        }
      }),
      { numRuns: runs, endOnFailure: true },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

type Moment = { what: string; names: readonly IndexName[] }

async function act(store: Store, connection: Connection, { what, names: named }: Moment): Promise<void> {
  if (what === 'merge') {
    mergeStep(connection, 10)
    return
  }
  for (const chain of chains)
    if (what === 'keep') await store.keepIndexes!(chain, named)
    else if (what === 'fill') await store.fillIndexes!(chain, 2)
    else if (what === 'fill all') while (await store.fillIndexes!(chain, 5));
    else if (what === 'forget' && named[0] !== undefined)
      while (!(await store.forgetStep({ chain, view: named[0] }, 3)).done);
}

async function takeBackFinality(store: Store): Promise<void> {
  for (const chain of chains) {
    const state = await store.chainState(chain)
    if (state !== undefined && state.finalized > 3) await store.unfinalize(chain, state.finalized - 3)
  }
}

/** While an index is filled it may lack some. */
function expectRecords(connection: Connection): void {
  for (const [chain] of connection.all('SELECT ordinal FROM chains') as [number][]) {
    const hot = connection.all(`SELECT ${rowColumns} FROM hot_transfers WHERE chain = ?`, chain).map(storedTransfer)
    const stored = [...coldTransfersAfter(connection, undefined, chain), ...hot]
    for (const { view, phase } of keptIndexes(connection, chain)) {
      if (phase === 'remove') continue
      const [found, expected] = [recordsIn(connection, view, chain), recordsOf(view, stored)]
      if (phase === null) expect(found).toEqual(expected)
      else for (const [key, value] of found) expect(value).toBe(expected.get(key))
    }
  }
}

function recordsOf(view: IndexView, transfers: readonly StoredTransfer[]): Map<string, string> {
  const records: [string, string][] = []
  for (const transfer of transfers) view.recordsOf(transfer, (key, value) => records.push([hex(key), hex(value)]))
  return sorted(records)
}

function recordsIn(connection: Connection, view: IndexView, chain: number): Map<string, string> {
  const find = 'SELECT key, value FROM view_records WHERE view = ? AND chain = ?'
  const inTable = connection.all(find, view.id, chain) as [Uint8Array, Uint8Array][]
  const inRuns = runsOf(connection, view)
    .filter(run => run.chain === chain)
    .flatMap(run => {
      const records = [...recordsAfter(connection, view, run.id, undefined)]
      expect(records.length).toBe(run.records)
      return records.map(({ key, value }) => [key, value] as const)
    })
  return sorted([...inTable, ...inRuns].map(([key, value]) => [hex(key), hex(value)]))
}

function sorted(records: [string, string][]): Map<string, string> {
  return new Map(records.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
