// Writing the transfers of whole blocks as runs, with the runs of their counts. Callers hold the transaction.
import type { Interval } from '../../../model.ts'
import { bucketMax, bucketOf, countKey, countValue, countView, totalKey } from '../../runs/count-view.ts'
import { hasMember } from '../../runs/members.ts'
import { compareKeys } from '../../runs/pack.ts'
import { fitsKey } from '../../runs/place-key.ts'
import {
  blockOfKey,
  contractOfKey,
  positionOfKey,
  spanOfBlocks,
  transferKey,
  transferView,
} from '../../runs/transfer-view.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import { idCountOf } from '../../transfer-payload.ts'
import type { Connection } from '../connection.ts'
import { markRanges, newestFirst, type PlacedRow, type RowsByContract } from '../placed-rows.ts'
import {
  addRun,
  type Budget,
  type Change,
  changeRun,
  changeRuns,
  cursorAt,
  membersOf,
  type Run,
  type RunPlace,
  runsOf,
} from './runs.ts'

type OfChain = Interval & { chain: number }

export function fitsRuns(rowsByContract: RowsByContract): boolean {
  return rowsByContract.values().every(rows => rows.every(fitsKey))
}

/** None of the rows may be stored yet. Returns how many there are. */
export function addTransferRun(connection: Connection, place: OfChain, rowsByContract: RowsByContract): number {
  const contracts = [...rowsByContract.keys()].sort((a, b) => a - b)
  const counts: [Uint8Array, number][] = []
  const added = addRun(connection, transferView, place, writer => {
    const key = new Uint8Array(transferView.keyBytes)
    for (const contract of contracts) {
      const buckets = new Map<number, number>()
      let total = 0
      let before: PlacedRow | undefined
      for (const row of rowsByContract.get(contract)!.sort(newestFirst)) {
        if (before !== undefined && newestFirst(before, row) === 0) continue
        before = row
        writer.add(transferKey(contract, row, key), row.payload, row.payload.length)
        const idCount = idCountOf(row.payload)
        if (idCount !== 1) markRanges(connection, contract)
        total += idCount
        const bucket = bucketOf(row.block)
        buckets.set(bucket, (buckets.get(bucket) ?? 0) + idCount)
      }
      counts.push([totalKey(contract), total])
      for (const [bucket, count] of [...buckets].reverse()) counts.push([countKey(contract, bucket), count])
    }
  })
  addRun(connection, countView, place, writer => {
    for (const [key, count] of counts) {
      const value = countValue(count)
      writer.add(key, value, value.length)
    }
  })
  return added
}

export type OnRemoved = (transfer: StoredTransfer) => void

/** Deletes the rows of whole blocks, and gives each to `onRemoved`, in steps: see `changeRuns`. */
export function removeWholeBlocks(
  connection: Connection,
  { chain, intervals }: { chain: number; intervals: readonly Interval[] },
  place: RunPlace,
  budget: Budget,
  onRemoved: OnRemoved,
): RunPlace | undefined {
  const of = {
    chain,
    from: Math.min(...intervals.map(({ from }) => from)),
    to: Math.max(...intervals.map(({ to }) => to)),
  }
  const isWanted = (run: Interval): boolean => intervals.some(({ from, to }) => run.from <= to && run.to >= from)
  const remove = removing(block => intervals.some(({ from, to }) => block >= from && block <= to), onRemoved)
  return changeRuns(connection, transferView, { of, isWanted }, remove, place, budget)
}

function removing(isOf: (block: number) => boolean, onRemoved: OnRemoved): Change {
  return (key, payload) => {
    if (!isOf(blockOfKey(key))) return undefined
    onRemoved({ contract: contractOfKey(key), ...positionOfKey(key), payload: payload.slice() })
    return null
  }
}

/** Of one contract; a pack has more. */
const rowsPerPack = 16

/** The same for one contract, from some packs of one run that has any. */
export function removeSomeTransfers(
  connection: Connection,
  { contract, ...place }: OfChain & { contract: number },
  rowsMax: number,
  onRemoved: OnRemoved,
): void {
  const { from, to: last } = spanOfBlocks(contract, place)
  for (const run of runsOf(connection, transferView, place)) {
    if (!hasMember(membersOf(connection, run.id), contract)) continue
    const cursor = cursorAt(connection, transferView, run.id, from)
    if (cursor === undefined || compareKeys(cursor.reader.key, last) > 0) continue
    const beyond = 'SELECT key FROM pack_keys WHERE run = ? AND key > ? AND key < ? ORDER BY key LIMIT 1 OFFSET ?'
    const [to = last] = connection.get(beyond, run.id, from, last, Math.ceil(rowsMax / rowsPerPack)) ?? []
    const remove = (key: Uint8Array, payload: Uint8Array): null => {
      onRemoved({ contract, ...positionOfKey(key), payload: payload.slice() })
      return null
    }
    changeRun(connection, transferView, run.id, remove, { from, to: to as Uint8Array })
    return
  }
}

/** Deletes the counts of a contract. */
export function removeCounts(connection: Connection, chain: number, contract: number): void {
  const span = { from: totalKey(contract), to: countKey(contract, bucketMax) }
  for (const run of runsOf(connection, countView, { chain, from: 0, to: Infinity }))
    if (hasMember(membersOf(connection, run.id), contract)) changeRun(connection, countView, run.id, () => null, span)
}

/** Without those that a run has. Rows of whole blocks come first as a rule, so there is seldom a run to look into. */
export function withoutStored(connection: Connection, chain: number, rowsByContract: RowsByContract): RowsByContract {
  let [from, to] = [Infinity, -Infinity]
  for (const rows of rowsByContract.values())
    for (const { block } of rows) {
      from = Math.min(from, block)
      to = Math.max(to, block)
    }
  const runs = runsOf(connection, transferView, { chain, from, to })
  if (runs.length === 0) return rowsByContract
  const members = runs.map(run => membersOf(connection, run.id))
  const left: RowsByContract = new Map()
  for (const [contract, rows] of rowsByContract) {
    const having = runs.filter((_, at) => hasMember(members[at]!, contract))
    const stored = new Set(having.flatMap(run => keysIn(connection, run, contract, { from, to })))
    const missing = rows.filter(row => !stored.has(textOf(transferKey(contract, row))))
    if (missing.length > 0) left.set(contract, missing)
  }
  return left
}

function keysIn(connection: Connection, run: Run, contract: number, { from, to }: Interval): string[] {
  const cursor = cursorAt(connection, transferView, run.id, spanOfBlocks(contract, { from, to }).from)
  const keys: string[] = []
  if (cursor === undefined) return keys
  const { reader } = cursor
  do {
    if (contractOfKey(reader.key) !== contract || blockOfKey(reader.key) < from) break
    keys.push(textOf(reader.key))
  } while (cursor.step())
  return keys
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}
