// All cold activity in the order of addresses and chains, from the table and the runs together. It reads every wallet:
// for checks and copies.
import { activityView, refsOf } from '../../runs/activity-view.ts'
import type { Connection } from '../connection.ts'
import { cursorAt, wholeRuns } from './runs.ts'

export type ColdActivity = { address: Uint8Array; ordinal: number; first: Uint8Array; last: Uint8Array | null }

type Source = Iterator<ColdActivity> & { now: ColdActivity }

const rowsPerRead = 1_000

/** After an address; of one chain, or of all where `ordinal` is not given and then after the place of a row. */
export function* coldActivityAfter(
  read: Connection,
  { address, ordinal, afterOrdinal = Infinity }: { address: Uint8Array; ordinal?: number; afterOrdinal?: number },
): Generator<ColdActivity> {
  const start = { address, ordinal: afterOrdinal }
  const runs = wholeRuns(read, activityView).filter(run => ordinal === undefined || run.chain === ordinal)
  const iterators = [inTable(read, start, ordinal), ...runs.map(run => inRun(read, run, start))]
  const sources: Source[] = []
  const advance = (iterator: Iterator<ColdActivity>): Source | undefined => {
    const { value, done } = iterator.next()
    return done === true ? undefined : Object.assign(iterator, { now: value as ColdActivity })
  }
  for (const iterator of iterators) {
    const source = advance(iterator)
    if (source !== undefined) sources.push(source)
  }
  while (sources.length > 0) {
    let least = sources[0]!.now
    for (const { now } of sources) if (order(now, least) < 0) least = now
    let { first, last } = least
    for (let at = sources.length - 1; at >= 0; at--) {
      const { now } = sources[at]!
      if (order(now, least) !== 0) continue
      const [low, high] = [last ?? first, now.last ?? now.first]
      const greatest = Buffer.compare(low, high) >= 0 ? low : high
      if (Buffer.compare(now.first, first) < 0) first = now.first
      last = Buffer.compare(first, greatest) === 0 ? null : greatest
      if (advance(sources[at]!) === undefined) sources.splice(at, 1)
    }
    yield { address: least.address, ordinal: least.ordinal, first, last }
  }
}

type Place = Pick<ColdActivity, 'address' | 'ordinal'>

function order(a: Place, b: Place): number {
  return Buffer.compare(a.address, b.address) || a.ordinal - b.ordinal
}

function* inTable(read: Connection, start: Place, ordinal: number | undefined): Generator<ColdActivity> {
  const ofChain = ordinal === undefined ? '' : 'AND chain = ?4'
  const sql = `SELECT address, chain, first, last FROM activity WHERE (address, chain) > (?1, ?2) ${ofChain}
    ORDER BY address, chain LIMIT ?3`
  const beyond = ordinal === undefined ? [] : [ordinal]
  for (let after = start; ; ) {
    const place = [after.address, Number.isFinite(after.ordinal) ? after.ordinal : 2 ** 40]
    const rows = read.all(sql, ...place, rowsPerRead, ...beyond) as [
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
  const cursor = cursorAt(read, activityView, run.id, from)
  if (cursor === undefined) return
  const { reader } = cursor
  do {
    const row = {
      address: reader.key.slice(),
      ordinal: run.chain,
      ...refsOf(reader.value.slice(0, reader.valueLength)),
    }
    if (order(row, start) > 0) yield row
  } while (cursor.step())
}
