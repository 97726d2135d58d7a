// Which indexes of transfers a chain keeps, and how they are filled from the transfers in runs, in steps; rows that
// come meanwhile bring their records along. Callers hold the transaction.
//
// A row of `chain_indexes` is an index that is kept or was. phase: NULL while all stored transfers are in it; 'remove'
// while records of before are removed, and none are added; 'fill' while it is filled from runs, up to `reached`.
// Records of recent blocks are derived, whatever is filled.
import type { RowState } from '../index-reader.ts'
import { indexOf, indexViews } from '../indexes/all-indexes.ts'
import { contractOfKey, payloadAt, positionOfKey, transferView } from '../runs/transfer-view.ts'
import type { IndexName, IndexView, NumberedTransfer } from '../runs/view.ts'
import { countChange, lockChain } from './chain-row.ts'
import { recordsFrom } from './read-records.ts'
import { dropRunsOf, type RunPlace, sweepPacks } from './runs.ts'
import { addIndexRecords, blocksOf } from './transfer-runs.ts'
import { endPart, insert, lock, row, rows, run, type Work } from './work.ts'

type KeptIndex = {
  view: IndexView
  isKept: boolean
  phase: 'remove' | 'fill' | null
  reached: Uint8Array
  contracts: number
}

/** Numbers of contracts begin at 1. */
const beforeAll = new Uint8Array(transferView.keyBytes)

function* keptIndexes(chain: number): Work<KeptIndex[]> {
  const find = 'SELECT view, kept, phase, reached, contracts FROM chain_indexes WHERE chain = $1'
  return (yield* rows(find, chain)).flatMap(([id, kept, phase, reached, contracts]) => {
    const view = indexViews.find(each => each.id === id)
    return view === undefined ? [] : [{ view, isKept: kept === 1, phase, reached: reached ?? beforeAll, contracts }]
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
  const kept = indexViews.map(({ id }) => ({ chain, view: id }))
  yield* insert('chain_indexes', kept, 'DO NOTHING')
}

/** One step, of about `transfersMax` rows, towards keeping these. False where nothing is left to do. */
export function* keepIndexes(
  place: RunPlace,
  chain: number,
  names: readonly IndexName[] | undefined,
  transfersMax: number,
): Work<boolean> {
  if (names !== undefined && (yield* otherThan(chain, names)).length > 0) {
    // No other writer adds or removes rows of the chain meanwhile.
    yield* lockChain(chain)
    yield* lock('runs', chain)
    for (const view of yield* otherThan(chain, names))
      yield* names.includes(view.name) ? keepIndex(chain, view) : leaveIndex(chain, view)
    return true
  }
  return yield* fillStep(place, chain, transfersMax)
}

/** Those that are kept and not named, and those that are named and not kept. */
function* otherThan(chain: number, names: readonly IndexName[]): Work<IndexView[]> {
  const kept = (yield* keptIndexes(chain)).filter(({ isKept }) => isKept).map(({ view }) => view)
  return indexViews.filter(view => names.includes(view.name) !== kept.includes(view))
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

/** After the packs are gone: an index that is kept is filled anew, and one that was left is forgotten. */
function* endRemoving(chain: number): Work<void> {
  yield* run(`DELETE FROM chain_indexes WHERE chain = $1 AND phase = 'remove' AND kept = 0`, chain)
  yield* run(`UPDATE chain_indexes SET phase = 'fill' WHERE chain = $1 AND phase = 'remove'`, chain)
}

/** An index that was left has no record any more. Without a name: the chain has no row any more. */
export function* endEmptying(chain: number, name?: IndexName): Work<void> {
  const ids = (name === undefined ? indexViews : [indexOf(name)]).map(({ id }) => id)
  yield* run('DELETE FROM chain_indexes WHERE chain = $1 AND view IN $2:ints AND kept = 0', chain, ids)
  if (name === undefined) yield* run('UPDATE chain_indexes SET phase = NULL WHERE chain = $1', chain)
}

const findState = `SELECT taken_back, filled, view, phase, contracts, contracts_of FROM chains
  LEFT JOIN row_changes ON row_changes.chain = ordinal
  LEFT JOIN chain_indexes ON chain_indexes.chain = ordinal AND kept = 1 WHERE ordinal = $1 ORDER BY view`

export function* rowState(chain: number): Work<RowState> {
  const found = yield* rows(findState, chain)
  const [takenBack, filled] = found[0]!
  const indexes = found.flatMap(([, , id, phase, contracts, of]) => {
    const index = indexViews.find(each => each.id === id)?.name
    if (index === undefined) return []
    const progress = { contracts: Math.min(contracts, of), of }
    return [phase === null ? { index, filled: true } : { index, filled: false, progress }]
  })
  return { indexes, takenBack: takenBack ?? 0, filled: filled ?? 0 }
}

// Filling.

/** Sweeping a pack costs as much as adding the records of this many transfers. */
const transfersPerPack = 8

function* fillStep(place: RunPlace, chain: number, transfersMax: number): Work<boolean> {
  // An index that was left meanwhile, by another process, gets no record any more: nothing would remove it.
  yield* lock('runs', chain)
  const behind = (yield* keptIndexes(chain)).filter(({ phase }) => phase !== null)
  const [first] = behind
  if (first === undefined) return false
  if (behind.some(({ phase }) => phase === 'remove')) {
    const swept = yield* sweepPacks(place.slots, Math.ceil(transfersMax / transfersPerPack))
    if (swept === 0) yield* endRemoving(chain)
    return true
  }
  // Those that were switched on together are filled together.
  const alike = behind.filter(({ reached }) => Buffer.compare(reached, first.reached) === 0)
  yield* fillAlike(place, chain, alike, transfersMax)
  return true
}

function* fillAlike(place: RunPlace, chain: number, alike: readonly KeptIndex[], transfersMax: number): Work<void> {
  const { reached, contracts } = alike[0]!
  const { transfers, last } = yield* transfersAfter(chain, reached, transfersMax)
  const views = alike.map(({ view }) => view)
  if (transfers.length > 0) yield* addIndexRecords(place, { chain, ...blocksOf(transfers) }, views, transfers)
  // On a cluster what is reached is told after the records can be seen.
  yield* endPart()
  const ids = views.map(({ id }) => id)
  const done = contracts + contractsPassed(transfers, contractOfKey(reached))
  yield* run(
    `UPDATE chain_indexes SET phase = $3:text, reached = $4, contracts = $5
     WHERE chain = $1 AND view IN $2:ints AND phase = 'fill'`,
    ...[chain, ids, last === undefined ? null : 'fill', last ?? null, done],
  )
  // A read that began before the index was left has a part of it.
  if (last === undefined) yield* countChange(chain, 'takenBack')
}

/** In the order of their keys; `last` where others may follow. */
function* transfersAfter(
  chain: number,
  after: Uint8Array,
  limit: number,
): Work<{ transfers: NumberedTransfer[]; last: Uint8Array | undefined }> {
  const found = yield* recordsFrom({ view: transferView, chain }, after, limit + 1)
  const transfers = found.map(([key, value]): NumberedTransfer => {
    return { contract: contractOfKey(key), ...positionOfKey(key), payload: value.subarray(payloadAt) }
  })
  const last = found.length > limit ? found.at(-1)![0].slice() : undefined
  return { transfers, last }
}

function contractsPassed(taken: readonly NumberedTransfer[], before: number): number {
  let passed = 0
  let last = before
  for (const { contract } of taken) {
    if (contract !== last && last !== 0) passed++
    last = contract
  }
  return passed
}
