// Views that follow from transfers: kept as transfers come and go, switched on later, and filled from stored rows
// meanwhile. Rows in bulk become runs; the records of few rows are kept in a table. Callers hold the transaction.
import { DerivedRecords } from '../../runs/derived-records.ts'
import { joinSorted } from '../../runs/join-sorted.ts'
import { compareKeys, valueBytesMax } from '../../runs/pack.ts'
import { contractOfKey, positionOfKey, transferKey, transferView } from '../../runs/transfer-view.ts'
import type { DerivedView, StoredTransfer } from '../../runs/view.ts'
import type { Connection, Row } from '../connection.ts'
import type { RowContext } from '../store-file.ts'
import { coldTransfersAfter } from './cold-transfers.ts'
import { addRun, dropRun, type KeptRecord, records, removeKey, runsOf, valueIn } from './runs.ts'

/** Numbers of contracts begin at 1. */
const beforeAll = new Uint8Array(transferView.keyBytes)
const everyBlock = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Where filling stands: the transfers up to this key are in the view. Null: all are. */
type Fill = { view: DerivedView; reached: Uint8Array | null }

/** The views that a chain keeps, or fills. */
function fillsOf(connection: Connection, known: readonly DerivedView[], chain: number): Fill[] {
  if (known.length === 0) return []
  const rows = connection.all('SELECT view, reached FROM view_fills WHERE chain = ?', chain)
  return rows.flatMap(([id, reached]) => {
    const view = known.find(each => each.id === id)
    return view === undefined ? [] : [{ view, reached: reached as Uint8Array | null }]
  })
}

export function keepsDerived({ connection, derivedViews }: RowContext, chain: number): boolean {
  return fillsOf(connection, derivedViews, chain).length > 0
}

/** Transfers that were not stored before. */
export function derive(
  { connection, derivedViews, bulkRows }: RowContext,
  chain: number,
  transfers: Iterable<StoredTransfer>,
): void {
  for (const { view, reached } of fillsOf(connection, derivedViews, chain)) {
    const added = new DerivedRecords(view)
    for (const transfer of transfers) if (isIn(transfer, reached)) added.add(transfer)
    store({ connection, bulkRows }, view, chain, added)
  }
}

/** After transfers were deleted: what they were part of is derived again from those that are left. */
export function deriveAgain(
  { connection, derivedViews, bulkRows }: RowContext,
  chain: number,
  deleted: readonly StoredTransfer[],
): void {
  for (const { view, reached } of fillsOf(connection, derivedViews, chain)) {
    const touched = dropTouched(connection, { view, reached }, chain, deleted)
    const again = new DerivedRecords(view)
    for (const contract of new Set(deleted.map(transfer => transfer.contract)))
      for (const transfer of transfersOf(connection, contract))
        if (isIn(transfer, reached)) again.add(transfer, touched)
    store({ connection, bulkRows }, view, chain, again)
  }
}

/** After transfers of contracts were deleted of which none is to stay. */
export function dropDerived(
  { connection, derivedViews }: RowContext,
  chain: number,
  deleted: readonly StoredTransfer[],
): void {
  for (const fill of fillsOf(connection, derivedViews, chain)) dropTouched(connection, fill, chain, deleted)
}

/** Deletes the records that transfers are part of. */
function dropTouched(
  connection: Connection,
  { view, reached }: Fill,
  chain: number,
  transfers: readonly StoredTransfer[],
): DerivedRecords {
  const touched = new DerivedRecords(view)
  for (const transfer of transfers) if (isIn(transfer, reached)) touched.add(transfer)
  for (const { key } of touched.sorted()) {
    connection.run('DELETE FROM view_records WHERE view = ? AND chain = ? AND key = ?', view.id, chain, key)
    for (const { id } of runsOf(connection, view, { chain, ...everyBlock })) removeKey(connection, view, id, key)
  }
  return touched
}

function isIn(transfer: StoredTransfer, reached: Uint8Array | null): boolean {
  return reached === null || compareKeys(transferKey(transfer.contract, transfer), reached) <= 0
}

function* transfersOf(connection: Connection, contract: number): Generator<StoredTransfer> {
  const newest = { block: Infinity, transactionIndex: Infinity, logIndex: Infinity, batchIndex: Infinity }
  for (const transfer of coldTransfersAfter(connection, { contract, ...newest })) {
    if (transfer.contract !== contract) return
    yield transfer
  }
}

