// First and last transactions of addresses, cold and hot. Merging takes the smaller and the larger of packed
// transactions, so repeats and any order of commits give the same rows. What comes in bulk is kept in runs, because a
// table would have a page to write for nearly every wallet; the rest in a table. Callers hold the transaction.

import { bytesOfHex, hexOf } from '../../hex.ts'
import type { ActivityRow, Address, ChainId, Interval } from '../../model.ts'
import {
  activityByChain,
  activityRow,
  blockRefs,
  firstRefOf,
  mergePacked,
  type PackedActivity,
  refBytes,
  rowAt,
  rowBytes,
} from '../packed-activity.ts'
import { activityView, refsOf, writeActivity } from '../runs/activity-view.ts'
import type { ActivityReader } from '../store.ts'
import type { Connection } from './connection.ts'
import { coldActivityAfter } from './runs/cold-activity.ts'
import { KnownRuns } from './runs/known-runs.ts'
import {
  addRun,
  type Budget,
  changeRuns,
  firstPlace,
  type Run,
  type RunPlace,
  removeKey,
  runsOf,
  valueIn,
} from './runs/runs.ts'
import type { StoreFile } from './store-file.ts'

const everyBlock: Interval = { from: 0, to: Infinity }

const find = `SELECT id, first, last FROM activity JOIN chains ON chain = ordinal WHERE address = ?
  UNION ALL SELECT id, first, last FROM hot_activity JOIN chains ON chain = ordinal WHERE address = ?`

type Stored = { chain: ChainId; first: Uint8Array; last: Uint8Array | null }

export function activityReader(file: StoreFile): ActivityReader {
  const runs = new KnownRuns(activityView)
  return {
    async activityOf(address) {
      const bytes = bytesOfHex(address)
      const stored = file.reading(read => read.snapshot(() => [...inTables(read, bytes), ...inRuns(read, runs, bytes)]))
      return activityByChain(address, stored)
    },
    async activityWithin(chain, interval, { after, limit }) {
      return file.ofChain(chain, [], (read, ordinal) =>
        read.snapshot(() => {
          const { from, end } = blockRefs(interval)
          const isWithin = (ref: Uint8Array | null): boolean =>
            ref !== null && Buffer.compare(ref, from) >= 0 && Buffer.compare(ref, end) < 0
          const found: ActivityRow[] = []
          for (const { address, first, last } of coldActivityAfter(read, {
            address: bytesOfHex(after ?? '0x'),
            ordinal,
          }))
            if (isWithin(first) || isWithin(last)) {
              found.push(activityRow(hexOf<Address>(address), first, last))
              if (found.length === limit) break
            }
          return found
        }),
      )
    },
  }
}

function inTables(read: Connection, address: Uint8Array): Stored[] {
  const rows = read.all(find, address, address) as [ChainId, Uint8Array, Uint8Array | null][]
  return rows.map(([chain, first, last]) => ({ chain, first, last }))
}

function inRuns(read: Connection, runs: KnownRuns, address: Uint8Array): Stored[] {
  return runs.all(read).flatMap(({ id, chainId }) => {
    const value = valueIn(read, activityView, id, address)
    return value === undefined ? [] : [{ chain: chainId, ...refsOf(value) }]
  })
}

/** Rows merged by one statement, cut from one value: binding values costs as much as finding the rows. */
const rowsPerStatement = 32

// The WHERE keeps a repeat from counting as a change. `last` is NULL where it equals `first`, as for most wallets.
const keepFirstAndLast = `ON CONFLICT DO UPDATE SET
  first = min(first, excluded.first),
  last = nullif(max(coalesce(last, first), coalesce(excluded.last, excluded.first)), min(first, excluded.first))
  WHERE excluded.first < first OR coalesce(excluded.last, excluded.first) > coalesce(last, first)`

/** ?1 holds the rows, ?2 is the chain; `place` is what follows it, before the transactions. */
function mergeSql(table: string, place: string, rows: number): string {
  const values = Array.from({ length: rows }, (_, row) => {
    const part = (at: number, length: number): string => `substr(?1, ${1 + row * rowBytes + at}, ${length})`
    const [first, last] = [part(rowAt.first, refBytes), part(rowAt.last, refBytes)]
    return `(${part(rowAt.address, rowAt.first)}, ?2${place}, ${first}, nullif(${last}, ${first}))`
  })
  return `INSERT INTO ${table} VALUES ${values.join()} ${keepFirstAndLast}`
}

const coldSql = { one: mergeSql('activity', '', 1), many: mergeSql('activity', '', rowsPerStatement) }
const hotSql = { one: mergeSql('hot_activity', ', ?3', 1), many: mergeSql('hot_activity', ', ?3', rowsPerStatement) }

export function mergeCold(connection: Connection, ordinal: number, rows: PackedActivity): void {
  merge(connection, coldSql, rows, ordinal)
}

/** Of whole blocks. */
export function addActivityRun(connection: Connection, ordinal: number, blocks: Interval, rows: PackedActivity): void {
  addRun(connection, activityView, { chain: ordinal, ...blocks }, writer => writeActivity(rows, () => writer))
}

