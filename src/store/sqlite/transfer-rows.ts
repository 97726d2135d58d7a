// Writing transfers, cold and hot, and the kept counts of the cold ones. The rows of whole blocks that come in bulk go
// into runs, all others into tables. Callers hold the transaction.
import type { SQLInputValue } from 'node:sqlite'
import type { Interval } from '../../model.ts'
import { bucketOf } from '../runs/count-view.ts'
import { bucketBlocks } from '../schema.ts'
import { idCountOf, payloadFlags } from '../transfer-payload.ts'
import type { Connection, Row } from './connection.ts'
import { addRow, markRanges, newestFirst, type PlacedRow, type RowsByContract } from './placed-rows.ts'
import { addTransferRun, fitsRuns, removeTransfers, withoutStored } from './runs/transfer-runs.ts'

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

/**
 * Rows of whole blocks, of which nothing is stored: `makeRoom` saw to that. Returns how many there are.
 */
export function insertWhole(
  connection: Connection,
  ordinal: number,
  interval: Interval,
  rowsByContract: RowsByContract,
): number {
  return fitsRuns(rowsByContract)
    ? addTransferRun(connection, { chain: ordinal, ...interval }, rowsByContract)
    : insertIntoTable(connection, rowsByContract)
}

/** Returns how many rows were new. Stored ones are left alone and not counted again. */
export function insertCold(connection: Connection, ordinal: number, rowsByContract: RowsByContract): number {
  return insertIntoTable(connection, withoutStored(connection, ordinal, rowsByContract))
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

/** Deletes cold rows of one contract or of a whole chain, and subtracts them from the counts. */
export function deleteCold(
  connection: Connection,
  of: { contract: number } | { ordinal: number },
  { from, to }: Interval,
): void {
  const whose = 'contract' in of ? 'contract = ?' : 'contract IN (SELECT id FROM contracts WHERE chain = ?)'
  const within = 'AND block BETWEEN ? AND ?'
  const bucket = `block / ${bucketBlocks}`
  const counted = `SELECT contract, ${bucket}, count(*) FROM transfers WHERE ${whose} ${within} GROUP BY 1, 2`
  const rows = connection.all(counted, 'contract' in of ? of.contract : of.ordinal, from, to)
  for (const [contract, at, count] of rows)
    addToCounts(connection, contract as number, at as number, -(count as number))
  // A chain has many contracts and a range rows of few: only theirs are looked at again.
  for (const contract of new Set(rows.map(([contract]) => contract as number))) {
    const where = `FROM transfers WHERE contract = ? ${within}`
    const ranges = connection.all(`SELECT ${bucket}, payload ${where} AND ${isRangeSql}`, contract, from, to)
    for (const [at, payload] of ranges)
      addToCounts(connection, contract, at as number, 1 - idCountOf(payload as Uint8Array))
    connection.run('DELETE FROM transfer_counts WHERE contract = ? AND transfers = 0', contract)
    connection.run(`DELETE ${where}`, contract, from, to)
  }
  deleteFromRuns(connection, of, { from, to })
}

/** The counts of runs stay: what is gone is subtracted beside them. */
function deleteFromRuns(
  connection: Connection,
  of: { contract: number } | { ordinal: number },
  interval: Interval,
): void {
  const chain =
    'ordinal' in of
      ? of.ordinal
      : ((connection.get('SELECT chain FROM contracts WHERE id = ?', of.contract) as Row)[0] as number)
  const removed = new Map<number, Map<number, number>>()
  const place = { ...interval, chain, ...('contract' in of ? of : {}) }
  removeTransfers(connection, place, (contract, block, payload) => {
    const counts = removed.get(contract) ?? new Map<number, number>()
    removed.set(contract, counts)
    const bucket = bucketOf(block)
    counts.set(bucket, (counts.get(bucket) ?? 0) + idCountOf(payload))
  })
  for (const [contract, counts] of removed)
    for (const [bucket, count] of counts) addToCounts(connection, contract, bucket, -count)
}

export function insertHot(connection: Connection, ordinal: number, rowsByContract: RowsByContract): void {
  const insert = connection.prepare('INSERT OR IGNORE INTO hot_transfers VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const [contract, rows] of rowsByContract)
    for (const { block, transactionIndex, logIndex, batchIndex, payload } of rows) {
      insert.run(contract, block, transactionIndex, logIndex, batchIndex, payload, ordinal)
      if (idCountOf(payload) !== 1) markRanges(connection, contract)
    }
}

export function dropHotAbove(connection: Connection, ordinal: number, block: number): void {
  connection.run('DELETE FROM hot_transfers WHERE chain = ? AND block > ?', ordinal, block)
}

export function moveTransfersToCold(connection: Connection, ordinal: number, upTo: number): void {
  const rows = connection.all(
    'SELECT contract, block, tx, log, pos, payload FROM hot_transfers WHERE chain = ? AND block <= ?',
    ordinal,
    upTo,
  )
  const rowsByContract: RowsByContract = new Map()
  for (const [contract, block, tx, log, pos, payload] of rows)
    addRow(rowsByContract, contract as number, {
      block: block as number,
      transactionIndex: tx as number,
      logIndex: log as number,
      batchIndex: pos as number,
      payload: payload as Uint8Array,
    })
  insertCold(connection, ordinal, rowsByContract)
  connection.run('DELETE FROM hot_transfers WHERE chain = ? AND block <= ?', ordinal, upTo)
}