function store(
  { connection, bulkRows }: Pick<RowContext, 'connection' | 'bulkRows'>,
  view: DerivedView,
  chain: number,
  added: DerivedRecords,
): void {
  const sorted = added.sorted()
  if (sorted.length >= bulkRows) {
    addRun(connection, view, { chain, ...everyBlock }, writer => {
      for (const { key, value } of sorted) writer.add(key, value, value.length)
    })
    return
  }
  const find = 'SELECT value FROM view_records WHERE view = ? AND chain = ? AND key = ?'
  const target = new Uint8Array(valueBytesMax)
  for (const { key, value } of sorted) {
    const known = connection.get(find, view.id, chain, key)?.[0] as Uint8Array | undefined
    const now =
      known === undefined ? value : target.subarray(0, view.combine(target, known, known.length, value, value.length))
    connection.run('INSERT OR REPLACE INTO view_records VALUES (?, ?, ?, ?)', view.id, chain, key, now)
  }
}

// Switching views on and off, and filling them.

/** Keeps a view from now on. What is stored is filled in by `fillStep`. */
export function keepView(connection: Connection, view: DerivedView, chain: number): void {
  connection.run('INSERT OR IGNORE INTO view_fills VALUES (?, ?, ?)', view.id, chain, beforeAll)
}

export function forgetView(connection: Connection, view: DerivedView, chain: number): void {
  connection.run('DELETE FROM view_fills WHERE view = ? AND chain = ?', view.id, chain)
  connection.run('DELETE FROM view_records WHERE view = ? AND chain = ?', view.id, chain)
  for (const { id } of runsOf(connection, view, { chain, ...everyBlock })) dropRun(connection, id)
}

/** All of a chain: whoever keeps one fills it again. Records in the table are the caller's to delete. */
export function emptyViews(connection: Connection, chain: number): void {
  connection.run('UPDATE view_fills SET reached = ? WHERE chain = ?', beforeAll, chain)
  connection.run(
    'DELETE FROM runs WHERE chain = ? AND view IN (SELECT view FROM view_fills WHERE chain = ?)',
    chain,
    chain,
  )
}

export function isFilled(connection: Connection, view: DerivedView, chain: number): boolean {
  const row = connection.get('SELECT reached FROM view_fills WHERE view = ? AND chain = ?', view.id, chain)
  return row !== undefined && row[0] === null
}

/** Takes up to `limit` stored transfers into the view. False where there is nothing left to fill. */
export function fillStep(
  { connection, bulkRows }: RowContext,
  view: DerivedView,
  chain: number,
  limit: number,
): boolean {
  const row = connection.get('SELECT reached FROM view_fills WHERE view = ? AND chain = ?', view.id, chain)
  if (row === undefined || row[0] === null) return false
  let reached: Uint8Array | null = row[0] as Uint8Array
  const place = { contract: contractOfKey(reached), ...positionOfKey(reached) }
  const taken = [...coldTransfersAfter(connection, place, chain).take(limit)]
  const added = new DerivedRecords(view)
  for (const transfer of taken) added.add(transfer)
  store({ connection, bulkRows }, view, chain, added)
  const last = taken.length < limit ? undefined : taken.at(-1)
  reached = last === undefined ? null : transferKey(last.contract, last)
  connection.run('UPDATE view_fills SET reached = ? WHERE view = ? AND chain = ?', reached, view.id, chain)
  return reached !== null
}

// Reading. Within one snapshot, as a merge moves records.

export function derivedValue(
  read: Connection,
  view: DerivedView,
  chain: number,
  key: Uint8Array,
): Uint8Array | undefined {
  const find = 'SELECT value FROM view_records WHERE view = ? AND chain = ? AND key = ?'
  const inTable = read.get(find, view.id, chain, key)?.[0] as Uint8Array | undefined
  const inRuns = runsOf(read, view, { chain, ...everyBlock }).map(({ id }) => valueIn(read, view, id, key))
  return [inTable, ...inRuns].reduce((a, b) => (a === undefined || b === undefined ? (a ?? b) : combined(view, a, b)))
}

/** From a key on, in the order of keys. */
export function derivedFrom(
  read: Connection,
  view: DerivedView,
  chain: number,
  key: Uint8Array,
): Generator<KeptRecord> {
  const runs = runsOf(read, view, { chain, ...everyBlock })
  return joinSorted(
    [inTable(read, view, chain, key), ...runs.map(({ id }) => records(read, view, id, key))],
    (a, b) => compareKeys(a.key, b.key),
    (a, b) => ({ key: a.key, value: combined(view, a.value, b.value) }),
  )
}

function* inTable(read: Connection, view: DerivedView, chain: number, from: Uint8Array): Generator<KeptRecord> {
  const sql = 'SELECT key, value FROM view_records WHERE view = ? AND chain = ? AND key >= ? ORDER BY key'
  for (const row of read.prepare(sql).iterate(view.id, chain, from) as Iterable<unknown>) {
    const [key, value] = row as Row
    yield { key: key as Uint8Array, value: value as Uint8Array }
  }
}

function combined(view: DerivedView, a: Uint8Array, b: Uint8Array): Uint8Array {
  const target = new Uint8Array(valueBytesMax)
  return target.slice(0, view.combine(target, a, a.length, b, b.length))
}
