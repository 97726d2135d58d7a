// Writing transfers, cold and hot. Callers hold the transaction.
import type { Address, Block, TransferRow } from '../../model.ts'
import { bytesOfHex } from '../bytes.ts'
import { idCountOf } from '../transfer-payload.ts'
import { byteaArray, int4Array, int8Array } from './arrays.ts'
import { copyRows } from './copy-rows.ts'
import type { Transaction } from './database.ts'
import { isUniqueViolation } from './failures.ts'
import { bucketBlocks } from './migrations.ts'
import { placeHigh, placeLow, requireFits } from './place.ts'
import { addToCounts, type CountChange, changeOf, changesSql, weightSql } from './transfer-counts.ts'

/** A row as the tables hold it. The place is two halves of 32 bits. */
export type StoredRow = {
  contract: number
  block: number
  placeHigh: number
  placeLow: number
  timestamp: number
  hash: Uint8Array
  payload: Uint8Array
}

/** Sorted as the index is: rows inserted in this order are appended within each contract. */
export function storedRows(
  rows: readonly TransferRow[],
  contracts: ReadonlyMap<Address, number>,
  blocks: ReadonlyMap<number, Block>,
): StoredRow[] {
  const hashes = new Map<number, Uint8Array>()
  const stored = rows.map(row => {
    requireFits(row)
    const block = blocks.get(row.block) as Block
    const hash = hashes.get(row.block) ?? bytesOfHex(block.hash)
    hashes.set(row.block, hash)
    return {
      contract: contracts.get(row.contract) as number,
      block: row.block,
      placeHigh: placeHigh(row),
      placeLow: placeLow(row),
      timestamp: block.timestamp,
      hash,
      payload: row.payload,
    }
  })
  return stored.sort(
    (a, b) => a.contract - b.contract || b.block - a.block || b.placeHigh - a.placeHigh || b.placeLow - a.placeLow,
  )
}

const columns = 'contract, block, place, timestamp, hash, payload'
const given = `unnest($1::int4[], $2::int4[], $3::int4[], $4::int8[], $5::int8[], $6::bytea[], $7::bytea[])
  AS given (contract, block, high, low, timestamp, hash, payload)`
const givenColumns = 'contract, block, (high::int8 << 32) | low, timestamp, hash, payload'
const changed = `RETURNING contract, block / ${bucketBlocks} AS bucket, ${weightSql} AS weight`

function columnsOf(rows: readonly StoredRow[]): Buffer[] {
  return [
    int4Array(rows.map(row => row.contract)),
    int4Array(rows.map(row => row.block)),
    int4Array(rows.map(row => row.placeHigh)),
    int8Array(rows.map(row => row.placeLow)),
    int8Array(rows.map(row => row.timestamp)),
    byteaArray(rows.map(row => row.hash)),
    byteaArray(rows.map(row => row.payload)),
  ]
}

/** What one COPY takes: far less than the time after which the server takes it for stalled. */
const copiedRowsMax = 20_000

/**
 * Returns how many rows were new. Almost always all are, and then COPY is twice as fast as an INSERT that asks: it is tried
 * first, and the server's refusal of a row that is there already leads to the slower way.
 */
export async function insertCold(transaction: Transaction, rows: readonly StoredRow[]): Promise<number> {
  let added = 0
  for (let at = 0; at < rows.length; at += copiedRowsMax) {
    const some = rows.slice(at, at + copiedRowsMax)
    const sql = `COPY transfers (${columns}) FROM STDIN (FORMAT binary)`
    if (await transaction.copyIn(sql, copyRows(some), isUniqueViolation)) {
      await addToCounts(transaction, countsOf(some))
      added += some.length
    } else added += await insertMissing(transaction, some)
  }
  return added
}

function countsOf(rows: readonly StoredRow[]): CountChange[] {
  const changes: CountChange[] = []
  let open: CountChange | undefined
  for (const { contract, block, payload } of rows) {
    const bucket = Math.floor(block / bucketBlocks)
    if (open?.contract !== contract || open.bucket !== bucket) {
      open = { contract, bucket, stored: 0, transfers: 0 }
      changes.push(open)
    }
    open.stored += 1
    open.transfers += idCountOf(payload)
  }
  return changes
}

async function insertMissing(transaction: Transaction, rows: readonly StoredRow[]): Promise<number> {
  const inserted = await transaction.write(
    `WITH changed AS (INSERT INTO transfers (${columns}) SELECT ${givenColumns} FROM ${given} ON CONFLICT DO NOTHING ${changed}) ${changesSql}`,
    ...columnsOf(rows),
  )
  const changes = inserted.map(changeOf)
  await addToCounts(transaction, changes)
  return changes.reduce((sum, { stored }) => sum + stored, 0)
}

/** Deletes cold rows, of one contract or of all of a chain, and takes them out of the counts. */
export async function deleteCold(
  transaction: Transaction,
  of: { contract: number } | { ordinal: number },
  { from, to }: { from: number; to: number },
): Promise<void> {
  const whose = 'contract' in of ? 'contract = $1' : 'contract IN (SELECT id FROM contracts WHERE chain = $1)'
  const deleted = await transaction.write(
    `WITH changed AS (DELETE FROM transfers WHERE ${whose} AND block BETWEEN $2::int8 AND $3::int8 ${changed}) ${changesSql}`,
    'contract' in of ? of.contract : of.ordinal,
    from,
    to,
  )
  await addToCounts(transaction, deleted.map(changeOf), -1)
}

export async function insertHot(transaction: Transaction, ordinal: number, rows: readonly StoredRow[]): Promise<void> {
  if (rows.length === 0) return
  await transaction.run(
    `INSERT INTO hot_transfers (${columns}, chain) SELECT ${givenColumns}, $8::int4 FROM ${given} ON CONFLICT DO NOTHING`,
    ...columnsOf(rows),
    ordinal,
  )
}

export async function dropHotAbove(transaction: Transaction, ordinal: number, block: number): Promise<void> {
  await transaction.run('DELETE FROM hot_transfers WHERE chain = $1 AND block > $2', ordinal, block)
}

export async function moveTransfersToCold(transaction: Transaction, ordinal: number, upTo: number): Promise<void> {
  const moved = await transaction.write(
    `WITH changed AS (INSERT INTO transfers (${columns}) SELECT ${columns} FROM hot_transfers WHERE chain = $1 AND block <= $2
       ORDER BY contract, block DESC, place DESC ON CONFLICT DO NOTHING ${changed}) ${changesSql}`,
    ordinal,
    upTo,
  )
  await transaction.run('DELETE FROM hot_transfers WHERE chain = $1 AND block <= $2', ordinal, upTo)
  await addToCounts(transaction, moved.map(changeOf))
}
