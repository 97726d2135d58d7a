// All cold activity in the order of addresses and chains, from the table and the runs together. It reads every wallet:
// for checks and copies.
import { activityView, refsOf } from '../../runs/activity-view.ts'
import { joinSorted } from '../../runs/join-sorted.ts'
import type { Connection } from '../connection.ts'
import { records, runsOf } from './runs.ts'

export type ColdActivity = { address: Uint8Array; ordinal: number; first: Uint8Array; last: Uint8Array | null }

type Place = Pick<ColdActivity, 'address' | 'ordinal'>

const rowsPerRead = 1_000

/** After an address; of one chain, or of all where `ordinal` is not given and then after the place of a row. */
export function coldActivityAfter(
  read: Connection,
  { address, ordinal, afterOrdinal = Infinity }: { address: Uint8Array; ordinal?: number; afterOrdinal?: number },
): Generator<ColdActivity> {
  const start = { address, ordinal: afterOrdinal }
  const runs = runsOf(read, activityView).filter(run => ordinal === undefined || run.chain === ordinal)
  return joinSorted(
    [inTable(read, start, ordinal), ...runs.map(run => inRun(read, run, start))],
    comparePlaces,
    joinActivity,
  )
}

/** By the rule of the view. */
function joinActivity(a: ColdActivity, b: ColdActivity): ColdActivity {
  const [left, right] = [a, b].map(({ first, last }) => Buffer.concat(last === null ? [first] : [first, last]))
  const value = new Uint8Array(left!.length + right!.length)
  const length = activityView.combine(value, left!, left!.length, right!, right!.length)
  return { ...a, ...refsOf(value.subarray(0, length)) }
}

function comparePlaces(a: Place, b: Place): number {
  return Buffer.compare(a.address, b.address) || a.ordinal - b.ordinal
}

function* inTable(read: Connection, start: Place, ordinal: number | undefined): Generator<ColdActivity> {
  const ofChain = ordinal === undefined ? '' : 'AND chain = ?4'
  const sql = `SELECT address, chain, first, last FROM activity WHERE (address, chain) > (?1, ?2) ${ofChain}
    ORDER BY address, chain LIMIT ?3`
  let after = start
  while (true) {
    const of = ordinal === undefined ? [] : [ordinal]
    const rows = read.all(sql, after.address, after.ordinal, rowsPerRead, ...of) as [
      Uint8Array,
      number,
      Uint8Array,
      Uint8Array | null,
    ][]
    for (const [address, chain, first, last] of rows) yield { address, ordinal: chain, first, last }
    if (rows.length < rowsPerRead) return
    after = { address: rows.at(-1)![0], ordinal: rows.at(-1)![1] }
  }
}

function* inRun(read: Connection, run: { id: number; chain: number }, start: Place): Generator<ColdActivity> {
  const from = new Uint8Array(activityView.keyBytes)
  from.set(start.address)
  for (const { key, value } of records(read, activityView, run.id, from)) {
    const row = { address: key, ordinal: run.chain, ...refsOf(value) }
    if (comparePlaces(row, start) > 0) yield row
  }
}
