// Writing the records of indexes as transfers come and go: of rows in bulk as runs, of others into a table. Callers
// hold the transaction.
import type { Interval } from '../../../model.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { SortedRecords } from '../../indexes/sorted-records.ts'
import { hasMember } from '../../runs/members.ts'
import { blockOfPlace, wordAt } from '../../runs/place-key.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import type { Connection } from '../connection.ts'
import { addRun, membersOf, removeKeys, runsOf } from '../runs/runs.ts'

/** Transfers of a stretch of blocks, as runs. */
export function addIndexRuns(
  connection: Connection,
  place: Interval & { chain: number },
  views: readonly IndexView[],
  transfers: readonly StoredTransfer[],
): void {
  for (const view of views) {
    const records = recordsOf(view, transfers)
    addRun(connection, view, place, writer => records.writeTo(writer))
  }
}

const put = 'INSERT OR REPLACE INTO view_records VALUES (?, ?, ?, ?)'

/** Transfers that may have their records already. */
export function addIndexRecords(
  { connection, bulkRows }: { connection: Connection; bulkRows: number },
  chain: number,
  views: readonly IndexView[],
  transfers: readonly StoredTransfer[],
): void {
  if (transfers.length === 0) return
  if (transfers.length >= bulkRows) {
    addIndexRuns(connection, { chain, ...stretchOf(transfers) }, views, transfers)
    return
  }
  for (const view of views) {
    const records = recordsOf(view, transfers)
    const statement = connection.prepare(put)
    for (let rank = 0; rank < records.length; rank++)
      statement.run(view.id, chain, records.keyAt(rank), records.valueAt(rank))
  }
}

const drop = 'DELETE FROM view_records WHERE view = ? AND chain = ? AND key = ?'

export function removeIndexRecords(
  connection: Connection,
  chain: number,
  views: readonly IndexView[],
  transfers: readonly StoredTransfer[],
): void {
  if (transfers.length === 0) return
  const stretch = stretchOf(transfers)
  for (const view of views) {
    const records = recordsOf(view, transfers)
    const keys = Array.from({ length: records.length }, (_, rank) => records.keyAt(rank))
    const statement = connection.prepare(drop)
    for (const key of keys) statement.run(view.id, chain, key)
    for (const run of runsOf(connection, view, { chain, ...stretch })) {
      const members = view.byContract ? membersOf(connection, run.id) : undefined
      const mayHave = (key: Uint8Array): boolean => {
        const block = blockOfPlace(key, view.placeAt)
        return block >= run.from && block <= run.to && (members === undefined || hasMember(members, wordAt(key, 0)))
      }
      removeKeys(connection, view, run.id, keys.filter(mayHave))
    }
  }
}

function recordsOf(view: IndexView, transfers: readonly StoredTransfer[]): SortedRecords {
  const records = new SortedRecords(view)
  for (const transfer of transfers) view.recordsOf(transfer, records.add)
  return records.sort()
}

function stretchOf(transfers: readonly StoredTransfer[]): Interval {
  let [from, to] = [Infinity, -Infinity]
  for (const { block } of transfers) {
    from = Math.min(from, block)
    to = Math.max(to, block)
  }
  return { from, to }
}
