// Writing transfers, cold and hot, and the kept counts of the cold ones. The rows of whole blocks that come in bulk go
// into runs, all others into tables. Callers hold the transaction.
import type { SQLInputValue } from 'node:sqlite'
import { isCovered } from '../../coverage.ts'
import type { Interval } from '../../model.ts'
import { bucketOf } from '../runs/count-view.ts'
import type { StoredTransfer } from '../runs/view.ts'
import { bucketBlocks } from '../schema.ts'
import { idCountOf, payloadFlags } from '../transfer-payload.ts'
import type { Connection } from './connection.ts'
import { addIndexRecords, addIndexRuns, removeIndexRecords } from './indexes/index-rows.ts'
import { countChange, liveIndexes } from './indexes/kept-indexes.ts'
import {
  addRow,
  markRanges,
  newestFirst,
  type PlacedRow,
  type RowsByContract,
  rowColumns,
  storedTransfer,
} from './placed-rows.ts'
import { type Budget, firstPlace, type RunPlace } from './runs/runs.ts'
import {
  addTransferRun,
  fitsRuns,
  type OnRemoved,
  removeSomeTransfers,
  removeWholeBlocks,
  withoutStored,
} from './runs/transfer-runs.ts'
import type { RowContext } from './store-file.ts'

/** Rows inserted by one statement: 1.4 times as fast as one by one, and more gives little. */
const rowsPerInsert = 8
const valuesPerRow = 6

const insertOne = 'INSERT OR IGNORE INTO transfers VALUES (?, ?, ?, ?, ?, ?)'
const insertMany = `${insertOne}${', (?, ?, ?, ?, ?, ?)'.repeat(rowsPerInsert - 1)}`

/**
 * The payload's flags have `range`. SQLite cannot read bits of a blob, but compares bytes: one stretch for each pair of
 * higher bits.
 */
export const isRangeSql = `(${[0x00, 0x40, 0x80, 0xc0]
  .map(higher => higher | payloadFlags.range)
  .map(first => `substr(payload, 1, 1) BETWEEN x'${first.toString(16)}' AND x'${(first + 0x1f).toString(16)}'`)
  .join(' OR ')})`

/** Rows of whole blocks, of which nothing is stored: `makeRoom` saw to that. Returns how many there are. */
export function insertWhole(
  context: RowContext,
  ordinal: number,
  interval: Interval,
  rowsByContract: RowsByContract,
): number {
  if (!fitsRuns(rowsByContract)) return insertCold(context, ordinal, rowsByContract)
  const { connection } = context
  const place = { chain: ordinal, ...interval }
  const views = liveIndexes(connection, ordinal)
  if (views.length > 0) addIndexRuns(connection, place, views, [...distinct(rowsByContract)])
  return addTransferRun(connection, place, rowsByContract)
}

/** Returns how many rows were new. Stored ones are left alone and not counted again. */
export function insertCold(context: RowContext, ordinal: number, rowsByContract: RowsByContract): number {
  const { connection } = context
  const missing = withoutStored(connection, ordinal, rowsByContract)
  const views = liveIndexes(connection, ordinal)
  if (views.length > 0) {
    const added = distinct(missing).filter(row => !isInTable(connection, row))
    addIndexRecords(context, ordinal, views, [...added])
  }
  return insertIntoTable(connection, missing)
}

/** A commit may name a place twice: the first counts. */
function* distinct(rowsByContract: RowsByContract): Generator<StoredTransfer> {
  for (const [contract, rows] of rowsByContract) {
    let before: PlacedRow | undefined
    for (const row of rows.sort(newestFirst)) {
      if (before !== undefined && newestFirst(before, row) === 0) continue
      before = row
      const { block, transactionIndex, logIndex, batchIndex, payload } = row
      yield { contract, block, transactionIndex, logIndex, batchIndex, payload }
    }
  }
}

