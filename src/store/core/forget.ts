// Forgets a chain, a contract or a view, a bounded number of rows in each transaction, and tells beforehand how much
// that is. The rows of runs disappear at once, with the rows of the table `runs`; their packs are swept away later.
import { bytesOfHex } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import { gapsPrefix, withoutGap } from '../activity-gaps.ts'
import { finalCheckpoint, genesisCheckpoint, unclaimedCheckpoint, walletCheckpoint } from '../checkpoint-names.ts'
import {
  type ForgetPhase,
  type ForgetState,
  firstState,
  forgetName,
  type PhaseStep,
  stateAfter,
  stateOf,
  withoutScope,
} from '../forget.ts'
import { indexOf } from '../indexes/all-indexes.ts'
import { activityView } from '../runs/activity-view.ts'
import { bucketMax, countKey, countView } from '../runs/count-view.ts'
import { spanOfBlocks, transferView } from '../runs/transfer-view.ts'
import { sizeEstimateName } from '../size-estimates.ts'
import type { ForgetTarget } from '../store.ts'
import { putCheckpoint } from '../tables/leases.ts'
import { changeChain, countChange, lockChain } from './chain-row.ts'
import type { Core } from './core.ts'
import { addClaims, coverageOf, dropClaimsOfChain, highestClaim, watchContract } from './coverage-table.ts'
import { noteTakenBack } from './gone-blocks.ts'
import { emptyIndexes, endEmptying, leaveIndex, liveIndexes } from './kept-indexes.ts'
import { withoutTransfersOf } from './recent-block.ts'
import { changeRuns, dropRunsOf, everyBlock, sweepPacks, type WalkBound } from './runs.ts'
import { slotOfContract } from './slots.ts'
import { RemovedTransfers } from './transfer-runs.ts'
import { endPart, lock, row, rows, run, type Work } from './work.ts'

/** Of one contract; a pack has more. */
const rowsPerPack = 16
/** Sweeping a pack costs as much as deleting this many rows. */
const rowsPerSweep = 8
/** A row with records of indexes costs as much as this many. */
const rowsPerIndexed = 8
/** Of a contract, in one step. */
const recentBlocksPerStep = 200

export function* forgetStep(core: Core, what: ForgetTarget, rowsMax: number): Work<{ removed: number; done: boolean }> {
  const chain = yield* core.dictionary.ordinalOf(what.chain)
  if (chain === undefined) return { removed: 0, done: true }
  const name = forgetName(what.chain)
  const begun = stateOf((yield* row('SELECT value FROM checkpoints WHERE name = $1', name))?.[0])
  if (begun === undefined) {
    const number = what.contract === undefined ? undefined : yield* core.dictionary.contractOf(chain, what.contract)
    yield* dropClaims(chain, what, number)
    yield* putCheckpoint(name, JSON.stringify(firstState(what)))
    return { removed: 0, done: false }
  }
  const { contract } = begun.what
  const number = contract === undefined ? undefined : yield* core.dictionary.contractOf(chain, contract)
  const step = yield* phases[begun.phase]({ core, chain, contract: number, rowsMax }, begun)
  if (step.removed > 0) yield* countChange(chain, 'takenBack')
  // What a cluster shows later must not be told before.
  yield* endPart()
  const next = stateAfter(begun, step)
  if (next === undefined) yield* run('DELETE FROM checkpoints WHERE name = $1', name)
  else yield* putCheckpoint(name, JSON.stringify(next))
  return { removed: step.removed, done: next === undefined }
}

