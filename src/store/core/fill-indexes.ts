// Fills indexes that a chain keeps from the transfers in runs, and removes the packs of those that it left, in steps.
// Rows that come meanwhile bring their records along. Callers hold the transaction.
import { contractOfKey, payloadAt, positionOfKey, transferView } from '../runs/transfer-view.ts'
import type { StoredTransfer } from '../runs/view.ts'
import { countChange } from './chain-row.ts'
import type { Core } from './core.ts'
import { endRemoving, type KeptIndex, keptIndexes } from './kept-indexes.ts'
import { FoundRecords, readRecords, runsUpToFold } from './read-records.ts'
import { sweepPacks } from './runs.ts'
import { addIndexRecords, blocksOf } from './transfer-runs.ts'
import { endPart, lock, run, type Work } from './work.ts'

/** Sweeping a pack costs as much as adding the records of so many transfers. */
const transfersPerPack = 8

/** Takes about `transfersMax` rows. False where nothing is left to do. */
export function* fillStep(core: Core, chain: number, transfersMax: number): Work<boolean> {
  // An index that was left meanwhile, by another process, gets no record any more: nothing would remove it.
  yield* lock('runs', chain)
  const behind = (yield* keptIndexes(chain)).filter(({ phase }) => phase !== null)
  const [first] = behind
  if (first === undefined) return false
  if (behind.some(({ phase }) => phase === 'remove')) {
    const swept = yield* sweepPacks(yield* core.slots(), Math.ceil(transfersMax / transfersPerPack))
    if (swept === 0) yield* endRemoving(chain)
    return true
  }
  // Those that were switched on together are filled together.
  const alike = behind.filter(({ reached }) => Buffer.compare(reached, first.reached) === 0)
  yield* fillAlike(core, chain, alike, transfersMax)
  return true
}

function* fillAlike(core: Core, chain: number, alike: readonly KeptIndex[], transfersMax: number): Work<void> {
  const { reached, contracts } = alike[0]!
  const { transfers, last } = yield* transfersAfter(chain, reached, transfersMax)
  const views = alike.map(({ view }) => view)
  if (transfers.length > 0)
    yield* addIndexRecords(yield* core.place(), { chain, ...blocksOf(transfers) }, views, transfers)
  // On a cluster what is reached is told after the records can be seen.
  yield* endPart()
  const ids = views.map(({ id }) => id)
  const done = contracts + contractsPassed(transfers, contractOfKey(reached))
  yield* run(
    `UPDATE chain_indexes SET phase = $3:text, reached = $4, contracts = $5
     WHERE chain = $1 AND view IN $2:ints AND phase = 'fill'`,
    ...[chain, ids, last === undefined ? null : 'fill', last ?? null, done],
  )
  // Who began to read it before it was left has read a part of it.
  if (last === undefined) yield* countChange(chain, 'takenBack')
}

/** In the order of their keys; `last` where others may follow. */
function* transfersAfter(
  chain: number,
  after: Uint8Array,
  limit: number,
): Work<{ transfers: StoredTransfer[]; last: Uint8Array | undefined }> {
  const found = new FoundRecords(transferView, limit + 1)
  const to = new Uint8Array(transferView.keyBytes).fill(0xff)
  const query = { view: transferView, chain, contract: undefined, order: 'keys' as const, from: after, to }
  yield* readRecords({ ...query, limit: limit + 1 }, found, yield* runsUpToFold(chain))
  const { length, keys, values, valueEnds } = found.done()
  const transfers = Array.from({ length }, (_, at): StoredTransfer => {
    const key = keys.subarray(at * transferView.keyBytes, (at + 1) * transferView.keyBytes)
    const payload = values.subarray((valueEnds[at - 1] ?? 0) + payloadAt, valueEnds[at])
    return { contract: contractOfKey(key), ...positionOfKey(key), payload }
  })
  const last =
    length > limit ? keys.slice((length - 1) * transferView.keyBytes, length * transferView.keyBytes) : undefined
  return { transfers, last }
}

function contractsPassed(taken: readonly StoredTransfer[], before: number): number {
  let passed = 0
  let last = before
  for (const { contract } of taken) {
    if (contract !== last && last !== 0) passed++
    last = contract
  }
  return passed
}