function isInTable(connection: Connection, row: StoredTransfer): boolean {
  const find = 'SELECT 1 FROM transfers WHERE (contract, block, tx, log, pos) = (?, ?, ?, ?, ?)'
  const place = [row.contract, row.block, row.transactionIndex, row.logIndex, row.batchIndex]
  return connection.get(find, ...place) !== undefined
}

function insertIntoTable(connection: Connection, rowsByContract: RowsByContract): number {
  let added = 0
  for (const contract of [...rowsByContract.keys()].sort((a, b) => a - b)) {
    const rows = (rowsByContract.get(contract) ?? []).sort(newestFirst)
    for (const bucketRows of splitByBucket(rows)) {
      const { rowCount, idCount } = insertBucket(connection, contract, bucketRows)
      if (rowCount > 0) addToCounts(connection, contract, bucketOf(bucketRows[0]!.block), idCount)
      added += rowCount
    }
  }
  return added
}

function splitByBucket(sorted: readonly PlacedRow[]): PlacedRow[][] {
  const parts: PlacedRow[][] = []
  let start = 0
  for (let at = 1; at <= sorted.length; at++) {
    const row = sorted[at]
    if (row !== undefined && bucketOf(row.block) === bucketOf(sorted[start]!.block)) continue
    parts.push(sorted.slice(start, at))
    start = at
  }
  return parts
}

/** Rows of one statement count alike, so its number of changes is enough; ranges go one by one. */
function insertBucket(
  connection: Connection,
  contract: number,
  rows: readonly PlacedRow[],
): { rowCount: number; idCount: number } {
  const added = { rowCount: 0, idCount: 0 }
  let waiting: SQLInputValue[] = []
  const insert = (sql: string, values: SQLInputValue[], idCount: number): void => {
    const changes = connection.run(sql, ...values)
    added.rowCount += changes
    added.idCount += changes * idCount
  }
  const insertWaiting = (): void => {
    if (waiting.length === valuesPerRow * rowsPerInsert) insert(insertMany, waiting, 1)
    else
      for (let at = 0; at < waiting.length; at += valuesPerRow)
        insert(insertOne, waiting.slice(at, at + valuesPerRow), 1)
    waiting = []
  }
  for (const { block, transactionIndex, logIndex, batchIndex, payload } of rows) {
    const idCount = idCountOf(payload)
    if (idCount === 1) {
      waiting.push(contract, block, transactionIndex, logIndex, batchIndex, payload)
      if (waiting.length === valuesPerRow * rowsPerInsert) insertWaiting()
      continue
    }
    insertWaiting()
    markRanges(connection, contract)
    insert(insertOne, [contract, block, transactionIndex, logIndex, batchIndex, payload], idCount)
  }
  insertWaiting()
  return added
}

function addToCounts(connection: Connection, contract: number, bucket: number, count: number): void {
  connection.run(
    'INSERT INTO transfer_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET transfers = transfers + excluded.transfers',
    contract,
    bucket,
    count,
  )
  connection.run('UPDATE contracts SET transfers = transfers + ? WHERE id = ?', count, contract)
}

/** Deletes cold rows of whole blocks, and subtracts them from the counts. */
export function deleteCold({ connection, cleared = [] }: RowContext, ordinal: number, interval: Interval): void {
  removing(connection, ordinal, removed => {
    deleteFromTable(connection, { ordinal, contract: undefined }, interval, removed)
    const of = { ordinal, intervals: [interval] }
    if (!isCovered(cleared, interval))
      deleteFromRuns(connection, of, { place: firstPlace, budget: { packs: Infinity } }, removed)
  })
}

/** Deletes cold rows of whole blocks from runs, as far as the budget goes. Returns where it goes on. */
export function deleteSomeFromRuns({ connection }: RowContext, of: WholeBlocks, step: WalkStep): RunPlace | undefined {
  let next: RunPlace | undefined
  removing(connection, of.ordinal, removed => {
    next = deleteFromRuns(connection, of, step, removed)
  })
  return next
}

type WholeBlocks = { ordinal: number; intervals: readonly Interval[] }
type WalkStep = { place: RunPlace; budget: Budget }
/** `transfers`: where an index has them. */
type Removed = { rows: number; transfers: StoredTransfer[] | undefined }

