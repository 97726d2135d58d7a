// Transfers by the number of their contract, on their way into tables and runs.
import type { TransferRow } from '../../model.ts'
import type { StoredTransfer } from '../runs/view.ts'
import type { Connection, Row } from './connection.ts'

/** By the number that the dictionary gave the contract. */
export type RowsByContract = Map<number, PlacedRow[]>
export type PlacedRow = Omit<TransferRow, 'contract'>

export function addRow(rowsByContract: RowsByContract, contract: number, row: PlacedRow): void {
  const rows = rowsByContract.get(contract)
  if (rows === undefined) rowsByContract.set(contract, [row])
  else rows.push(row)
}

/** The physical order within a contract, of tables and runs. Rows inserted in it are appended. */
export function newestFirst(a: PlacedRow, b: PlacedRow): number {
  return (
    b.block - a.block ||
    b.transactionIndex - a.transactionIndex ||
    b.logIndex - a.logIndex ||
    b.batchIndex - a.batchIndex
  )
}

/** Counting the rows of a contract with ERC-2309 ranges needs their payloads. Others pay nothing for it. */
export function markRanges(connection: Connection, contract: number): void {
  connection.run('UPDATE contracts SET has_ranges = 1 WHERE id = ? AND has_ranges = 0', contract)
}

/** Of either table, for `storedTransfer`. */
export const rowColumns = 'contract, block, tx, log, pos, payload'

export function storedTransfer([contract, block, tx, log, pos, payload]: Row): StoredTransfer {
  return {
    ...{ contract: contract as number, block: block as number, transactionIndex: tx as number },
    ...{ logIndex: log as number, batchIndex: pos as number, payload: payload as Uint8Array },
  }
}