/** A commit that knows an index as kept ends before, or it would leave records behind that nothing removes. */
function* dropClaims(
  chain: number,
  { chain: id, contract, view }: ForgetTarget,
  number: number | undefined,
): Work<void> {
  const state = yield* lockChain(chain)
  yield* lock('runs', chain)
  if (contract !== undefined) {
    yield* dropClaimsOfContract(chain, contract)
    if (number !== undefined) yield* noteTakenBack(chain, everyBlock, number)
    yield* run('DELETE FROM checkpoints WHERE name = $1', sizeEstimateName(id, contract))
  } else if (view === 'activity') yield* dropClaimsOfActivity(chain, id)
  else if (view !== undefined) yield* leaveIndex(chain, indexOf(view))
  else {
    yield* dropWallets(id)
    yield* emptyIndexes(chain)
    yield* countChange(chain, 'takenBack')
    yield* dropClaimsOfChain(chain)
    yield* noteTakenBack(chain, everyBlock)
    yield* run('DELETE FROM checkpoints WHERE name LIKE $1', `${unclaimedCheckpoint(id)}%`)
    yield* run('DELETE FROM checkpoints WHERE name LIKE $1', `${sizeEstimateName(id)}%`)
    yield* run('DELETE FROM checkpoints WHERE name IN ($1, $2)', finalCheckpoint(id), genesisCheckpoint(id))
    yield* run(
      'UPDATE chains SET head_number = NULL, head_hash = NULL, head_timestamp = NULL WHERE ordinal = $1',
      chain,
    )
    yield* changeChain(state, { finalized: -1 })
  }
}

/** Whole blocks stay complete for their transfers. */
function* dropClaimsOfActivity(chain: number, id: ChainId): Work<void> {
  yield* dropWallets(id)
  const full = yield* coverageOf(chain, 'full')
  yield* run("DELETE FROM coverage WHERE chain = $1 AND scope = 'full'", chain)
  yield* addClaims(
    chain,
    full.map(interval => ({ ...interval, scope: 'transfers' as const })),
  )
  const unclaimed = yield* row('SELECT value FROM checkpoints WHERE name = $1', unclaimedCheckpoint(id, 'full'))
  if (unclaimed === undefined) return
  yield* run('DELETE FROM checkpoints WHERE name = $1', unclaimedCheckpoint(id, 'full'))
  yield* putCheckpoint(unclaimedCheckpoint(id, 'transfers'), unclaimed[0])
}

/** What is claimed of whole blocks stays, and no longer counts for the contract. */
function* dropClaimsOfContract(chain: number, contract: Address): Work<void> {
  yield* run('DELETE FROM coverage WHERE chain = $1 AND scope = $2', chain, contract)
  yield* run('DELETE FROM contract_facts WHERE chain = $1 AND contract = $2', chain, bytesOfHex(contract))
  yield* watchContract(chain, contract, 'ended')
  const to = yield* highestClaim(chain)
  if (to >= 0) yield* addClaims(chain, [{ scope: withoutScope(contract), from: 0, to, evidence: 'one-endpoint' }])
}

/** How far wallets were looked up, and whose activity is not whole (activity-gaps.ts). */
function* dropWallets(id: ChainId): Work<void> {
  yield* run('DELETE FROM checkpoints WHERE name LIKE $1', `${walletCheckpoint(id)}%`)
  for (const [name, value] of yield* rows('SELECT name, value FROM checkpoints WHERE name LIKE $1', `${gapsPrefix}%`)) {
    const left = withoutGap(value, id)
    if (left !== undefined) yield* putCheckpoint(name, left)
  }
}

type Step = { core: Core; chain: number; contract: number | undefined; rowsMax: number }

const more = 'more'