/** What goes takes its records of indexes along. Returns how many rows there were. */
function removing(connection: Connection, ordinal: number, remove: (removed: Removed) => void): number {
  const views = liveIndexes(connection, ordinal)
  const removed: Removed = { rows: 0, transfers: views.length === 0 ? undefined : [] }
  remove(removed)
  if (removed.transfers !== undefined) removeIndexRecords(connection, ordinal, views, removed.transfers)
  if (removed.rows > 0) countChange(connection, ordinal, 'takenBack')
  return removed.rows
}

export type OfContract = { ordinal: number; contract: number }

/** About `rowsMax` cold rows of one contract, the newest of the table first: a row of an index costs more to remove. */
export function deleteSome(context: RowContext, of: OfContract, interval: Interval, rowsMax: number): SomeDeleted {
  const inTable = deleteSomeFromTable(context, of, interval, rowsMax)
  if (inTable.isMore) return inTable
  const inRuns = deleteSomeOfContract(context, of, interval, rowsMax)
  return { rows: inTable.rows + inRuns, isMore: inRuns > 0 }
}

export type SomeDeleted = { rows: number; isMore: boolean }

/** Whole blocks. */
export function deleteSomeFromTable(
  { connection }: RowContext,
  of: OfContract,
  { from, to }: Interval,
  rowsMax: number,
): SomeDeleted {
  const find =
    'SELECT block FROM transfers WHERE contract = ? AND block BETWEEN ? AND ? ORDER BY block DESC LIMIT 1 OFFSET ?'
  const [lowest = from] = connection.get(find, of.contract, from, to, rowsMax) ?? []
  const rows = removing(connection, of.ordinal, removed =>
    deleteFromTable(connection, of, { from: lowest as number, to }, removed),
  )
  return { rows, isMore: (lowest as number) > from }
}

/** From one run that has any; 0 where none has. */
export function deleteSomeOfContract(
  { connection }: RowContext,
  { ordinal, contract }: OfContract,
  interval: Interval,
  rowsMax: number,
): number {
  return removing(connection, ordinal, removed =>
    subtracting(connection, removed, onRemoved =>
      removeSomeTransfers(connection, { chain: ordinal, contract, ...interval }, rowsMax, onRemoved),
    ),
  )
}

type Whose = { ordinal: number; contract: number | undefined }

function deleteFromTable(connection: Connection, of: Whose, { from, to }: Interval, removed: Removed): void {
  const within = 'AND block BETWEEN ? AND ?'
  const bucket = `block / ${bucketBlocks}`
  const counted = `SELECT contract, ${bucket}, count(*) FROM transfers WHERE contract = ? ${within} GROUP BY 2`
  const contracts = of.contract === undefined ? contractsInTable(connection, of.ordinal) : [of.contract]
  const rows = contracts.flatMap(contract => connection.all(counted, contract, from, to))
  for (const [contract, at, count] of rows)
    addToCounts(connection, contract as number, at as number, -(count as number))
  // A chain has many contracts and a range rows of few: only theirs are looked at again.
  for (const contract of new Set(rows.map(([contract]) => contract as number))) {
    const where = `FROM transfers WHERE contract = ? ${within}`
    const ranges = connection.all(`SELECT ${bucket}, payload ${where} AND ${isRangeSql}`, contract, from, to)
    for (const [at, payload] of ranges)
      addToCounts(connection, contract, at as number, 1 - idCountOf(payload as Uint8Array))
    connection.run('DELETE FROM transfer_counts WHERE contract = ? AND transfers = 0', contract)
    if (removed.transfers !== undefined)
      for (const row of connection.all(`SELECT ${rowColumns} ${where}`, contract, from, to))
        removed.transfers.push(storedTransfer(row))
    removed.rows += connection.run(`DELETE ${where}`, contract, from, to)
  }
}

