// First and last transactions of addresses, merged by (block, transaction index), so that repeats and any order give the same.
import type { ActivityRow, Address, TransactionRef } from '../model.ts'

export function mergeActivity(a: ActivityRow, b: ActivityRow): ActivityRow {
  return {
    address: a.address,
    first: isEarlier(b.first, a.first) ? b.first : a.first,
    last: isEarlier(a.last, b.last) ? b.last : a.last,
  }
}

/** One row for each address, sorted: neighbours in the table are written one after the other, by every process alike. */
export function mergedByAddress(rows: readonly ActivityRow[]): ActivityRow[] {
  const byAddress = new Map<Address, ActivityRow>()
  for (const row of rows) {
    const known = byAddress.get(row.address)
    byAddress.set(row.address, known === undefined ? row : mergeActivity(known, row))
  }
  return [...byAddress.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
}

/** By their places in the chain. */
export function isEarlier(a: TransactionRef, b: TransactionRef): boolean {
  return a.block < b.block || (a.block === b.block && a.transactionIndex < b.transactionIndex)
}
