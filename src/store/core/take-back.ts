// Takes rows of runs back, with their counts and the records that indexes have of them. A run that reaches into what
// goes may have millions of packs to look through, and a thread that is silent for seconds is ended
// (worker-thread.ts): so it goes in steps, each a transaction of its own, and the change that needs it is made in the
// transaction in which the last step ends. Most stores need one.
//
// Blocks whose rows are half gone have no claim: before a step ends the claims on them are removed, and after the last
// step they are put back, for the change to deal with. A crash in between leaves rows without a claim, and their
// blocks, by which the next commit or drop finds them.

import { holdsBlock, isTouched, joinIntervals } from '../../coverage.ts'
import { textOfKey } from '../../hex.ts'
import type { Interval } from '../../model.ts'
import { firstRefOf, joinActivity, packedRow } from '../packed-activity.ts'
import { activityView, refsOf } from '../runs/activity-view.ts'
import { spanOfBlocks, transferView } from '../runs/transfer-view.ts'
import type { Claim } from '../store.ts'
import { countChange } from './chain-row.ts'
import type { Core } from './core.ts'
import { addClaims, pendingWithin, removeClaims } from './coverage-table.ts'
import { addActivity } from './fold.ts'
import { liveIndexes } from './kept-indexes.ts'
import {
  blockBegin,
  blockEnd,
  changeKeys,
  changeRuns,
  dropRun,
  everyBlock,
  type RunPlace,
  runsOf,
  type WalkBound,
} from './runs.ts'
import { slotOfContract, slotOfKey } from './slots.ts'
import { RemovedTransfers } from './transfer-runs.ts'
import { endStep, lock, type Work } from './work.ts'

export type TakeBack = {
  chain: number
  /** Whose rows go. */
  intervals: readonly Interval[]
  /** Of this one alone. */
  contract?: number | undefined
  /** Of wallets with a transaction above this block the first one alone stays. */
  activityAbove?: number
}

/** Callers have the runs of the chain alone. Answers how many transfers there were. */
export function* takeBack(core: Core, { chain, intervals: given, contract, activityAbove }: TakeBack): Work<number> {
  const intervals = joinIntervals(given)
  if (intervals.length === 0) return 0
  const place = yield* core.place()
  const isOf = (block: number): boolean => holdsBlock(intervals, block)
  const isWhole = (run: Interval): boolean =>
    contract === undefined && intervals.some(({ from, to }) => run.from >= from && run.to <= to)
  const views = yield* liveIndexes(chain)
  const gone = new RemovedTransfers(place, chain, views, isWhole)
  const wallets = new WalletsAbove(place, chain, activityAbove ?? 0)
  const claims: Claim[] = []
  let left = core.options.packsPerStep
  const steps: WalkBound = function* (opened) {
    left -= opened
    if (left > 0) return false
    yield* gone.flush()
    yield* wallets.flush()
    for (const interval of intervals) claims.push(...(yield* removeClaims(chain, interval)))
    yield* endStep()
    yield* lock('runs', chain)
    left = core.options.packsPerStep
    return false
  }
  if (activityAbove !== undefined) {
    const of = { chain, from: activityAbove + 1, to: blockEnd }
    yield* changeRuns(place, activityView, { of, bound: steps }, wallets.note)
    yield* wallets.flush()
  }
  const of = { chain, from: intervals[0]!.from, to: intervals.at(-1)!.to }
  const span = contract === undefined ? undefined : spanOfBlocks(contract, of)
  const slot = contract === undefined ? undefined : slotOfContract(place.slots, contract)
  const isWanted = (run: Interval): boolean => isTouched(intervals, run)
  yield* changeRuns(place, transferView, { of, span, slot, isWanted, bound: steps }, gone.remove(isOf))
  yield* gone.flush()
  for (const view of views) for (const run of yield* runsOf(view, of)) if (isWhole(run)) yield* dropRun(run)
  if (gone.count > 0) yield* countChange(chain, 'takenBack')
  yield* addClaims(chain, claims)
  return gone.count
}

/** The intervals, with the pending ranges that reach into one of them: those go as a whole. */
export function* withPending(chain: number, intervals: readonly Interval[]): Work<Interval[]> {
  return joinIntervals([...intervals, ...(yield* pendingWithin(chain, intervals))])
}

/**
 * A wallet with a transaction above keeps its first one alone: what lies between was not kept, and what runs still have
 * of it depends on how far they are merged.
 */
class WalletsAbove {
  readonly #place: RunPlace
  readonly #chain: number
  readonly #block: number
  readonly #above: Uint8Array
  #found = new Map<string, Uint8Array>()

  constructor(place: RunPlace, chain: number, block: number) {
    this.#place = place
    this.#chain = chain
    this.#block = block
    this.#above = firstRefOf(block + 1)
  }

  *flush(): Work<void> {
    if (this.#found.size === 0) return
    const wallets = [...this.#found.values()]
    this.#found = new Map()
    const firsts = yield* removeWallets(this.#place, this.#chain, wallets)
    const kept = [...firsts.values()].filter(({ first }) => Buffer.compare(first, this.#above) < 0)
    const rows = kept.map(({ address, first }) => packedRow(address, first, first))
    yield* addActivity(this.#place, { chain: this.#chain, from: blockBegin, to: this.#block }, joinActivity(rows))
  }

  readonly note = (address: Uint8Array, value: Uint8Array): undefined => {
    const { first, last } = refsOf(value)
    if (Buffer.compare(last ?? first, this.#above) >= 0) this.#found.set(textOfKey(address), address.slice())
  }
}

/** All that runs have of wallets. Answers the first transaction of each. */
export function* removeWallets(
  place: RunPlace,
  chain: number,
  wallets: readonly Uint8Array[],
): Work<Map<string, { address: Uint8Array; first: Uint8Array }>> {
  const firsts = new Map<string, { address: Uint8Array; first: Uint8Array }>()
  const of = { chain, ...everyBlock }
  const keysBySlot = Map.groupBy(wallets, address => slotOfKey(place.slots, activityView, chain, address))
  yield* changeKeys(place, activityView, { of, keysBySlot }, (key, value) => {
    const { first } = refsOf(value)
    const known = firsts.get(textOfKey(key))
    if (known === undefined || Buffer.compare(first, known.first) < 0)
      firsts.set(textOfKey(key), { address: key.slice(), first: first.slice() })
    return null
  })
  return firsts
}