// A chain may have a million contracts, and this table rows of few: it leaps from one to the next.
const leap = `WITH RECURSIVE found (contract) AS (SELECT min(contract) FROM transfers
  UNION ALL SELECT (SELECT min(contract) FROM transfers WHERE contract > found.contract) FROM found
  WHERE found.contract IS NOT NULL)
  SELECT found.contract FROM found CROSS JOIN contracts ON id = found.contract WHERE chain = ?`

function contractsInTable(connection: Connection, ordinal: number): number[] {
  return connection.all(leap, ordinal).map(([contract]) => contract as number)
}

function deleteFromRuns(
  connection: Connection,
  { ordinal, intervals }: WholeBlocks,
  { place, budget }: WalkStep,
  removed: Removed,
): RunPlace | undefined {
  let next: RunPlace | undefined
  subtracting(connection, removed, onRemoved => {
    next = removeWholeBlocks(connection, { chain: ordinal, intervals }, place, budget, transfer => {
      onRemoved(transfer)
      // Its records are in packs of their own.
      if (removed.transfers !== undefined) budget.packs--
    })
  })
  return next
}

/** The counts of runs stay: what is gone is subtracted beside them. */
function subtracting(connection: Connection, removed: Removed, remove: (onRemoved: OnRemoved) => void): void {
  const byContract = new Map<number, Map<number, number>>()
  remove(transfer => {
    removed.rows++
    removed.transfers?.push(transfer)
    const counts = byContract.get(transfer.contract) ?? new Map<number, number>()
    byContract.set(transfer.contract, counts)
    const bucket = bucketOf(transfer.block)
    counts.set(bucket, (counts.get(bucket) ?? 0) + idCountOf(transfer.payload))
  })
  for (const [contract, counts] of byContract)
    for (const [bucket, count] of counts) addToCounts(connection, contract, bucket, -count)
}

export function insertHot(context: RowContext, ordinal: number, rowsByContract: RowsByContract): void {
  const { connection } = context
  const views = liveIndexes(connection, ordinal)
  const added: StoredTransfer[] = []
  const insert = connection.prepare('INSERT OR IGNORE INTO hot_transfers VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const [contract, rows] of rowsByContract)
    for (const { block, transactionIndex, logIndex, batchIndex, payload } of rows) {
      const { changes } = insert.run(contract, block, transactionIndex, logIndex, batchIndex, payload, ordinal)
      if (changes === 0) continue
      if (idCountOf(payload) !== 1) markRanges(connection, contract)
      added.push({ contract, block, transactionIndex, logIndex, batchIndex, payload })
    }
  addIndexRecords(context, ordinal, views, added)
}

export function dropHotAbove(connection: Connection, ordinal: number, block: number): void {
  dropHot(connection, ordinal, 'chain = ? AND block > ?', [ordinal, block])
}

/** Returns how many there were. */
export function dropHotOf(connection: Connection, ordinal: number, contract: number): number {
  return dropHot(connection, ordinal, 'contract = ?', [contract])
}

function dropHot(connection: Connection, ordinal: number, where: string, values: readonly number[]): number {
  const views = liveIndexes(connection, ordinal)
  const find = `SELECT ${rowColumns} FROM hot_transfers WHERE ${where}`
  const rows = views.length === 0 ? [] : connection.all(find, ...values).map(storedTransfer)
  removeIndexRecords(connection, ordinal, views, rows)
  return connection.run(`DELETE FROM hot_transfers WHERE ${where}`, ...values)
}

/** Their records of indexes are there already. */
export function moveTransfersToCold({ connection }: RowContext, ordinal: number, upTo: number): void {
  const where = 'FROM hot_transfers WHERE chain = ? AND block <= ?'
  const rowsByContract: RowsByContract = new Map()
  for (const row of connection.all(`SELECT ${rowColumns} ${where}`, ordinal, upTo)) {
    const { contract, ...placed } = storedTransfer(row)
    addRow(rowsByContract, contract, placed)
  }
  insertIntoTable(connection, withoutStored(connection, ordinal, rowsByContract))
  connection.run(`DELETE ${where}`, ordinal, upTo)
}
