// Writing transfers, cold and hot, and the kept counts of the cold ones. Callers hold the transaction.
import type { SQLInputValue } from 'node:sqlite'
import type { Interval, TransferRow } from '../../model.ts'
import { bucketBlocks } from '../schema.ts'
import { idCountOf, payloadFlags } from '../transfer-payload.ts'
import type { Connection } from './connection.ts'

/** By the number that the dictionary gave the contract. */
export type RowsByContract = Map<number, PlacedRow[]>
export type PlacedRow = Omit<TransferRow, 'contract'>

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

/** The physical order of the tables within a contract. Rows inserted in it are appended. */
function newestFirst(a: PlacedRow, b: PlacedRow): number {
  return (
    b.block - a.block ||
    b.transactionIndex - a.transactionIndex ||
    b.logIndex - a.logIndex ||
    b.batchIndex - a.batchIndex
  )
}

function bucketOf({ block }: PlacedRow): number {
  return Math.floor(block / bucketBlocks)
}

/** Returns how many rows were new. Stored ones are left alone and not counted again. */
export function insertCold(connection: Connection, rowsByContract: RowsByContract): number {
  let added = 0
  for (const contract of [...rowsByContract.keys()].sort((a, b) => a - b)) {
    const rows = (rowsByContract.get(contract) ?? []).sort(newestFirst)
    for (const bucketRows of splitByBucket(rows)) {
      const { rowCount, idCount } = insertBucket(connection, contract, bucketRows)
      if (rowCount > 0) addToCounts(connection, contract, bucketOf(bucketRows[0] as PlacedRow), idCount)
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
    if (row !== undefined && bucketOf(row) === bucketOf(sorted[start] as PlacedRow)) continue
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

/** Counting the rows of a contract with ERC-2309 ranges needs their payloads. Others pay nothing for it. */
function markRanges(connection: Connection, contract: number): void {
  connection.run('UPDATE contracts SET has_ranges = 1 WHERE id = ? AND has_ranges = 0', contract)
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
  insertCold(connection, rowsByContract)
  connection.run('DELETE FROM hot_transfers WHERE chain = ? AND block <= ?', ordinal, upTo)
}

export function addRow(rowsByContract: RowsByContract, contract: number, row: PlacedRow): void {
  const rows = rowsByContract.get(contract)
  if (rows === undefined) rowsByContract.set(contract, [row])
  else rows.push(row)
}
