// Which indexes of transfers a chain keeps, and how far each is filled. Callers hold the transaction.
//
// A row of `chain_indexes` is an index that is kept or was. phase: NULL while all stored transfers are in it; 'remove'
// while records of before are removed, and none are added; 'fill' while it is filled from runs, up to `reached`.
// Records of recent blocks are derived, whatever is filled.
import type { IndexState } from '../index-reader.ts'
import { indexOf, indexViews } from '../indexes/all-indexes.ts'
import type { IndexName, IndexView } from '../indexes/index-view.ts'
import { transferView } from '../runs/transfer-view.ts'
import { dropRunsOf } from './runs.ts'
import { insert, row, rows, run, type Work } from './work.ts'

/** Null: all stored transfers are in it. */
export type FillPhase = 'remove' | 'fill' | null

export type KeptIndex = {
  view: IndexView
  isKept: boolean
  phase: FillPhase
  reached: Uint8Array
  contracts: number
  contractsOf: number
}

/** Numbers of contracts begin at 1. */
const beforeAll = new Uint8Array(transferView.keyBytes)

export function* keptIndexes(chain: number): Work<KeptIndex[]> {
  const find = 'SELECT view, kept, phase, reached, contracts, contracts_of FROM chain_indexes WHERE chain = $1'
  return (yield* rows(find, chain)).flatMap(([id, kept, phase, reached, contracts, contractsOf]) => {
    const view = indexViews.find(each => each.id === id)
    if (view === undefined) return []
    return [{ view, isKept: kept === 1, phase, reached: reached ?? beforeAll, contracts, contractsOf }]
  })
}

/**
 * Those whose records come and go with transfers of runs. One that is still emptied is filled from all of them later.
 */
export function* liveIndexes(chain: number): Work<IndexView[]> {
  return (yield* keptIndexes(chain)).filter(({ phase }) => phase !== 'remove').map(({ view }) => view)
}

/** For a chain that is new to the store. */
export function* keepAllIndexes(chain: number): Work<void> {
  yield* insert(
    'chain_indexes',
    [
      ['chain', 'int', indexViews.map(() => chain)],
      ['view', 'int', indexViews.map(({ id }) => id)],
    ],
    'DO NOTHING',
  )
}

export function* keepIndexes(chain: number, names: readonly IndexName[]): Work<void> {
  const known = new Map((yield* keptIndexes(chain)).map(index => [index.view.name, index]))
  for (const view of indexViews)
    if (!names.includes(view.name)) {
      if (known.get(view.name)?.isKept) yield* leaveIndex(chain, view)
    } else if (!known.get(view.name)?.isKept) yield* keepIndex(chain, view)
}

/** Records that are left of before go first: rows have gone meanwhile whose records have not. */
function* keepIndex(chain: number, { id }: IndexView): Work<void> {
  const counted = yield* row('SELECT count(*) FROM contracts WHERE chain = $1', chain)
  yield* run(
    `INSERT INTO chain_indexes (chain, view, phase, contracts_of) VALUES ($1, $2, 'fill', $3)
     ON CONFLICT (chain, view) DO UPDATE SET kept = 1, contracts_of = excluded.contracts_of`,
    ...[chain, id, counted![0]],
  )
}

/** Its runs are gone at once, their packs in steps. */
export function* leaveIndex(chain: number, view: IndexView): Work<void> {
  yield* emptyIndexes(chain, [view])
  yield* run('UPDATE chain_indexes SET kept = 0 WHERE chain = $1 AND view = $2', chain, view.id)
}

export function* emptyIndexes(chain: number, views: readonly IndexView[] = indexViews): Work<void> {
  for (const view of views) {
    yield* dropRunsOf(chain, view)
    const empty = `UPDATE chain_indexes SET phase = 'remove', reached = NULL, contracts = 0 WHERE chain = $1 AND view = $2`
    yield* run(empty, chain, view.id)
  }
}

/** After the packs are gone: one that is kept is filled anew, and one that was left is no more. */
export function* endRemoving(chain: number): Work<void> {
  yield* run(`DELETE FROM chain_indexes WHERE chain = $1 AND phase = 'remove' AND kept = 0`, chain)
  yield* run(`UPDATE chain_indexes SET phase = 'fill' WHERE chain = $1 AND phase = 'remove'`, chain)
}

/** An index that was left has no record any more. Without a name: the chain has no row any more. */
export function* endEmptying(chain: number, name?: IndexName): Work<void> {
  const ids = (name === undefined ? indexViews : [indexOf(name)]).map(({ id }) => id)
  yield* run('DELETE FROM chain_indexes WHERE chain = $1 AND view IN $2:ints AND kept = 0', chain, ids)
  if (name === undefined) yield* run('UPDATE chain_indexes SET phase = NULL WHERE chain = $1', chain)
}

export function* indexStates(chain: number): Work<IndexState[]> {
  return (yield* keptIndexes(chain))
    .filter(({ isKept }) => isKept)
    .map(({ view: { name: index }, phase, contracts, contractsOf }) =>
      phase === null
        ? { index, filled: true }
        : { index, filled: false, progress: { contracts: Math.min(contracts, contractsOf), of: contractsOf } },
    )
}
