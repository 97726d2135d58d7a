// Adds the records of transfers that were not stored before: many as runs, few to a table, those of hot blocks to a
// table on the coordinator. A record that is there already is the same one. Callers hold the transaction.
import type { Interval } from '../../../model.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import type { SortedRecords } from '../../indexes/sorted-records.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import { byteaArray, int4Array } from '../arrays.ts'
import type { Transaction } from '../database.ts'
import { addRun } from '../runs/runs.ts'
import type { Slots } from '../runs/slots.ts'
import { blocksOf, recordsOf, slotOfRecord } from './derived-records.ts'
import { liveIndexes } from './kept-indexes.ts'

export type RecordPlace = { chain: number; slots: Slots; bulkRows: number }

/** `stretch`: of the run of these transfers, where they are one. */
export async function addRecords(
  transaction: Transaction,
  place: RecordPlace,
  transfers: readonly StoredTransfer[],
  stretch?: Interval,
): Promise<void> {
  if (transfers.length === 0) return
  const indexes = await liveIndexes(transaction, place.chain)
  await addRecordsTo(transaction, place, indexes, transfers, stretch)
}

export async function addRecordsTo(
  transaction: Transaction,
  { chain, slots, bulkRows }: RecordPlace,
  indexes: readonly IndexView[],
  transfers: readonly StoredTransfer[],
  stretch?: Interval,
): Promise<void> {
  for (const index of indexes) {
    const records = recordsOf(index, transfers)
    if (records.length === 0) continue
    if (stretch === undefined && records.length < bulkRows) {
      await addToTable(transaction, { chain, slots }, index, records)
      continue
    }
    await addRun(transaction, { view: index, chain, ...(stretch ?? blocksOf(transfers)) }, slots, writerOf => {
      const [only, ...others] = slots
      if (others.length === 0) records.writeTo(writerOf(only!))
      else
        records.spreadTo((keys, keyAt) =>
          writerOf(slotOfRecord(slots, index, chain, keys.subarray(keyAt, keyAt + index.keyBytes))),
        )
    })
  }
}

async function addToTable(
  transaction: Transaction,
  { chain, slots }: Pick<RecordPlace, 'chain' | 'slots'>,
  index: IndexView,
  records: SortedRecords,
): Promise<void> {
  const ranks = Array.from({ length: records.length }, (_, rank) => rank)
  const keys = ranks.map(rank => records.keyAt(rank))
  const values = ranks.map(rank => records.valueAt(rank))
  const at = keys.map(key => slotOfRecord(slots, index, chain, key))
  await transaction.run(
    `INSERT INTO view_records (slot, view, chain, key, value) SELECT slot, $1::int4, $2::int4, key, value
     FROM unnest($3::int4[], $4::bytea[], $5::bytea[]) AS given (slot, key, value) ON CONFLICT DO NOTHING`,
    ...[index.id, chain, int4Array(at), byteaArray(keys), byteaArray(values)],
  )
}

export async function addHotRecords(
  transaction: Transaction,
  chain: number,
  transfers: readonly StoredTransfer[],
  indexes?: readonly IndexView[],
): Promise<void> {
  if (transfers.length === 0) return
  const views: number[] = []
  const contracts: number[] = []
  const blocks: number[] = []
  const keys: Uint8Array[] = []
  const values: Uint8Array[] = []
  for (const index of indexes ?? (await liveIndexes(transaction, chain)))
    for (const transfer of transfers)
      index.recordsOf(transfer, (key, value) => {
        views.push(index.id)
        contracts.push(transfer.contract)
        blocks.push(transfer.block)
        keys.push(key.slice())
        values.push(value.slice())
      })
  if (views.length === 0) return
  await transaction.run(
    `INSERT INTO hot_view_records (chain, view, contract, block, key, value)
     SELECT $1::int4, view, contract, block, key, value
     FROM unnest($2::int4[], $3::int4[], $4::int4[], $5::bytea[], $6::bytea[])
       AS given (view, contract, block, key, value) ON CONFLICT DO NOTHING`,
    ...[chain, int4Array(views), int4Array(contracts), int4Array(blocks), byteaArray(keys), byteaArray(values)],
  )
}