export function mergeHot(connection: Connection, ordinal: number, block: number, rows: PackedActivity): void {
  merge(connection, hotSql, rows, ordinal, block)
}

function merge(
  connection: Connection,
  sql: { one: string; many: string },
  given: PackedActivity,
  ...place: number[]
): void {
  const rows = mergePacked(given)
  const [one, many] = [connection.prepare(sql.one), connection.prepare(sql.many)]
  const step = rowsPerStatement * rowBytes
  let at = 0
  for (; at + step <= rows.length; at += step) many.run(rows.subarray(at, at + step), ...place)
  for (; at < rows.length; at += rowBytes) one.run(rows.subarray(at, at + rowBytes), ...place)
}

export function dropActivity(connection: Connection, ordinal: number, wallets: readonly Address[]): void {
  const runs = runsOf(connection, activityView, { chain: ordinal, ...everyBlock })
  for (const wallet of wallets) {
    const address = bytesOfHex(wallet)
    connection.run('DELETE FROM activity WHERE address = ? AND chain = ?', address, ordinal)
    for (const { id } of runs) removeKey(connection, activityView, id, address)
  }
}

export function dropHotAbove(connection: Connection, ordinal: number, block: number): void {
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block > ?', ordinal, block)
}

/** Rows of the table that are looked at where a pack could be opened. */
const rowsPerPack = 16

/**
 * A wallet with a transaction above keeps its first one alone: what lies between was not kept, and what runs still have
 * of it depends on how far they are merged. The table comes first, then the runs (`changeRuns`). Returns where the next
 * step goes on.
 */
export function dropSomeAbove(
  connection: Connection,
  ordinal: number,
  block: number,
  { place, budget }: { place: RunPlace; budget: Budget },
): RunPlace | undefined {
  const above = firstRefOf(block + 1)
  const runs = runsOf(connection, activityView, { chain: ordinal, ...everyBlock })
  const found = new Map<string, Uint8Array>()
  const note = (address: Uint8Array): void => {
    found.set(Buffer.from(address).toString('latin1'), address.slice())
    budget.packs -= runs.length
  }
  const isInTable = place.run === firstPlace.run
  const next = isInTable
    ? noteInTable(connection, { ordinal, above, after: place.key }, budget, note)
    : changeRuns(
        connection,
        activityView,
        { of: { chain: ordinal, from: block + 1, to: Infinity } },
        (address, value) => {
          const { first, last } = refsOf(value)
          if (Buffer.compare(last ?? first, above) >= 0) note(address)
          return undefined
        },
        place,
        budget,
      )
  for (const address of found.values()) keepFirstBelow(connection, { ordinal, address, above }, runs)
  return next
}

type InTable = { ordinal: number; above: Uint8Array; after: Uint8Array }

function noteInTable(
  connection: Connection,
  { ordinal, above, after }: InTable,
  budget: Budget,
  note: (address: Uint8Array) => void,
): RunPlace {
  const rows = Math.min(budget.packs * rowsPerPack, 2 ** 31)
  const beyond = 'SELECT address FROM activity WHERE address > ? ORDER BY address LIMIT 1 OFFSET ?'
  const [end] = connection.get(beyond, after, rows) ?? []
  const wallets = `SELECT address FROM activity WHERE chain = ? AND coalesce(last, first) >= ? AND address > ?
    ${end === undefined ? '' : 'AND address <= ?'} ORDER BY address`
  const values = [ordinal, above, after, ...(end === undefined ? [] : [end])]
  for (const [address] of connection.all(wallets, ...values) as [Uint8Array][]) {
    if (budget.packs <= 0) return { run: firstPlace.run, key: after }
    note(address)
    after = address
  }
  return end === undefined ? { run: 1, key: firstPlace.key } : { run: firstPlace.run, key: end as Uint8Array }
}

function keepFirstBelow(
  connection: Connection,
  { ordinal, address, above }: { ordinal: number; address: Uint8Array; above: Uint8Array },
  runs: readonly Run[],
): void {
  const dropRow = 'DELETE FROM activity WHERE chain = ? AND address = ? RETURNING first'
  const firsts = connection.all(dropRow, ordinal, address).map(([first]) => first as Uint8Array)
  for (const { id } of runs) {
    const value = valueIn(connection, activityView, id, address)
    if (value === undefined) continue
    firsts.push(refsOf(value).first)
    removeKey(connection, activityView, id, address)
  }
  const [first] = firsts.sort(Buffer.compare)
  if (first !== undefined && Buffer.compare(first, above) < 0)
    connection.run('INSERT INTO activity VALUES (?, ?, ?, NULL)', address, ordinal, first)
}

export function moveActivityToCold(connection: Connection, ordinal: number, upTo: number): void {
  connection.run(
    `INSERT INTO activity SELECT address, chain, first, last FROM hot_activity WHERE chain = ? AND block <= ?
     ORDER BY address ${keepFirstAndLast}`,
    ordinal,
    upTo,
  )
  connection.run('DELETE FROM hot_activity WHERE chain = ? AND block <= ?', ordinal, upTo)
}