const phases: Record<ForgetPhase, (step: Step, state: ForgetState) => Work<PhaseStep>> = {
  *recent({ chain, contract }, { what, after }) {
    const before = yield* lockChain(chain)
    if (what.contract !== undefined)
      return contract === undefined ? { removed: 0 } : yield* dropFromRecent(chain, contract, Number(after || -1))
    if (what.view === undefined) {
      const removed = yield* run('DELETE FROM recent_blocks WHERE chain = $1', chain)
      yield* run('DELETE FROM gone_blocks WHERE chain = $1', chain)
      yield* changeChain(before, { fold: -1, tip: -1, parts: 0, bytes: 0, finalBytes: 0 })
      return { removed }
    }
    const { changes } = yield* changeChain(before, {})
    const empty = `UPDATE recent_blocks SET activity = $2, wallets = $2, change = $3 WHERE chain = $1`
    yield* run(empty, chain, new Uint8Array(0), changes)
    return { removed: 0 }
  },

  *runs({ core, chain, contract, rowsMax }, { what }) {
    yield* lock('runs', chain)
    if (what.contract === undefined)
      return { removed: yield* dropRunsOf(chain, what.view === undefined ? undefined : activityView) }
    if (contract === undefined) return { removed: 0 }
    const views = yield* liveIndexes(chain)
    const place = yield* core.place()
    const gone = new RemovedTransfers(place, chain, views, () => false)
    const every = { chain, ...everyBlock }
    const packs = rowsMax / rowsPerPack / (views.length === 0 ? 1 : rowsPerIndexed)
    const walk = { of: every, span: spanOfBlocks(contract, every), slot: slotOfContract(place.slots, contract) }
    let left = Math.ceil(packs)
    // Of changed packs: what was only looked into would be met first again.
    // biome-ignore lint/correctness/useYield: another bound ends transactions.
    const bound: WalkBound = function* (_, changed) {
      left -= changed
      return left <= 0
    }
    const isDone = yield* changeRuns(
      place,
      transferView,
      { ...walk, bound },
      gone.remove(() => true),
    )
    yield* gone.flush()
    return isDone ? { removed: gone.count } : { removed: gone.count, after: more }
  },

  *counts({ core, chain, contract }) {
    if (contract === undefined) return { removed: 0 }
    yield* lock('runs', chain)
    const place = yield* core.place()
    const walk = {
      ...{ of: { chain, ...everyBlock }, slot: slotOfContract(place.slots, contract) },
      span: { from: countKey(contract, -1), to: countKey(contract, bucketMax) },
    }
    yield* changeRuns(place, countView, walk, () => null)
    return { removed: 0 }
  },

  *blocks(step) {
    return yield* dropSome(step, 'blocks', 'number')
  },

  *facts(step) {
    return yield* dropSome(step, 'contract_facts', 'contract')
  },

  *uris({ chain, rowsMax }, { what: { contract } }) {
    const [of, values] = contract === undefined ? ['', []] : ['AND contract = $3', [bytesOfHex(contract)]]
    const drop = `DELETE FROM token_uris WHERE (chain, contract, token_id) IN
      (SELECT chain, contract, token_id FROM token_uris WHERE chain = $1 ${of} LIMIT $2:int)`
    const removed = yield* run(drop, chain, rowsMax, ...values)
    return removed < rowsMax ? { removed } : { removed, after: more }
  },

  *packs({ core, chain, rowsMax }, { what }) {
    const swept = yield* sweepPacks(yield* core.slots(), Math.ceil(rowsMax / rowsPerSweep))
    if (swept > 0) return { removed: 0, after: more }
    if (what.view !== 'activity') yield* endEmptying(chain, what.view)
    return { removed: 0 }
  },
}

/** Rewrites the parts of recent blocks above a number that have rows of the contract. */
function* dropFromRecent(chain: number, contract: number, after: number): Work<PhaseStep> {
  const find = `SELECT number, part, transfers FROM recent_blocks WHERE chain = $1 AND number > $2 ORDER BY number, part
    LIMIT $3:int`
  const found = yield* rows(find, chain, after, recentBlocksPerStep)
  let removed = 0
  let change: number | undefined
  for (const [number, part, transfers] of found) {
    const left = withoutTransfersOf(transfers, contract)
    if (left.removed === 0) continue
    removed += left.removed
    change ??= (yield* changeChain(yield* lockChain(chain), {})).changes
    yield* run(
      'UPDATE recent_blocks SET transfers = $4, change = $5 WHERE chain = $1 AND number = $2 AND part = $3',
      ...[chain, number, part, left.transfers, change],
    )
  }
  // Other parts of the last block may be missing here.
  const last = found.length < recentBlocksPerStep ? undefined : found.at(-1)![0]
  return last === undefined ? { removed } : { removed, after: String(last - 1) }
}

function* dropSome({ chain, rowsMax }: Step, table: string, key: string): Work<PhaseStep> {
  const find = `SELECT ${key} FROM ${table} WHERE chain = $1 ORDER BY ${key} LIMIT 1 OFFSET $2:int`
  const last = yield* row(find, chain, rowsMax)
  const drop = `DELETE FROM ${table} WHERE chain = $1`
  if (last === undefined) return { removed: yield* run(drop, chain) }
  return { removed: yield* run(`${drop} AND ${key} <= $2`, chain, last[0]), after: more }
}
