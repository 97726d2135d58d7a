// Writing transfers, cold and hot, and the counts that are kept of the cold ones. Callers hold the transaction.
import type { TransferRow } from '../../model.ts'
import { idCountOf } from '../transfer-payload.ts'
import type { Connection } from './connection.ts'
import { bucketBlocks } from './migrations.ts'

/** A row with its contract's number from the dictionary. */
export type NumberedRow = Omit<TransferRow, 'contract'> & { contract: number }

/** The physical order of the tables. Rows inserted in it are appended within each contract. */
function byPlace(a: NumberedRow, b: NumberedRow): number {
  return (
    a.contract - b.contract ||
    b.block - a.block ||
    b.transactionIndex - a.transactionIndex ||
    b.logIndex - a.logIndex ||
    b.batchIndex - a.batchIndex
  )
}

/** Returns how many transfers were new. Rows that are there already are left alone and not counted again. */
export function insertCold(connection: Connection, rows: NumberedRow[]): number {
  const insert = connection.prepare('INSERT OR IGNORE INTO transfers VALUES (?, ?, ?, ?, ?, ?)')
  const kept = new KeptCounts(connection)
  let added = 0
  for (const row of rows.sort(byPlace)) {
    const { contract, block, payload } = row
    const { changes } = insert.run(contract, block, row.transactionIndex, row.logIndex, row.batchIndex, payload)
    if (changes === 0) continue
    added += 1
    kept.add(contract, block, idCountOf(payload))
  }
  kept.flush()
  return added
}

/** Sums what changes in one bucket of one contract; rows arrive sorted, so that one sum is open at a time. */
class KeptCounts {
  readonly #connection: Connection
  #contract = -1
  #bucket = -1
  #count = 0
  #hasRanges = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  add(contract: number, block: number, idCount: number): void {
    const bucket = Math.floor(block / bucketBlocks)
    if (contract !== this.#contract || bucket !== this.#bucket) {
      this.flush()
      this.#contract = contract
      this.#bucket = bucket
    }
    this.#count += idCount
    if (idCount !== 1) this.#hasRanges = true
  }

  flush(): void {
    if (this.#count !== 0) {
      addToCounts(this.#connection, this.#contract, this.#bucket, this.#count)
      if (this.#hasRanges) markRanges(this.#connection, this.#contract)
    }
    this.#count = 0
    this.#hasRanges = false
  }
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

/** A contract with ERC-2309 ranges: counting its rows needs their payloads. Others pay nothing for it. */
function markRanges(connection: Connection, contract: number): void {
  connection.run('UPDATE contracts SET has_ranges = 1 WHERE id = ? AND has_ranges = 0', contract)
}

/** Deletes cold rows of one contract and takes them out of the counts. */
export function deleteCold(connection: Connection, contract: number, from: number, to: number): void {
  const rows = connection.all(
    `SELECT block / ${bucketBlocks}, count(*) FROM transfers WHERE contract = ? AND block BETWEEN ? AND ? GROUP BY 1`,
    contract,
    from,
    to,
  )
  const ranges = connection.all(
    `SELECT block / ${bucketBlocks}, payload FROM transfers WHERE contract = ? AND block BETWEEN ? AND ? AND substr(payload, 1, 1) >= x'20'`,
    contract,
    from,
    to,
  )
  for (const [bucket, count] of rows) addToCounts(connection, contract, bucket as number, -(count as number))
  for (const [bucket, payload] of ranges)
    addToCounts(connection, contract, bucket as number, 1 - idCountOf(payload as Uint8Array))
  connection.run('DELETE FROM transfer_counts WHERE contract = ? AND transfers = 0', contract)
  connection.run('DELETE FROM transfers WHERE contract = ? AND block BETWEEN ? AND ?', contract, from, to)
}

export function insertHot(connection: Connection, ordinal: number, rows: NumberedRow[]): void {
  const insert = connection.prepare('INSERT OR IGNORE INTO hot_transfers VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const row of rows.sort(byPlace)) {
    insert.run(row.contract, row.block, row.transactionIndex, row.logIndex, row.batchIndex, row.payload, ordinal)
    if (idCountOf(row.payload) !== 1) markRanges(connection, row.contract)
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
  insertCold(
    connection,
    rows.map(([contract, block, tx, log, pos, payload]) => ({
      contract: contract as number,
      block: block as number,
      transactionIndex: tx as number,
      logIndex: log as number,
      batchIndex: pos as number,
      payload: payload as Uint8Array,
    })),
  )
  connection.run('DELETE FROM hot_transfers WHERE chain = ? AND block <= ?', ordinal, upTo)
}
